"""Repositories in an SQLite file: changes are written as they are made, and only they."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core.records import Theorem
from lean_dojo_v2.data.codec import dumps
from lean_dojo_v2.data.errors import located
from lean_dojo_v2.data.repository import (
    HEADER,
    THEOREM_LISTS,
    Repository,
    RepositoryKey,
    metadata_to_json,
    not_found,
)
from lean_dojo_v2.database.sqlite.file import SqliteFile
from lean_dojo_v2.database.sqlite.repository import StoredRepository
from lean_dojo_v2.database.sqlite.rows import theorem_row
from lean_dojo_v2.database.sqlite.update import (
    append_to_proved,
    insert_contents,
    replace_record,
    update_contents,
)
from lean_dojo_v2.database.storage import missing

UNPROVED = THEOREM_LISTS.index("sorry_theorems_unproved")

_COLUMNS = "url, name, revision, lean_version, lean_dojo_version, metadata, pr_url"
"""Of ``HEADER``, and two more."""


@attrs.define
class SqliteStorage:
    """A storage over an SQLite file.

    Repository objects that it gives read the file as they are asked. Of each repository the last
    object of which a list was touched is kept, so that :meth:`flush` can store changes made to it.

    Attributes:
        path: The file. A missing one is created; one of no bytes counts as empty.
    """

    path: Path
    file: SqliteFile = attrs.field(
        init=False, default=attrs.Factory(lambda self: SqliteFile(self.path), takes_self=True)
    )

    _touched: list[StoredRepository] = attrs.field(factory=list, init=False, repr=False)

    # --- Storage -------------------------------------------------------------------------------

    def repository_keys(self) -> list[RepositoryKey]:
        """See :meth:`Storage.repository_keys`."""
        rows = self.file.rows("SELECT url, revision FROM repository ORDER BY id")
        return [(url, commit) for url, commit in rows]

    def get(self, key: RepositoryKey) -> Repository | None:
        """See :meth:`Storage.get`."""
        sql = f"SELECT id, {_COLUMNS} FROM repository WHERE url = ? AND revision = ?"  # noqa: S608
        rows = self.file.rows(sql, key)
        if not rows:
            return None
        row_id, *texts, metadata, pr_url = rows[0]
        header = dict(zip(HEADER, texts, strict=True))
        with located(self.path, f"{header['name']}, metadata"):
            header |= {"metadata": orjson.loads(metadata), "pr_url": pr_url}
        return StoredRepository(self.file, row_id, header, self._touch)

    def add(self, repository: Repository) -> bool:
        """See :meth:`Storage.add`."""
        if self._find(repository.key):
            return False
        with self.file.transaction() as connection:
            row = connection.execute(
                f"INSERT INTO repository ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) "  # noqa: S608
                "ON CONFLICT DO NOTHING RETURNING id",
                _columns(repository),
            ).fetchone()
            if row is None:
                return False
            insert_contents(connection, row[0], repository)
        return True

    def update(self, repository: Repository) -> None:
        """See :meth:`Storage.update`."""
        with self.file.transaction() as connection:
            row_id = self._row_id(repository.key)
            connection.execute(
                f"UPDATE repository SET ({_COLUMNS}) = (?, ?, ?, ?, ?, ?, ?) "  # noqa: S608
                "WHERE id = ?",
                (*_columns(repository), row_id),
            )
            update_contents(connection, self.file, row_id, repository)

    def delete(self, key: RepositoryKey) -> None:
        """See :meth:`Storage.delete`."""
        with self.file.transaction() as connection:
            connection.execute("DELETE FROM repository WHERE id = ?", (self._row_id(key),))

    def record_proof(self, key: RepositoryKey, theorem: Theorem) -> None:
        """See :meth:`Storage.record_proof`."""
        row = theorem_row(theorem)
        with self.file.transaction() as connection:
            repository = self._row_id(key)
            found = connection.execute(
                "SELECT id FROM theorem WHERE repository = ? AND full_name = ? AND file_path = ?"
                " AND list = ? ORDER BY identity != ?, position LIMIT 1",
                (repository, theorem.full_name, theorem.file_path, UNPROVED, row.identity),
            ).fetchone()
            if found is None:
                raise not_found(theorem, Repository(*key), ("sorry_theorems_unproved",))
            replace_record(connection, found[0], row)
            append_to_proved(connection, repository, found[0])

    def flush(self) -> None:
        """See :meth:`Storage.flush`."""
        for repository in self._touched:
            if repository.changed_lists() and self._find(repository.key):
                self.update(repository)
                repository.forget_changes()

    def _touch(self, repository: StoredRepository) -> None:
        """Keep what may be changed: the last object of each repository, and changed older ones."""
        self._touched = [
            other for other in self._touched if other.key != repository.key or other.changed_lists()
        ]
        self._touched.append(repository)

    def snapshot(self) -> AbstractContextManager[None]:
        """See :meth:`Storage.snapshot`."""
        return self.file.snapshot()

    def close(self) -> None:
        """See :meth:`Storage.close`."""
        self._touched.clear()
        self.file.close()

    # --- rows ----------------------------------------------------------------------------------

    def _find(self, key: RepositoryKey) -> int | None:
        rows = self.file.rows("SELECT id FROM repository WHERE url = ? AND revision = ?", key)
        return rows[0][0] if rows else None

    def _row_id(self, key: RepositoryKey) -> int:
        found = self._find(key)
        if found is None:
            raise missing(key, self.path)
        return found


def _columns(repository: Repository) -> tuple[Any, ...]:
    texts = [getattr(repository, name) for name in HEADER]
    return (*texts, dumps(metadata_to_json(repository.metadata)), repository.pr_url)
