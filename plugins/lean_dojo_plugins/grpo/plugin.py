"""Manifest of group relative policy optimisation."""

from __future__ import annotations

from collections.abc import Iterator

from lean_dojo_core import BenchmarkSpec, DatasetFormatterSpec, TrainerSpec, hookimpl


@hookimpl
def lean_dojo_trainers() -> Iterator[TrainerSpec]:
    """Offer ``grpo``."""
    yield TrainerSpec(
        name="grpo",
        target="lean_dojo_plugins.grpo.trainer:GRPOTrainer",
        summary="Reinforcement learning of a causal LM with rewards of your choice (TRL).",
        required_columns=("prompt", "problem"),
        default_formatter="tactic-prompt",
        prover="hf",
    )


@hookimpl
def lean_dojo_dataset_formatters() -> Iterator[DatasetFormatterSpec]:
    """Offer ``tactic-prompt`` and ``whole-proof``."""
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
def lean_dojo_benchmarks() -> Iterator[BenchmarkSpec]:
    """Offer ``hub``."""
    yield BenchmarkSpec(
        name="hub",
        target="lean_dojo_plugins.training.hub_set:HubBenchmark",
        summary="A data set of the Hugging Face hub, with the columns of public sets.",
    )
