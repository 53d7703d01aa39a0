"""The conformance suite of benchmarks."""

from __future__ import annotations

from lean_dojo_core import registry
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_core.testing.suite import ClassSuite


class BenchmarkSuite(ClassSuite):
    """Checks of a benchmark.

    Set ``name``; override ``make`` if it needs settings, such as a file. Whether Lean takes its
    theorems is for your own tests.
    """

    _registry = registry.benchmarks

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
