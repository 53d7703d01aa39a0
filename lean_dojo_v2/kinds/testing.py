"""The conformance suites of callbacks, provers, benchmarks and commands."""

import io
from contextlib import redirect_stdout
from typing import Any

from lean_dojo_core import BenchmarkProblem, settings_of
from lean_dojo_core.testing import SAMPLE_THEOREMS, ClassSuite, Suite
from lean_dojo_v2 import kinds


class CallbackSuite(ClassSuite):
    """Checks of a callback. Set ``name``. What it does at each event is for your own tests."""

    entries = kinds.callbacks

    def test_needs_no_settings(self) -> None:
        """A trainer's ``callbacks`` names it, without options."""
        required = [setting.name for setting in settings_of(self.target) if setting.required]
        assert not required, (
            f"the settings {', '.join(required)} have no default; give them one, because a "
            "trainer's `callbacks` names it without options"
        )

    def test_has_an_event(self) -> None:
        """It has a method ``on_…``, which a trainer calls."""
        events = [getattr(self.subject, name) for name in dir(self.subject) if name[:3] == "on_"]
        assert any(map(callable, events)), (
            "it has no method on_…, so nothing calls it; write some of those of "
            "transformers.TrainerCallback, or for retrieval of pytorch_lightning.Callback"
        )


class ProverSuite(ClassSuite):
    """Checks of a prover.

    Set ``name``; override ``make`` to make one with its model, if it has one. What it proves is for
    your own tests: they need Lean.
    """

    entries = kinds.provers

    @classmethod
    def can_make(cls, target: Any) -> bool:
        """Whether it needs no settings, and thus no model."""
        entries = (entry for entry in kinds.provers.entries() if entry.load() is target)
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


class BenchmarkSuite(ClassSuite):
    """Checks of a benchmark.

    Set ``name``; override ``make`` if it needs settings, such as a file. Whether Lean takes its
    theorems is for your own tests.
    """

    entries = kinds.benchmarks

    def problems(self) -> list[BenchmarkProblem]:
        """Return its theorems."""
        return list(self.subject.problems())

    def test_has_a_name(self) -> None:
        """It has a name, under which results are listed."""
        name = getattr(self.subject, "name", None)
        assert isinstance(name, str), f"its name is {name!r}; give it an attribute `name`, a text"
        assert name.strip(), "its name is empty"

    def test_gives_problems(self) -> None:
        """It gives at least one record."""
        found = self.problems()
        assert found, "it gives no problems; override `make` with settings that give some"
        for one in found:
            assert isinstance(one, BenchmarkProblem), (
                f"it gave {one!r:.80}; give lean_dojo_core.BenchmarkProblem records"
            )

    def test_names_differ(self) -> None:
        """The theorems' names differ, since results are listed by name."""
        names = [problem.full_name for problem in self.problems()]
        twice = sorted({name for name in names if names.count(name) > 1})
        assert not twice, f"the names {', '.join(twice[:5])} occur twice; make them unique"

    def test_says_where_each_is_proved(self) -> None:
        """A theorem of a repository, or a header of its own; never both."""
        for problem in self.problems():
            assert (problem.header is None) != (problem.theorem is None), (
                f"{problem.full_name}: give either `theorem`, its place in a repository, or "
                "`header`, the text before it ('' for none)"
            )

    def test_statements_end_before_the_proof(self) -> None:
        """Every statement ends with ``:=``; the proof is up to the prover."""
        for problem in self.problems():
            assert problem.statement.rstrip().endswith(":="), (
                f"{problem.full_name}: its statement ends with "
                f"{problem.statement.rstrip()[-20:]!r}; end it with ':='"
            )

    def test_is_the_same_every_time(self) -> None:
        """The problems are the same every time, also from a fresh object."""
        first = self.problems()
        assert self.problems() == first == list(self.make().problems()), (
            "it gave different problems the second time; make their choice and order deterministic"
        )


class CommandSuite(Suite):
    """Checks of a command. Set ``name``. For what it does, ``click.testing.CliRunner`` helps."""

    entries = kinds.commands

    def test_explains_itself(self) -> None:
        """``--help`` explains the command and exits with 0."""
        said = io.StringIO()
        with redirect_stdout(said):
            self.subject.main(
                ["--help"],
                prog_name=self.entry.name,
                standalone_mode=False,
                help_option_names=["-h", "--help"],  # as under `lean-dojo`; click remembers them
            )
        assert f"Usage: {self.entry.name}" in said.getvalue(), (
            f"--help says {said.getvalue()[:80]!r}; leave it to click"
        )
        about = (getattr(self.subject, "help", None) or "").strip()
        assert about, "it has no help; give the function a docstring"
