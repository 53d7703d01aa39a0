"""A prover's problems from benchmarks' theorems and from the rows of data sets."""

from collections.abc import Hashable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.benchmarks.jsonl import benchmark_named, statement_from
from lean_dojo_v2.kinds import Benchmark, benchmarks
from lean_dojo_v2.lean import SourceTheorem, code_tokens, parse_header
from lean_dojo_v2.prover import GoalProblem, Problem, TheoremProblem, source_in, with_context
from lean_dojo_v2.tracing import LeanGitRepo

_FILE = "Benchmark.lean"
"""Name of a header's file in messages."""
_STRICT = " set_option autoImplicit false "
"""As in Mathlib: elsewhere `(x : ℝ)` would be about any type, for Lean would bind `ℝ`."""


def project_of(problem: BenchmarkProblem) -> Path | None:
    """Return the folder of the Lean project that a theorem needs; ``None`` if Lean alone will do.

    A repository without a known folder is looked up where it was traced, or cloned; ``TraceError``
    if that fails.
    """
    if problem.project is not None or problem.theorem is None:
        return problem.project
    return LeanGitRepo(problem.theorem.url, problem.theorem.commit).path


def problem_of(problem: BenchmarkProblem, project: Path | None = None) -> TheoremProblem:
    """Return a problem for a prover's ``search_many``.

    A theorem of a repository needs the folder from :func:`project_of`. In a statement with a text
    of its own, a name that nothing declares is an error, unless that text says ``set_option
    autoImplicit true``. ``UsageError`` if a folder is missing, ``LeanError`` if the theorem's file
    cannot be read.
    """
    if problem.theorem is not None:
        return TheoremProblem(source_in(project, problem.theorem))
    header = problem.header or ""
    imports = parse_header(header).end
    before = header[:imports] + _STRICT + header[imports:]
    statement = _as_theorem(problem.statement)
    text = f"{before}{statement} by\n  sorry\n"
    start = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    end = (text.count("\n"), len("  sorry") + 1)
    return TheoremProblem(
        SourceTheorem(text, problem.full_name, _FILE, start, end, statement),
        with_context(header, problem.statement),
    )


def _as_theorem(statement: str) -> str:
    """Return a statement as Lean alone reads it, which has no ``lemma``."""
    words = (token for token in code_tokens(statement) if token.text in {"theorem", "lemma"})
    first = next(words, None)
    if first is None or first.text == "theorem":
        return statement
    return f"{statement[: first.start]}theorem{statement[first.end :]}"


@attrs.frozen
class RowProblem:
    """The problem of a row."""

    problem: Problem
    """The problem to open and check."""
    project: Path | None = None
    """Folder of the Lean project that it needs; ``None`` if Lean alone will do."""
    text: str = ""
    """The statement as Lean source with the text before it; empty for a bare goal."""


def problem_of_row(
    row: Mapping[str, Any],
    *,
    benchmark: str | Benchmark | None = None,
    project: Path | None = None,
) -> RowProblem:
    """Read the problem of a row; other columns are ignored.

    A row has ``goal``, an expression (``∀ n : Nat, n + 0 = n``); or ``formal_statement`` with
    ``name`` and perhaps ``header``, as in miniF2F; or ``name`` alone, a theorem of ``benchmark``: a
    benchmark, its name, or a file in miniF2F's format. ``None`` in a column means no value.
    ``project`` is the folder of a built Lean project for goals and statements. ``UsageError`` if
    the row is none of these, ``LeanError`` if the theorem's file cannot be read.
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
    problems = _by_name(cast("Hashable", benchmark))
    if name not in problems:
        label = benchmark if isinstance(benchmark, str) else benchmark.name
        raise UsageError(f"benchmark {label!r} has no theorem {name!r} among its {len(problems)}")
    found = problems[name]
    folder = project_of(found)
    return RowProblem(problem_of(found, folder), folder, _text(found))


def _expression(goal: Any) -> str:
    if not isinstance(goal, str) or not goal.strip():
        raise UsageError("'goal' must be a text")
    if "⊢" in goal:
        raise UsageError(
            "'goal' must be an expression such as '∀ n : Nat, n + 0 = n'; a printed state does not "
            "contain all that a whole proof needs"
        )
    return goal.strip()


def _text(problem: BenchmarkProblem) -> str:
    return f"{problem.header or ''}{problem.statement} by".strip()


@lru_cache(maxsize=8)
def _by_name(benchmark: Any) -> dict[str, BenchmarkProblem]:
    """Return a benchmark's theorems by name; it is read once. Benchmarks are frozen records."""
    made = benchmark
    if isinstance(benchmark, str):
        name, settings = benchmark_named(benchmark)
        made = benchmarks[name].create(**settings)
    return {problem.full_name: problem for problem in made.problems()}
