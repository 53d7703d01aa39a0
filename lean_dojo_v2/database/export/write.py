"""Write the merged data of several repositories for the trainers.

Theorems are streamed. Their lines and facts about all of them that are needed before the first can
be written (the newest record of a theorem, whether its records agree on a split) are kept in a
temporary database, so that memory does not grow with the data.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import product
from pathlib import Path
from typing import IO

from lean_dojo_core.records import Theorem
from lean_dojo_v2.data import (
    HEADER_FIELDS,
    Repository,
    dependencies_first,
    dumps,
    exported_theorem,
    premise_file_to_dict,
)
from lean_dojo_v2.database.export import splits
from lean_dojo_v2.files import atomic_write_bytes, atomic_writer

TOTALS = (
    "total_theorems", "num_proven_theorems", "num_sorry_theorems", "num_premise_files",
    "num_premises", "num_files_traced",
)  # fmt: skip


def export_merged_data(repositories: Sequence[Repository], output_path: str | Path) -> None:
    """Write splits, corpus, traced files and metadata of the repositories into a folder.

    The repositories are in curriculum order; the folder is made if it is missing. Each file is
    replaced in one step; other files in the folder are left alone. The same repositories give the
    same bytes, whatever their storage. Cyclic imports in the corpus, and a damaged stored record,
    are a ``DatabaseError``.
    """
    folder, repositories = Path(output_path), list(dict.fromkeys(repositories))
    with ExitStack() as stack:
        for repository in repositories:
            stack.enter_context(repository.snapshot())
        made = stack.enter_context(closing(sqlite3.connect("", isolation_level=None)))
        made.execute("PRAGMA journal_mode = OFF")
        made.execute("PRAGMA cache_size = -8192")
        made.execute("BEGIN")
        _write_splits(made, repositories, folder)
        _write_lines(folder / "corpus.jsonl", _merged_corpus(made, repositories))
        files = dict.fromkeys(f for one in repositories for f in one.iter_list("files_traced"))
        _write_lines(
            folder / "traced_files.jsonl", (dumps({"traced_file_path": file}) for file in files)
        )
        headers = [repository.header_to_dict() for repository in repositories]
        shown = (*HEADER_FIELDS, "metadata")
        metadata = {
            "repositories": [{name: header[name] for name in shown} for header in headers],
            **{name: sum(header[name] for header in headers) for name in TOTALS},
        }
        atomic_write_bytes(folder / "metadata.json", dumps(metadata, indented=True) + b"\n")


def write_theorems(path: Path, theorems: Iterable[Theorem]) -> None:
    """Write a split file, atomically; the inverse of ``read_theorems``."""
    with atomic_writer(path) as stream:
        _write_items(stream, (dumps(exported_theorem(theorem)) for theorem in theorems))


def _write_items(stream: IO[bytes], items: Iterable[bytes]) -> None:
    """Write a JSON list with one item per line, which can be read line by line."""
    opening = b"[\n"
    for item in items:
        stream.write(opening + item)
        opening = b",\n"
    stream.write(b"[]\n" if opening == b"[\n" else b"\n]\n")


def _write_lines(path: Path, lines: Iterable[bytes]) -> None:
    with atomic_writer(path) as stream:
        stream.writelines(line + b"\n" for line in lines)


def _merged_corpus(made: sqlite3.Connection, repositories: Sequence[Repository]) -> Iterator[bytes]:
    """Yield the lines of ``corpus.jsonl``.

    Each path once, taken from the first repository that has it; every file after the files
    that it imports, otherwise in stored order. Imports outside all repositories are kept.
    """
    made.execute("CREATE TABLE corpus (path TEXT PRIMARY KEY, line BLOB)")
    imports: dict[str, tuple[str, ...]] = {}
    for repository in repositories:
        for file in repository.iter_list("premise_files"):
            if file.path not in imports:
                imports[file.path] = file.imports
                line = dumps(premise_file_to_dict(file))
                made.execute("INSERT INTO corpus VALUES (?, ?)", (file.path, line))
    for path in dependencies_first(imports):
        yield made.execute("SELECT line FROM corpus WHERE path = ?", (path,)).fetchone()[0]


def _write_splits(
    made: sqlite3.Connection, repositories: Sequence[Repository], folder: Path
) -> None:
    """Write the theorems of each split.

    The newest record of a theorem is taken, the first of equally new ones. A theorem whose records
    disagree on the novel_premises split (its proof changed between commits) is in none of them,
    since it would move between splits as commits are added.
    """
    made.execute(
        "CREATE TABLE theorem (number INTEGER PRIMARY KEY, date REAL, identity TEXT, name TEXT,"
        " random TEXT, novel_premises TEXT, line BLOB)"
    )
    made.executemany(
        "INSERT INTO theorem (date, identity, name, random, novel_premises, line)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            (date, *_facts(theorem))
            for repository in repositories
            for date in [repository.date_processed.timestamp()]
            for theorem in repository.iter_theorems()
        ),
    )
    made.execute(
        """
        CREATE TABLE chosen AS
        SELECT number, random, CASE WHEN agreed THEN novel_premises END AS novel_premises FROM (
            SELECT number, random, novel_premises,
                row_number() OVER (PARTITION BY identity ORDER BY date DESC, number) AS rank,
                min(novel_premises) OVER (PARTITION BY name)
                    = max(novel_premises) OVER (PARTITION BY name) AS agreed
            FROM theorem
        ) WHERE rank = 1
        """
    )
    with ExitStack() as files:  # all six are replaced, or none
        for strategy, split in product(splits.STRATEGIES, splits.SPLITS):
            lines = made.execute(
                "SELECT line FROM theorem JOIN chosen USING (number)"  # noqa: S608
                f" WHERE chosen.{strategy} = ? ORDER BY number",
                (split,),
            )
            stream = files.enter_context(atomic_writer(folder / strategy / f"{split}.json"))
            _write_items(stream, (line for (line,) in lines))


def _facts(theorem: Theorem) -> tuple[str, str, str, str, bytes]:
    """Return a theorem's identity, name, splits and line."""
    identity = theorem.identity  # begins with url, file and name
    chosen = splits.split_of(theorem), splits.novel_premises_split_of(theorem)
    return repr(identity), repr(identity[:3]), *chosen, dumps(exported_theorem(theorem))
