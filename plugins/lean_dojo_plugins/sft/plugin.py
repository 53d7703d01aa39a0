"""Manifest of supervised fine-tuning."""

from collections.abc import Iterator

from lean_dojo_core import TrainerSpec, hookimpl


@hookimpl
def lean_dojo_trainers() -> Iterator[TrainerSpec]:
    """Offer ``sft``."""
    yield TrainerSpec(
        name="sft",
        target="lean_dojo_plugins.sft.trainer:SFTTrainer",
        summary="Supervised fine-tuning of a causal LM on traced tactics (TRL).",
        required_columns=("prompt", "completion"),
        default_formatter="tactic-chat",
        prover="hf",
    )
