"""Problems of dataset rows: a goal, a statement, or a benchmark's theorem."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import attrs

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_core.protocols import Benchmark
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.benchmarks.jsonl import benchmark_named, statement_from
from lean_dojo_v2.benchmarks.source import problem_of, project_of
from lean_dojo_v2.prover.problem import GoalProblem, Problem


@attrs.frozen
class RowProblem:
    """The problem of a row.

    Attributes:
        problem: The problem to open and check.
        project: Folder of the Lean project that it needs; ``None`` if Lean alone will do.
        text: The statement as Lean source with the text before it; empty for a bare goal.
    """

    problem: Problem
    project: Path | None = None
    text: str = ""


def problem_of_row(
    row: Mapping[str, Any],
    *,
    benchmark: str | Benchmark | None = None,
    project: Path | None = None,
) -> RowProblem:
    """Read the problem of a row; other columns are ignored.

    A row has ``goal``, an expression (``∀ n : Nat, n + 0 = n``); or ``formal_statement`` with
    ``name`` and perhaps ``header``, as in miniF2F; or ``name`` alone, a theorem of ``benchmark``.

    Args:
        row: The row; ``None`` in a column means no value.
        benchmark: Where a name alone is looked up: a benchmark's name, a file in miniF2F's
            format, or a benchmark.
        project: Folder of a built Lean project for goals and statements.

    Raises:
        UsageError: If it is none of these.
        LeanError: If the theorem's file cannot be read.
    """
    given = {key: value for key, value in row.items() if value is not None}
    if "formal_statement" in given:  # beside it, some files repeat the target as "goal"
        found = statement_from(given, project).problem
        return RowProblem(problem_of(found), project, _text(found))
    if "goal" in given:
        return RowProblem(GoalProblem(_expression(given["goal"])), project)
    name = given.get("name")
    if benchmark is None or not isinstance(name, str):
        raise UsageError(
            "a row needs 'goal' (an expression), or 'name' and 'formal_statement', or 'name' alone "
            f"with a benchmark to look it up in; this one has {', '.join(given) or 'nothing'}"
        )
    return _of_benchmark(name, benchmark)


def _expression(goal: Any) -> str:
    if not isinstance(goal, str) or not goal.strip():
        raise UsageError("'goal' must be a text")
    if "⊢" in goal:
        raise UsageError(
            "'goal' must be an expression such as '∀ n : Nat, n + 0 = n'; a printed state does not "
            "contain all that a whole proof needs"
        )
    return goal.strip()


def _of_benchmark(name: str, benchmark: str | Benchmark) -> RowProblem:
    problems = _by_name(cast("Hashable", benchmark))
    if name not in problems:
        label = benchmark if isinstance(benchmark, str) else benchmark.name
        raise UsageError(f"benchmark {label!r} has no theorem {name!r} among its {len(problems)}")
    found = problems[name]
    folder = project_of(found)
    return RowProblem(problem_of(found, folder), folder, _text(found))


def _text(problem: BenchmarkProblem) -> str:
    return f"{problem.header or ''}{problem.statement} by".strip()


@lru_cache(maxsize=8)
def _by_name(benchmark: Any) -> dict[str, BenchmarkProblem]:
    """Return a benchmark's theorems by name; it is read once. Benchmarks are frozen records."""
    made = benchmark
    if isinstance(benchmark, str):
        name, settings = benchmark_named(benchmark)
        made = registry.benchmarks[name].create(**settings)
    return {problem.full_name: problem for problem in made.problems()}
