"""Manifest of what causal language models prove with."""

from __future__ import annotations

from collections.abc import Iterator

from lean_dojo_core import ProverSpec, hookimpl


@hookimpl
def lean_dojo_provers() -> Iterator[ProverSpec]:
    """Offer ``hf``."""
    yield ProverSpec(
        name="hf",
        target="lean_dojo_plugins.causal_lm.generate.prover:HFProver",
        summary="A causal language model that sft, expert-iteration or grpo trained.",
        model_setting="ckpt_path",
    )
