"""Manifest of the prover of causal language models, and of a command for their adapters."""

from __future__ import annotations

from collections.abc import Iterator

from lean_dojo_core import CommandSpec, ProverSpec, hookimpl


@hookimpl
def lean_dojo_provers() -> Iterator[ProverSpec]:
    """Offer ``hf``."""
    yield ProverSpec(
        name="hf",
        target="lean_dojo_plugins.causal_lm.generate.prover:HFProver",
        summary="A causal language model that sft, expert-iteration or grpo trained.",
        model_setting="ckpt_path",
    )


@hookimpl
def lean_dojo_commands() -> Iterator[CommandSpec]:
    """Offer ``merge-lora``."""
    yield CommandSpec(
        name="merge-lora",
        target="lean_dojo_plugins.causal_lm.merge_command:merge_lora",
        summary="Merge a LoRA adapter into its base model.",
    )
