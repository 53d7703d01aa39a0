"""From rows to Lean: states and theorems of both sample projects open."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.rewards.rows import RowState, RowTheorem, problem_of_row
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean import shared_engines
from lean_dojo_v2.sample import sample_database_path


def opens(server, problem) -> str | None:
    problem.open(server)
    return problem.goal


def rows(formatter: str, every: int):
    made = registry.dataset_formatters[formatter].create()
    for repository in DynamicDatabase(sample_database_path()).repositories:
        found = [row for theorem in repository.iter_theorems() for row in made.rows(theorem)]
        yield from found[::every]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formatter", "kind", "every"),
    [("tactic-prompt", RowState, 60), ("whole-proof", RowTheorem, 45)],
)
def test_all_open(formatter, kind, every):
    engines = shared_engines(size=1)
    asked: list[tuple[str, Future[str]]] = []
    for row in rows(formatter, every):
        problem = problem_of_row(row)
        assert type(problem) is kind
        asked.append((row["full_name"], problem.submit(engines, opens)))
    failed = {name: str(one.exception()) for name, one in asked if one.exception()}
    engines.close()
    assert len(asked) > 4
    assert failed == {}


def test_a_row_with_its_state_alone_is_opened_from_the_text(engine):
    problem = problem_of_row({"problem": "p q : Prop\nhp : p\n⊢ p"})
    assert "hp : p" in str(problem.open(engine))


def test_a_statement_with_its_header(engine):
    row = {"full_name": "t", "problem": "theorem t : two = 2 :=", "header": "def two := 2\n\n"}
    problem = problem_of_row(row)
    assert isinstance(problem, RowTheorem)
    assert "two = 2" in str(problem.open(engine))


def test_a_row_without_a_problem_is_refused():
    with pytest.raises(UsageError, match="no column 'problem'"):
        problem_of_row({"full_name": "t"})
