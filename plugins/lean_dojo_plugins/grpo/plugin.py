"""Manifest of group relative policy optimisation."""

from collections.abc import Iterator

from lean_dojo_core import TrainerSpec, hookimpl
from lean_dojo_v2.kinds import BenchmarkSpec


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
def lean_dojo_benchmarks() -> Iterator[BenchmarkSpec]:
    """Offer ``hub``."""
    yield BenchmarkSpec(
        name="hub",
        target="lean_dojo_plugins.training:HubBenchmark",
        summary="A data set of the Hugging Face hub, with the columns of public sets.",
    )
