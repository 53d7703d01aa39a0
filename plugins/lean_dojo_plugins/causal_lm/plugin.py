"""Manifest of causal language models: their prover, their rows, a command for adapters."""

from collections.abc import Iterator

from lean_dojo_core import DatasetFormatterSpec, hookimpl
from lean_dojo_v2.kinds import CommandSpec, ProverSpec


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
def lean_dojo_dataset_formatters() -> Iterator[DatasetFormatterSpec]:
    """Offer ``tactic-chat``, ``tactic-prompt`` and ``whole-proof``."""
    yield DatasetFormatterSpec(
        name="tactic-chat",
        target="lean_dojo_plugins.causal_lm.text.formatters:TacticChat",
        summary="Chat rows: instruction and goal in, the next tactic out.",
        columns=("prompt", "completion"),
    )
    yield DatasetFormatterSpec(
        name="tactic-prompt",
        target="lean_dojo_plugins.causal_lm.text.formatters:TacticPrompt",
        summary="Prompts without an answer, with the data to replay their states exactly.",
        columns=(
            "problem", "prompt", "url", "commit", "file_path", "full_name", "start", "end",
            "position", "digest", "tactic_index", "tactics_before", "tactic",
        ),
    )  # fmt: skip
    yield DatasetFormatterSpec(
        name="whole-proof",
        target="lean_dojo_plugins.causal_lm.text.formatters:WholeProof",
        summary="A statement and its whole proof, with the data to verify it.",
        columns=(
            "problem", "prompt", "completion", "url", "commit", "file_path", "full_name", "start",
            "end",
        ),
    )  # fmt: skip


@hookimpl
def lean_dojo_commands() -> Iterator[CommandSpec]:
    """Offer ``merge-lora``."""
    yield CommandSpec(
        name="merge-lora",
        target="lean_dojo_plugins.causal_lm.merge_command:merge_lora",
        summary="Merge a LoRA adapter into its base model.",
    )
