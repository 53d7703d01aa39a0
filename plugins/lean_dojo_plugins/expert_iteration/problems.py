"""Problems for self-training: theorems without their proofs, none of them held out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path

import attrs

from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_plugins.training.data_fraction import is_in_share
from lean_dojo_plugins.training.statements import Statements
from lean_dojo_v2.benchmarks.database import (
    problems_of,
    sorry_theorems,
    training_theorems,
)
from lean_dojo_v2.benchmarks.jsonl import JsonlBenchmark
from lean_dojo_v2.benchmarks.statements import distinctly_named, normalised
from lean_dojo_v2.data.repository import Repository
from lean_dojo_v2.database.export.splits import HELD_OUT_SPLITS, split_of
from lean_dojo_v2.errors import EmptyDatasetError

TRAINING, HIDDEN, SORRY = "training", "hidden", "sorry"
NAMED = frozenset({TRAINING, HIDDEN, SORRY})
"""Sources other than files."""


@attrs.frozen
class ProblemSet:
    """The problems of a run.

    Attributes:
        problems: The problems; their names differ.
        left_out: Names of theorems that are held out, or state the same as a held-out theorem.
        statements: The set of statements from which they come, if any.
    """

    problems: tuple[BenchmarkProblem, ...]
    left_out: tuple[str, ...]
    statements: Statements | None = None

    @property
    def digest(self) -> str:
        """Hash of the problems."""
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
) -> ProblemSet:
    """Collect problems.

    Args:
        sources: ``"training"``, ``"hidden"``, ``"sorry"``, and JSONL files in miniF2F's format.
        repositories: The traced repositories.
        projects: Folders of repositories by address; others are looked up where they were traced,
            or cloned.
        others: Further repositories, whose held-out theorems are left out, too.
        human_share: Share of the training theorems whose human proofs are not ``"hidden"``.

    Raises:
        EmptyDatasetError: If there are none.
        UsageError: If a file is missing.
        DataError: If a line of a file is not a theorem.
    """
    secret = {
        text
        for repository in chain(repositories, others)
        for theorem in repository.iter_theorems()
        if split_of(theorem) != "train"
        if (text := normalised(theorem.theorem_statement or ""))
    }
    found = [one for source in sources for one in _of(source, repositories, projects, human_share)]
    held_out = [one.statement for one in found if one.split in HELD_OUT_SPLITS]
    secret.update(filter(None, map(normalised, held_out)))
    kept: list[BenchmarkProblem] = []
    left_out: list[str] = []
    for one in found:
        if one.split in HELD_OUT_SPLITS or normalised(one.statement) in secret:
            left_out.append(one.full_name)
        else:
            kept.append(one)
    if not kept:
        raise EmptyDatasetError(
            f"there are no problems: {', '.join(sources)} has no theorem that is not held out"
        )
    return ProblemSet(tuple(distinctly_named(kept)), tuple(left_out))


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
