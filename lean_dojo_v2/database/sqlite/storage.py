"""Storage of repositories in rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import attrs
import orjson

from lean_dojo_core.records import PremiseFile, Theorem
from lean_dojo_v2.data.codec import dumps, item_to_json, path_of, theorem_from_dict
from lean_dojo_v2.data.errors import located
from lean_dojo_v2.data.repository import (
    COLLECTIONS,
    HEADER,
    Repository,
    RepositoryKey,
    keep_proofs,
    metadata_to_json,
    not_found,
)
from lean_dojo_v2.database.sqlite.file import SqliteFile
from lean_dojo_v2.database.sqlite.repository import SORRY_LISTS, StoredRepository, row_of

PROVED, UNPROVED = map(COLLECTIONS.index, SORRY_LISTS)


@attrs.define
class SqliteStorage:
    """Repositories in the rows of an SQLite file.

    Each changing method takes effect at once and atomically. Several processes may use one file; a
    change applies to its current contents, so that none of them loses another's. Returned
    repository objects read rows lazily.

    Attributes:
        file: The database file.
    """

    file: SqliteFile

    def repository_keys(self) -> list[RepositoryKey]:
        """Return ``(url, commit)`` of every repository, in the order they were added."""
        rows = self.file.rows("SELECT url, revision FROM repository ORDER BY id")
        return [(url, commit) for url, commit in rows]

    def repositories(self) -> Iterator[Repository]:
        """Yield every repository, one after the other."""
        return filter(None, map(self.get, self.repository_keys()))

    def get(self, key: RepositoryKey) -> Repository | None:
        """Return a repository; None if there is none.

        Raises:
            DatabaseError: If its row is damaged.
        """
        rows = self.file.rows("SELECT header FROM repository WHERE url = ? AND revision = ?", key)
        if not rows:
            return None
        with located(self.file.path, f"{key[0]}, header"):
            header = orjson.loads(rows[0][0])
        return StoredRepository(self.file, header)

    def add(self, repository: Repository) -> bool:
        """Add a repository; False, and nothing done, if it is there."""
        if isinstance(repository, StoredRepository) and repository.file is self.file:
            repository = repository.in_memory()  # the new row may have the key of its rows
        with self.file.transaction() as connection:
            added = connection.execute(
                "INSERT INTO repository (url, revision, header) VALUES (?, ?, ?)"
                " ON CONFLICT DO NOTHING RETURNING id",
                (*repository.key, _header(repository)),
            ).fetchone()
            for name in COLLECTIONS if added else ():
                _insert(connection, added[0], name, repository.iter_list(name))
            return added is not None

    def update(self, repository: Repository) -> None:
        """Replace a repository; proofs recorded in the meantime stay.

        Lists of a repository from this very file that were never touched are left alone.
        """
        ours = isinstance(repository, StoredRepository) and repository.file is self.file
        own = ours and repository.key == getattr(repository, "key_as_read", None)
        if own and repository.__dict__.keys() & set(SORRY_LISTS):
            for name in SORRY_LISTS:
                getattr(repository, name)  # a proof moves a theorem between these two
        changed = [name for name in COLLECTIONS if not own or name in repository.__dict__]
        moment = nullcontext() if ours else repository.snapshot()
        with moment, self.file.transaction() as connection:
            row = row_of(self.file, repository.key)
            connection.execute(
                "UPDATE repository SET header = ? WHERE id = ?", (_header(repository), row)
            )
            lists = {name: repository.iter_list(name) for name in changed}
            if lists.keys() >= set(SORRY_LISTS):
                url, commit = repository.key
                stored = StoredRepository(self.file, {"url": url, "commit": commit})
                kept = keep_proofs(stored.iter_list(SORRY_LISTS[0]), repository)
                lists |= dict(zip(SORRY_LISTS, map(iter, kept), strict=True))
            for name, items in lists.items():
                connection.execute(
                    "DELETE FROM item WHERE repository = ? AND list = ?",
                    (row, COLLECTIONS.index(name)),
                )
                _insert(connection, row, name, items)

    def delete(self, key: RepositoryKey) -> None:
        """Remove a repository."""
        with self.file.transaction() as connection:
            connection.execute("DELETE FROM repository WHERE id = ?", (row_of(self.file, key),))

    def record_proof(self, key: RepositoryKey, theorem: Theorem) -> None:
        """Move a theorem from the unproved to the proved ``sorry`` theorems."""
        with self.file.transaction() as connection:
            row = row_of(self.file, key)
            found = self._find_unproved(connection, row, theorem)
            if found is None:
                raise not_found(theorem, Repository(*key), ("sorry_theorems_unproved",))
            connection.execute(
                "UPDATE item SET list = ?, record = ?, position = (SELECT"
                " coalesce(max(position), -1) + 1 FROM item WHERE repository = ? AND list = ?)"
                " WHERE id = ?",
                (PROVED, _record(theorem), row, PROVED, found),
            )

    def _find_unproved(
        self, connection: sqlite3.Connection, row: int, theorem: Theorem
    ) -> int | None:
        """Find the item of a theorem: that at its very place, else the first of its name."""
        named: dict[Any, int] = {}
        for item, record in connection.execute(
            "SELECT id, record FROM item WHERE repository = ? AND list = ? AND path = ?"
            " ORDER BY position",
            (row, UNPROVED, theorem.file_path),
        ):
            with located(self.file.path, f"{SORRY_LISTS[1]} of {theorem.file_path}"):
                other = theorem_from_dict(orjson.loads(record))
            if other.full_name == theorem.full_name:
                named.setdefault(other.identity, item)
        return named.get(theorem.identity, next(iter(named.values()), None))

    def make_file(self) -> None:
        """Create an empty file if there is none."""
        if not self.file.path.exists():
            with self.file.transaction():
                pass

    def snapshot(self) -> AbstractContextManager[object]:
        """Give a consistent view inside the block."""
        return self.file.snapshot()

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def _header(repository: Repository) -> str:
    """Return the fields of a repository except its lists, as JSON."""
    texts = {name: getattr(repository, name) for name in (*HEADER, "pr_url")}
    return dumps(texts | {"metadata": metadata_to_json(repository.metadata)}).decode()


def _record(item: Theorem | PremiseFile | str) -> str:
    return dumps(item_to_json(item)).decode()


def _insert(connection: sqlite3.Connection, row: int, name: str, items: Iterable[Any]) -> None:
    """Insert the items of one of a repository's lists."""
    connection.executemany(
        "INSERT INTO item (repository, list, position, path, record) VALUES (?, ?, ?, ?, ?)",
        (
            (row, COLLECTIONS.index(name), position, path_of(item), _record(item))
            for position, item in enumerate(items)
        ),
    )
