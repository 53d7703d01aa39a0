"""Storage of repositories in rows; only changes are written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TypeGuard

import attrs

from lean_dojo_core.records import Theorem
from lean_dojo_v2.data.errors import missing
from lean_dojo_v2.data.repository import (
    THEOREM_LISTS,
    Repository,
    RepositoryKey,
    not_found,
)
from lean_dojo_v2.database.sqlite.file import SqliteFile
from lean_dojo_v2.database.sqlite.repository import (
    StoredRepository,
    find_row,
    read_repository,
    repository_keys,
)
from lean_dojo_v2.database.sqlite.rows import theorem_row
from lean_dojo_v2.database.sqlite.update import (
    append_to_proved,
    insert_repository,
    replace_record,
    update_contents,
    update_header,
)

UNPROVED = THEOREM_LISTS.index("sorry_theorems_unproved")


@attrs.define
class SqliteStorage:
    """Repositories in the rows of an SQLite file.

    Each changing method takes effect at once and atomically. Several processes may use one file; a
    change applies to its current contents, so that none of them loses another's.

    Returned repository objects read rows lazily. The last object of each repository with a touched
    list is kept, so that :meth:`flush` can store changes made to it.

    Attributes:
        file: The database file.
    """

    file: SqliteFile

    _touched: list[StoredRepository] = attrs.field(factory=list, init=False, repr=False)

    def repository_keys(self) -> list[RepositoryKey]:
        """Return ``(url, commit)`` of every repository, in the order they were added."""
        return repository_keys(self.file)

    def repositories(self) -> Iterator[Repository]:
        """Yield every repository, one after the other."""
        for key in self.repository_keys():
            repository = self.get(key)
            if repository is not None:
                yield repository

    def get(self, key: RepositoryKey) -> Repository | None:
        """Return a repository.

        Raises:
            DatabaseError: If its record is damaged.
        """
        return read_repository(self.file, key, self._touch)

    def add(self, repository: Repository) -> bool:
        """Add a repository; False, and nothing done, if it is there."""
        if find_row(self.file, repository.key) is not None:
            return False
        if self._is_own(repository):  # its rows cannot be read while they are renamed
            repository = repository.in_memory()
        with self.file.transaction() as connection:
            return insert_repository(connection, repository)

    def update(self, repository: Repository) -> None:
        """Replace a repository; proofs recorded in the meantime stay."""
        if self._is_own(repository) and repository.key != repository.key_as_read:
            repository = repository.in_memory()
        with self.file.transaction() as connection:
            row = self._row(repository.key)
            update_header(connection, row, repository)
            update_contents(connection, self.file, row, repository)

    def delete(self, key: RepositoryKey) -> None:
        """Remove a repository."""
        with self.file.transaction() as connection:
            connection.execute("DELETE FROM repository WHERE id = ?", (self._row(key),))

    def record_proof(self, key: RepositoryKey, theorem: Theorem) -> None:
        """Move a theorem from the unproved to the proved ``sorry`` theorems."""
        row = theorem_row(theorem)
        with self.file.transaction() as connection:
            repository = self._row(key)
            found = connection.execute(
                "SELECT id FROM theorem WHERE repository = ? AND full_name = ? AND file_path = ?"
                " AND list = ? ORDER BY identity != ?, position LIMIT 1",
                (repository, theorem.full_name, theorem.file_path, UNPROVED, row.identity),
            ).fetchone()
            if found is None:
                raise not_found(theorem, Repository(*key), ("sorry_theorems_unproved",))
            replace_record(connection, found[0], row)
            append_to_proved(connection, repository, found[0])

    def make_file(self) -> None:
        """Create an empty file if there is none."""
        if not self.file.path.exists():
            with self.file.transaction():
                pass

    def flush(self) -> None:
        """Store changes made to returned repository objects."""
        for repository in self._touched:
            if repository.changed_lists() and find_row(self.file, repository.key) is not None:
                self.update(repository)
                repository.forget_changes()

    def snapshot(self) -> AbstractContextManager[None]:
        """Give a consistent view inside the block."""
        return self.file.snapshot()

    def close(self) -> None:
        """Close the file."""
        self._touched.clear()
        self.file.close()

    def _is_own(self, repository: Repository) -> TypeGuard[StoredRepository]:
        return isinstance(repository, StoredRepository) and repository.file is self.file

    def _touch(self, repository: StoredRepository) -> None:
        """Keep objects that may be changed: the last of each repository, and changed older ones."""
        self._touched = [
            other for other in self._touched if other.key != repository.key or other.changed_lists()
        ]
        self._touched.append(repository)

    def _row(self, key: RepositoryKey) -> int:
        row = find_row(self.file, key)
        if row is None:
            raise missing(key, self.file.path)
        return row
