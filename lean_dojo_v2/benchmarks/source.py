"""Turn a benchmark's theorem into a prover's problem."""

from __future__ import annotations

from pathlib import Path

from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.lean.text.header import parse_header
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.prover.base import source_in
from lean_dojo_v2.prover.completions import with_context
from lean_dojo_v2.prover.problem import TheoremProblem
from lean_dojo_v2.tracing import LeanGitRepo

FILE = "Benchmark.lean"
"""Name of a header's file in messages."""
STRICT = " set_option autoImplicit false "
"""As in Mathlib: elsewhere `(x : ℝ)` would be about any type, for Lean would bind `ℝ`."""


def project_of(problem: BenchmarkProblem) -> Path | None:
    """Return the folder of the Lean project that a theorem needs; ``None`` if Lean alone will do.

    A repository without a known folder is looked up where it was traced, or cloned.

    Raises:
        TraceError: If it cannot be cloned.
    """
    if problem.project is not None or problem.theorem is None:
        return problem.project
    return LeanGitRepo(problem.theorem.url, problem.theorem.commit).path


def problem_of(problem: BenchmarkProblem, project: Path | None = None) -> TheoremProblem:
    """Return a problem for a prover's ``search_many``.

    In a statement with a text of its own, a name that nothing declares is an error, unless that
    text says ``set_option autoImplicit true``.

    Args:
        problem: The benchmark's theorem.
        project: The folder from :func:`project_of`, for a theorem of a repository.

    Raises:
        UsageError: If the theorem is in a repository without a folder.
        LeanError: If its file cannot be read.
    """
    if problem.theorem is not None:
        return TheoremProblem(source_in(project, problem.theorem))
    header = problem.header or ""
    imports = parse_header(header).end
    before = header[:imports] + STRICT + header[imports:]
    text = f"{before}{problem.statement} by\n  sorry\n"
    start = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    end = (text.count("\n"), len("  sorry") + 1)
    return TheoremProblem(
        SourceTheorem(text, problem.full_name, FILE, start, end, problem.statement),
        with_context(header, problem.statement),
    )
