"""Write repositories into rows, only where they differ."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import count, islice

import attrs

from lean_dojo_v2.data.repository import COLLECTIONS, THEOREM_LISTS, Repository
from lean_dojo_v2.database.sqlite.file import SqliteFile
from lean_dojo_v2.database.sqlite.repository import (
    COLUMNS,
    StoredRepository,
    columns_of,
)
from lean_dojo_v2.database.sqlite.rows import TheoremRow, premise_row, theorem_row

_BATCH = 500
_PROVED = THEOREM_LISTS.index("sorry_theorems_proved")
_UNPROVED = THEOREM_LISTS.index("sorry_theorems_unproved")

_INSERT_THEOREM = """
INSERT INTO theorem (id, repository, list, position, full_name, file_path, difficulty,
    identity, name, random, novel_premises, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_RECORD = "INSERT INTO theorem_record (id, line, extra) VALUES (?, ?, ?)"
_INSERT_PREMISES = """
INSERT INTO premise_file (repository, position, path, num_premises, imports, line)
VALUES (?, ?, ?, ?, ?, ?)
"""
_INSERT_TRACED = "INSERT INTO traced_file (repository, position, path) VALUES (?, ?, ?)"


def insert_repository(connection: sqlite3.Connection, source: Repository) -> bool:
    """Insert a repository with its contents; False, without effect, if it exists."""
    repository = insert_header(connection, source)
    if repository is None:
        return False
    for number, name in enumerate(THEOREM_LISTS):
        insert_theorems(
            connection, repository, number, enumerate(map(theorem_row, source.iter_list(name)))
        )
    insert_premise_files(connection, repository, map(premise_row, source.iter_premise_files()))
    insert_traced_files(connection, repository, source.iter_files_traced())
    return True


def insert_header(connection: sqlite3.Connection, source: Repository) -> int | None:
    """Insert a repository's row, and return its number; None if it exists."""
    row = connection.execute(
        f"INSERT INTO repository ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) "  # noqa: S608
        "ON CONFLICT DO NOTHING RETURNING id",
        columns_of(source),
    ).fetchone()
    return None if row is None else int(row[0])


def update_header(connection: sqlite3.Connection, repository: int, source: Repository) -> None:
    """Update a repository's row."""
    connection.execute(
        f"UPDATE repository SET ({COLUMNS}) = (?, ?, ?, ?, ?, ?, ?) WHERE id = ?",  # noqa: S608
        (*columns_of(source), repository),
    )


def insert_premise_files(
    connection: sqlite3.Connection, repository: int, rows: Iterable[tuple[str, int, bytes, bytes]]
) -> None:
    """Insert the files of a corpus without stored files."""
    connection.executemany(
        _INSERT_PREMISES, ((repository, position, *row) for position, row in enumerate(rows))
    )


def insert_theorems(
    connection: sqlite3.Connection,
    repository: int,
    number: int,
    placed: Iterable[tuple[int, TheoremRow]],
) -> None:
    """Insert theorems of one of ``THEOREM_LISTS`` with their positions."""
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM theorem").fetchone()
    ids = count(last + 1)
    iterator = iter(placed)
    while batch := [(next(ids), *item) for item in islice(iterator, _BATCH)]:
        connection.executemany(
            _INSERT_THEOREM,
            ((new, repository, number, place, *row.header) for new, place, row in batch),
        )
        connection.executemany(
            _INSERT_RECORD, ((new, row.line, row.extra) for new, _, row in batch)
        )


def insert_traced_files(
    connection: sqlite3.Connection, repository: int, paths: Iterable[str]
) -> None:
    """Insert the paths of traced files."""
    connection.executemany(
        _INSERT_TRACED, ((repository, place, path) for place, path in enumerate(paths))
    )


def replace_record(connection: sqlite3.Connection, theorem: int, row: TheoremRow) -> None:
    """Overwrite the record of a stored theorem in place."""
    connection.execute(
        "UPDATE theorem SET (full_name, file_path, difficulty, identity, name, random,"
        " novel_premises, digest) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?",
        (*row.header, theorem),
    )
    connection.execute(
        "UPDATE theorem_record SET (line, extra) = (?, ?) WHERE id = ?",
        (row.line, row.extra, theorem),
    )


# --- updating ----------------------------------------------------------------------------------


def update_contents(
    connection: sqlite3.Connection, file: SqliteFile, repository: int, source: Repository
) -> None:
    """Make what is stored equal to a repository, writing only differences.

    Collections of a repository from this very file that were never touched are left alone. A
    theorem that is proven in the file and unproved in ``source`` stays proven.
    """
    own = isinstance(source, StoredRepository) and source.file is file
    touched = [name for name in COLLECTIONS if not own or name in source.__dict__]
    if any(name in touched for name in THEOREM_LISTS):
        _update_theorems(connection, repository, source, own=own)
    if "premise_files" in touched:
        _update_premise_files(connection, repository, source)
    if "files_traced" in touched:
        _update_traced_files(connection, repository, source)


@attrs.frozen
class _Stored:
    """A theorem already in the file."""

    id: int
    list: int
    position: int
    digest: bytes


def _update_theorems(
    connection: sqlite3.Connection, repository: int, source: Repository, *, own: bool
) -> None:
    """Match theorems by identity; delete the rest."""
    left = _stored_theorems(connection, repository)
    proofs = {key for key, stored in left.items() if any(s.list == _PROVED for s in stored)}
    kept: list[int] = []
    for number, name in enumerate(THEOREM_LISTS):
        # A list of this file is read before its rows are moved.
        theorems = getattr(source, name) if own else source.iter_list(name)
        last = -1
        for row in map(theorem_row, theorems):
            candidates = left.get(row.identity) or []
            if number == _UNPROVED and row.identity in proofs:
                kept.extend(stored.id for stored in candidates)
                candidates.clear()
                continue
            if not candidates:
                last += 1
                insert_theorems(connection, repository, number, [(last, row)])
                continue
            stored = candidates.pop(0)
            if stored.digest != row.digest:
                replace_record(connection, stored.id, row)
            stays = stored.list == number and stored.position > last
            last = stored.position if stays else last + 1
            if not stays:
                connection.execute(
                    "UPDATE theorem SET list = ?, position = ? WHERE id = ?",
                    (number, last, stored.id),
                )
    for theorem in kept:
        append_to_proved(connection, repository, theorem)
    connection.executemany(
        "DELETE FROM theorem WHERE id = ?", [(s.id,) for stored in left.values() for s in stored]
    )


def _stored_theorems(connection: sqlite3.Connection, repository: int) -> dict[bytes, list[_Stored]]:
    theorems: dict[bytes, list[_Stored]] = {}
    for identity, *columns in connection.execute(
        "SELECT identity, id, list, position, digest FROM theorem WHERE repository = ?"
        " ORDER BY list, position",
        (repository,),
    ):
        theorems.setdefault(identity, []).append(_Stored(*columns))
    return theorems


def append_to_proved(connection: sqlite3.Connection, repository: int, theorem: int) -> None:
    """Make a stored theorem the last one of those that were ``sorry`` and are proven."""
    connection.execute(
        "UPDATE theorem SET list = ?, position = (SELECT coalesce(max(position), -1) + 1"
        " FROM theorem WHERE repository = ? AND list = ?) WHERE id = ?",
        (_PROVED, repository, _PROVED, theorem),
    )


def _update_premise_files(
    connection: sqlite3.Connection, repository: int, source: Repository
) -> None:
    place = -1
    for place, file in enumerate(source.iter_premise_files()):
        row = premise_row(file)
        stored = connection.execute(
            "SELECT path, line FROM premise_file WHERE repository = ? AND position = ?",
            (repository, place),
        ).fetchone()
        if stored != (row[0], row[-1]):
            _delete(connection, "premise_file", repository, "=", place)
            connection.execute(_INSERT_PREMISES, (repository, place, *row))
    _delete(connection, "premise_file", repository, ">", place)


def _update_traced_files(
    connection: sqlite3.Connection, repository: int, source: Repository
) -> None:
    rows = connection.execute(
        "SELECT path FROM traced_file WHERE repository = ? ORDER BY position", (repository,)
    )
    if [path for (path,) in rows] != list(source.iter_files_traced()):
        _delete(connection, "traced_file", repository, ">", -1)
        insert_traced_files(connection, repository, source.iter_files_traced())


def _delete(
    connection: sqlite3.Connection, table: str, repository: int, relation: str, position: int
) -> None:
    connection.execute(
        f"DELETE FROM {table} WHERE repository = ? AND position {relation} ?",  # noqa: S608
        (repository, position),
    )
