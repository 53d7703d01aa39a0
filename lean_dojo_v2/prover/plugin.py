"""Manifest of the provers that need no learning library."""

from collections.abc import Iterator

from lean_dojo_core import hookimpl
from lean_dojo_v2.kinds import ProverSpec


@hookimpl
def lean_dojo_provers() -> Iterator[ProverSpec]:
    """Offer ``external`` and ``automation``."""
    yield ProverSpec(
        name="external",
        target="lean_dojo_v2.prover.external:ExternalProver",
        summary="A model behind an OpenAI-compatible endpoint.",
        model_setting="model_name",
    )
    yield ProverSpec(
        name="automation",
        target="lean_dojo_v2.prover.automation:AutomationProver",
        summary="Lean's own automation, without a model: the baseline.",
    )
