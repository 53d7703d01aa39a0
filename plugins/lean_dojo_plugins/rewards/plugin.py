"""Manifest of the built-in rewards, with a callback and a command."""

from collections.abc import Iterator

from lean_dojo_core import RewardFunctionSpec, hookimpl
from lean_dojo_v2.kinds import CallbackSpec, CommandSpec


@hookimpl
def lean_dojo_reward_functions() -> Iterator[RewardFunctionSpec]:
    """Offer the rewards that need no model of their own."""
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
    yield RewardFunctionSpec(
        name="proof-verified",
        target="lean_dojo_plugins.rewards.proof_verified:ProofVerified",
        summary="1 for a whole proof that passes Lean's full verification, else 0.",
        required_columns=("problem", "full_name"),
        needs_lean=True,
    )


@hookimpl
def lean_dojo_callbacks() -> Iterator[CallbackSpec]:
    """Offer ``best-tactics``."""
    yield CallbackSpec(
        name="best-tactics",
        target="lean_dojo_plugins.rewards.best_tactics:BestTactics",
        summary="Prints the best-paid completion of a batch of grpo, with its goal.",
    )


@hookimpl
def lean_dojo_commands() -> Iterator[CommandSpec]:
    """Offer ``reward``."""
    yield CommandSpec(
        name="reward",
        target="lean_dojo_plugins.rewards.command:reward",
        summary="Score completions with a reward, or check a reward function.",
    )
