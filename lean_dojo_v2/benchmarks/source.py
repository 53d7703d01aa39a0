"""Turn a benchmark's theorem into a prover's problem."""

from __future__ import annotations

from pathlib import Path

from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.prover.base import source_in
from lean_dojo_v2.prover.completions import with_context
from lean_dojo_v2.prover.problem import TheoremProblem
from lean_dojo_v2.tracing import LeanGitRepo

FILE = "Benchmark.lean"
"""How the file of a theorem with a header is called in messages."""


def project_of(problem: BenchmarkProblem) -> Path | None:
    """Return the folder of the Lean project that a theorem needs; ``None`` if Lean alone will do.

    A repository whose folder the benchmark does not know is taken from where it was traced, or
    cloned.

    Raises:
        TraceError: If it cannot be cloned.
    """
    if problem.project is not None or problem.theorem is None:
        return problem.project
    return LeanGitRepo(problem.theorem.url, problem.theorem.commit).path


def problem_of(problem: BenchmarkProblem, project: Path | None = None) -> TheoremProblem:
    """Return what a prover's ``search_many`` takes.

    Args:
        problem: The benchmark's theorem.
        project: The folder that :func:`project_of` gave, for a theorem of a repository.

    Raises:
        UsageError: If the theorem stands in a repository and there is no folder.
        LeanError: If its file cannot be read.
    """
    if problem.theorem is not None:
        return TheoremProblem(source_in(project, problem.theorem))
    before = problem.header or ""
    text = f"{before}{problem.statement} by\n  sorry\n"
    start = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    end = (text.count("\n"), len("  sorry") + 1)
    return TheoremProblem(
        SourceTheorem(text, problem.full_name, FILE, start, end, problem.statement),
        with_context(before, problem.statement),
    )
