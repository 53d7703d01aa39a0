"""Write the merged data of several repositories for the trainers.

Theorems are streamed. Facts about all of them that are needed before the first can be written (the
newest record of a theorem, whether its records agree on a split) are kept in a temporary file, so
that memory does not grow with the data.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import IO, Any

import attrs

from lean_dojo_v2.atomic import atomic_write_bytes, atomic_writer
from lean_dojo_v2.data.codec import dumps
from lean_dojo_v2.data.imports import dependencies_first
from lean_dojo_v2.data.repository import HEADER, Repository
from lean_dojo_v2.database.export.source import ExportSource
from lean_dojo_v2.database.export.splits import SPLITS, STRATEGIES

TOTALS = (
    "total_theorems", "num_proven_theorems", "num_sorry_theorems", "num_premise_files",
    "num_premises", "num_files_traced",
)  # fmt: skip


def write_merged_data(sources: Sequence[ExportSource], folder: Path) -> None:
    """Write splits, corpus, traced files and metadata; see ``export_merged_data``.

    Args:
        sources: Repositories in curriculum order, each once.
        folder: Made if it is missing.

    Raises:
        DatabaseError: If the imports of the corpus are cyclic, or a stored record is damaged.
    """
    repositories = [source.repository for source in sources]
    _write_splits(sources, folder)
    with atomic_writer(folder / "corpus.jsonl") as stream:
        stream.writelines(line + b"\n" for line in _merged_corpus(sources))
    files = dict.fromkeys(file for repo in repositories for file in repo.iter_files_traced())
    with atomic_writer(folder / "traced_files.jsonl") as stream:
        stream.writelines(dumps({"traced_file_path": file}) + b"\n" for file in files)
    atomic_write_bytes(
        folder / "metadata.json", dumps(_metadata(repositories), indented=True) + b"\n"
    )


def _metadata(repositories: Sequence[Repository]) -> dict[str, Any]:
    headers = [repository.header_to_dict() for repository in repositories]
    return {
        "repositories": [
            {name: header[name] for name in (*HEADER, "metadata")} for header in headers
        ],
        **{name: sum(header[name] for header in headers) for name in TOTALS},
    }


def _merged_corpus(sources: Sequence[ExportSource]) -> Iterator[bytes]:
    """Yield the lines of ``corpus.jsonl``.

    Each path once, taken from the first repository that has it; every file after the files
    that it imports, otherwise in stored order. Imports outside all repositories are kept.
    """
    imports: dict[str, tuple[str, ...]] = {}
    owner: dict[str, ExportSource] = {}
    for source in sources:
        for path, imported in source.imports():
            if path not in owner:
                owner[path] = source
                imports[path] = imported
    for path in dependencies_first(imports):
        yield owner[path].corpus_line(path)


# --- splits ------------------------------------------------------------------------------------


def _write_splits(sources: Sequence[ExportSource], folder: Path) -> None:
    with ExitStack() as stack:
        index = stack.enter_context(closing(_index(sources)))
        writers = {
            (strategy, split): ListWriter(
                stack.enter_context(atomic_writer(folder / strategy / f"{split}.json"))
            )
            for strategy in STRATEGIES
            for split in SPLITS
        }
        chosen = _chosen(index)
        record, *places = next(chosen, (-1, None, None))
        lines = (line for source in sources for line in source.lines())
        for number, line in enumerate(lines):
            if number != record:
                continue
            for strategy, place in zip(STRATEGIES, places, strict=True):
                if place is not None:
                    writers[strategy, SPLITS[place]].write(line)
            record, *places = next(chosen, (-1, None, None))
        for writer in writers.values():
            writer.finish()


def _index(sources: Sequence[ExportSource]) -> sqlite3.Connection:
    """Index the records in a temporary database (a file, if large)."""
    index = sqlite3.connect("", isolation_level=None)
    index.execute("PRAGMA journal_mode = OFF")
    index.execute("PRAGMA cache_size = -8192")
    index.execute(
        "CREATE TABLE entry (record INTEGER PRIMARY KEY, date REAL, identity BLOB, name BLOB,"
        " random INTEGER, novel_premises INTEGER)"
    )
    index.execute("BEGIN")
    index.executemany(
        "INSERT INTO entry (date, identity, name, random, novel_premises) VALUES (?, ?, ?, ?, ?)",
        (
            (date, *entry)
            for source in sources
            for date in [source.repository.date_processed.timestamp()]
            for entry in source.entries()
        ),
    )
    index.execute("COMMIT")
    return index


def _chosen(index: sqlite3.Connection) -> Iterator[tuple[int, int | None, int | None]]:
    """Return the number and the two splits of every record to be written, in order.

    The newest record of a theorem is taken, the first of equally new ones. A theorem whose records
    disagree on the novel_premises split (its proof changed between commits) is in none of them,
    since it would move between splits as commits are added.
    """
    return index.execute(
        """
        SELECT record - 1, random, CASE WHEN agreed THEN novel_premises END FROM (
            SELECT record, random, novel_premises,
                row_number() OVER (PARTITION BY identity ORDER BY date DESC, record) AS rank,
                min(novel_premises) OVER (PARTITION BY name)
                    = max(novel_premises) OVER (PARTITION BY name) AS agreed
            FROM entry
        ) WHERE rank = 1 ORDER BY record
        """
    )


@attrs.define
class ListWriter:
    """A JSON list with one item per line, which can be read line by line."""

    stream: IO[bytes]
    opening: bytes = b"[\n"

    def write(self, item: bytes) -> None:
        """Add an item."""
        self.stream.write(self.opening)
        self.stream.write(item)
        self.opening = b",\n"

    def finish(self) -> None:
        """Close the list."""
        self.stream.write(b"[]\n" if self.opening == b"[\n" else b"\n]\n")
