"""The manifest: what the distribution offers; implementations are imported on use."""

from __future__ import annotations

from collections.abc import Iterator

from lean_dojo_core import DatasetFormatterSpec, RewardFunctionSpec, TrainerSpec, hookimpl

LEAN_DOJO_API_VERSION = "1.0"


@hookimpl
def lean_dojo_reward_functions() -> Iterator[RewardFunctionSpec]:
    """Offer ``novelty``."""
    yield RewardFunctionSpec(
        name="novelty",
        target="lean_dojo_example.novelty:Novelty",
        summary="Pays for tactics that were not tried before.",
    )


@hookimpl
def lean_dojo_dataset_formatters() -> Iterator[DatasetFormatterSpec]:
    """Offer ``focused-goal``."""
    yield DatasetFormatterSpec(
        name="focused-goal",
        target="lean_dojo_example.formatter:FocusedGoal",
        summary="Chat rows with the first goal only, the one that a tactic acts on.",
        columns=("prompt", "completion"),
    )


@hookimpl
def lean_dojo_trainers() -> Iterator[TrainerSpec]:
    """Offer ``rejection-sampling``."""
    yield TrainerSpec(
        name="rejection-sampling",
        target="lean_dojo_example.rejection_sampling:RejectionSampling",
        summary="Fine-tunes on the model's own tactics that Lean verified.",
        required_columns=("prompt", "problem"),
        default_formatter="tactic-prompt",
    )
