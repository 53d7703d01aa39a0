"""Manifest of the built-in rewards."""

from __future__ import annotations

from collections.abc import Iterator

from lean_dojo_core import RewardFunctionSpec, hookimpl


@hookimpl
def lean_dojo_reward_functions() -> Iterator[RewardFunctionSpec]:
    """Offer ``constant``, ``length-penalised`` and ``pantograph-verified``."""
    yield RewardFunctionSpec(
        name="constant",
        target="lean_dojo_plugins.rewards.constant:Constant",
        summary="The same number for every completion: a control that teaches nothing.",
    )
    yield RewardFunctionSpec(
        name="length-penalised",
        target="lean_dojo_plugins.rewards.length:LengthPenalised",
        summary="Shorter tactics earn more; sorry and admit earn -1.",
    )
    yield RewardFunctionSpec(
        name="pantograph-verified",
        target="lean_dojo_plugins.rewards.verified:PantographVerified",
        summary="+1 only for a tactic that leads nearer to a proof that Lean has closed.",
        required_columns=("problem",),
        needs_lean=True,
    )
