"""The conformance suite of provers."""

from __future__ import annotations

from typing import Any

from lean_dojo_core import registry
from lean_dojo_core.settings import settings_of
from lean_dojo_core.testing.samples import SAMPLE_THEOREMS
from lean_dojo_core.testing.suite import ClassSuite


class ProverSuite(ClassSuite):
    """Checks of a prover.

    Set ``name``; override ``make`` to make one with its model, if it has one. What it proves is for
    your own tests: they need Lean.
    """

    _registry = registry.provers
    without_instance = (
        *ClassSuite.without_instance,
        "test_takes_the_limits_of_the_search",
        "test_has_the_setting_of_its_model",
    )

    @classmethod
    def can_make(cls, target: Any) -> bool:
        """Whether it needs no settings, and thus no model."""
        entries = (entry for entry in registry.provers.entries() if entry.load() is target)
        return super().can_make(target) and all(e.spec.model_setting is None for e in entries)

    def test_takes_the_limits_of_the_search(self) -> None:
        """The constructor takes them as ``config``."""
        names = {setting.name for setting in settings_of(self.target)}
        assert "config" in names, (
            "its constructor takes no `config`; add config: ProverConfig | None = None (of "
            "lean_dojo_v2.lean_agent.config) and give it to BaseProver"
        )

    def test_has_the_setting_of_its_model(self) -> None:
        """``lean-dojo prove --model`` sets what the descriptor names."""
        wanted = self.entry.spec.model_setting
        names = [setting.name for setting in settings_of(self.target)]
        assert wanted is None or wanted in names, (
            f"its descriptor says model_setting={wanted!r}, but its settings are {names}"
        )

    def test_writes_a_proof_as_text(self) -> None:
        """``generate_whole_proof`` takes a theorem, or a statement's text."""
        for theorem in (SAMPLE_THEOREMS[0], SAMPLE_THEOREMS[0].theorem_statement):
            proof = self.subject.generate_whole_proof(theorem)
            assert isinstance(proof, str), (
                f"generate_whole_proof gave {proof!r:.80}; give the text of a tactic block, or "
                "raise lean_dojo_core.errors.UsageError where it only searches"
            )
