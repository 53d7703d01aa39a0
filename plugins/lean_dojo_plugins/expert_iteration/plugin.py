"""Manifest of expert iteration."""

from collections.abc import Iterator

from lean_dojo_core import TrainerSpec, hookimpl


@hookimpl
def lean_dojo_trainers() -> Iterator[TrainerSpec]:
    """Offer ``expert-iteration``."""
    yield TrainerSpec(
        name="expert-iteration",
        target="lean_dojo_plugins.expert_iteration.trainer:ExpertIterationTrainer",
        summary="Rounds of proof search, and fine-tuning on the proofs that Lean confirmed.",
        required_columns=("prompt", "completion"),
        default_formatter="tactic-chat",
        prover="hf",
    )
