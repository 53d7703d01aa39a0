"""A set of statements as the one step of a curriculum: no database, no human proof."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core import DatasetFormatter, Repository, registry
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.benchmarks.jsonl import JsonlBenchmark
from lean_dojo_v2.database.export.splits import HELD_OUT_SPLITS
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.prover.completions import with_context
from lean_dojo_v2.wording import counted

STATEMENT_COLUMNS = (
    "problem", "prompt", "full_name", "header", "project",
    "url", "commit", "file_path", "start", "end",
)  # fmt: skip
"""Columns of the rows of statements; those that a statement has no use for are ``None``."""


@attrs.frozen
class Statements:
    """Statements to prove, in the place of a repository and of its database.

    Attributes:
        url: Where they come from: a file, or the name of a benchmark.
        problems: The statements.
        held_out: How many were left out because their split is held out.
    """

    url: str
    problems: tuple[BenchmarkProblem, ...] = attrs.field(repr=False)
    held_out: int = 0

    @property
    def commit(self) -> str:
        """A digest of the statements: others are another run."""
        digest = sha256()
        for one in self.problems:
            digest.update(f"{one.full_name}\0{one.header}\0{one.statement}\0".encode())
        return digest.hexdigest()[:40]

    @property
    def repositories(self) -> Sequence[Any]:
        """Itself, as the database that it stands in for."""
        return [self]

    def export_merged_data(self, repositories: Sequence[Repository], output_path: Path) -> None:
        """Write an empty split, which :meth:`rows` takes the place of, and what is trained on."""
        atomic_write_bytes(output_path / "random" / "train.json", b"[]")
        about = {"url": self.url, "commit": self.commit, "statements": len(self.problems)}
        assert len(repositories) == 1
        atomic_write_bytes(output_path / "metadata.json", orjson.dumps({"repositories": [about]}))

    def rows(self, formatter: DatasetFormatter) -> Iterator[dict[str, Any]]:
        """Yield a row for each statement, with :data:`STATEMENT_COLUMNS`."""
        for one in self.problems:
            theorem = one.theorem
            yield {
                "problem": one.statement,
                "prompt": formatter.prompt(with_context(one.header or "", one.statement)),
                "full_name": one.full_name,
                "header": one.header,
                "project": None if one.project is None else str(one.project),
                "url": None if theorem is None else theorem.url,
                "commit": None if theorem is None else theorem.commit,
                "file_path": None if theorem is None else theorem.file_path,
                "start": None if theorem is None else list(theorem.start),
                "end": None if theorem is None else list(theorem.end),
            }

    def say(self) -> None:
        """Say on standard error what is trained on, and what was left out."""
        left = f"; {self.held_out} of held-out splits are left out" if self.held_out else ""
        many = counted(len(self.problems), "statement", "statements")
        print(f"{self.url}: {many}{left}", file=sys.stderr)


def read_statements(source: str) -> Statements:
    """Read a set of statements, without those that are held out.

    Args:
        source: A ``.jsonl`` file in miniF2F's form, or the name of a benchmark.

    Raises:
        UsageError: If there is no such file or benchmark, or a line is no theorem.
        EmptyDatasetError: If nothing is left to train on.
    """
    found: Iterable[BenchmarkProblem]
    if source.endswith(".jsonl"):
        found = JsonlBenchmark(Path(source)).problems()
    else:
        found = registry.benchmarks[source].create().problems()
    found = list(found)
    kept = tuple(one for one in found if one.split not in HELD_OUT_SPLITS)
    if not kept:
        raise EmptyDatasetError(
            f"all {len(found)} statements belong to held-out splits, which are never trained on",
            path=source,
        )
    return Statements(source, kept, len(found) - len(kept))
