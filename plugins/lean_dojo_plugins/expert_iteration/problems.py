"""What is practised on: theorems without their proofs, and none that is held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path

import attrs

from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_plugins.training.data_fraction import is_in_share
from lean_dojo_v2.benchmarks.database import (
    problems_of,
    sorry_theorems,
    training_theorems,
)
from lean_dojo_v2.benchmarks.jsonl import JsonlBenchmark
from lean_dojo_v2.data.repository import Repository
from lean_dojo_v2.database.export.splits import HELD_OUT_SPLITS, split_of
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.lean.text.lexer import code_tokens

TRAINING, HIDDEN, SORRY = "training", "hidden", "sorry"
NAMED = frozenset({TRAINING, HIDDEN, SORRY})
"""Sources that are no files."""


@attrs.frozen
class Practice:
    """The problems of a run.

    Attributes:
        problems: The problems; their names differ.
        left_out: Names of theorems that are held out, or state what a held-out theorem states.
    """

    problems: tuple[BenchmarkProblem, ...]
    left_out: tuple[str, ...]

    @property
    def digest(self) -> str:
        """A text that is another one for other problems."""
        digest = sha256()
        for one in self.problems:
            digest.update(f"{one.full_name}\0{one.header}\0{one.statement}\0".encode())
        return digest.hexdigest()


def gather(
    sources: Sequence[str],
    repositories: Sequence[Repository],
    projects: Mapping[str, Path],
    others: Iterable[Repository] = (),
    *,
    human_share: float = 1.0,
) -> Practice:
    """Collect problems.

    Args:
        sources: ``"training"``, ``"hidden"``, ``"sorry"``, and JSONL files in miniF2F's format.
        repositories: The traced repositories.
        projects: Folders of repositories by address; another one is taken from where it was
            traced, or cloned.
        others: Repositories that are not practised on, and whose held-out theorems are none either.
        human_share: Share of the training theorems whose human proofs are not ``"hidden"``.

    Raises:
        EmptyDatasetError: If there are none.
        UsageError: If a file is missing.
        DataError: If a line of a file is no theorem.
    """
    secret = {
        spoken
        for repository in chain(repositories, others)
        for theorem in repository.iter_theorems()
        if split_of(theorem) != "train"
        if (spoken := _spoken(theorem.theorem_statement or ""))
    }
    found = [one for source in sources for one in _of(source, repositories, projects, human_share)]
    kept: list[BenchmarkProblem] = []
    left_out: list[str] = []
    for one in found:
        if one.split in HELD_OUT_SPLITS or _spoken(one.statement) in secret:
            left_out.append(one.full_name)
        else:
            kept.append(one)
    if not kept:
        raise EmptyDatasetError(
            f"there is nothing to practise on: {', '.join(sources)} has no theorem that is not "
            "held out"
        )
    return Practice(tuple(_distinctly_named(kept)), tuple(left_out))


def _of(
    source: str,
    repositories: Sequence[Repository],
    projects: Mapping[str, Path],
    human_share: float,
) -> list[BenchmarkProblem]:
    if source in {TRAINING, HIDDEN}:
        return problems_of(
            (
                (theorem, split)
                for theorem, split in training_theorems(repositories)
                if source == TRAINING or not is_in_share(theorem, human_share)
            ),
            projects,
        )
    if source == SORRY:
        theorems = ((theorem, split_of(theorem)) for theorem, _ in sorry_theorems(repositories))
        return problems_of(theorems, projects)
    return JsonlBenchmark(Path(source)).problems()


def _spoken(statement: str) -> str:
    r"""Return what a declaration says: without modifiers, name, comments and layout.

    >>> _spoken("private theorem a.b.{u} (n:Nat) : -- all\n    n = n :=")
    '( n : Nat ) : n = n'
    >>> _spoken("lemma c (n : Nat) : n = n := by")
    '( n : Nat ) : n = n'
    """
    words = [token.text for token in code_tokens(statement)]
    start = next((i + 2 for i, word in enumerate(words) if word in {"theorem", "lemma"}), 0)
    if words[start : start + 2] == [".", "{"]:  # the name's universes
        start = words.index("}", start) + 1 if "}" in words[start:] else start
    words = words[start:]
    for end in ("by", ":="):
        if words[-1:] == [end]:
            words.pop()
    return " ".join(words)


def _distinctly_named(problems: Sequence[BenchmarkProblem]) -> Iterator[BenchmarkProblem]:
    """Number the problems of several sources that share a name."""
    seen: Counter[str] = Counter()
    for problem in problems:
        seen[problem.full_name] += 1
        count = seen[problem.full_name]
        name = problem.full_name if count == 1 else f"{problem.full_name} #{count}"
        yield attrs.evolve(problem, full_name=name)
