"""The interface of the two storages, and the choice between them by the path's suffix.

Why two: JSON that is loaded into SQLite exports in 1.8 s in place of 1.3, and records a proof in
790 ms in place of 320, because what is written whole must be decoded first (20,000 theorems, two
cores; ``benchmarks/export.py`` measures it). So JSON is held as objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from lean_dojo_core.records import Theorem
from lean_dojo_v2.data.errors import NotInDatabaseError
from lean_dojo_v2.data.repository import Repository, RepositoryKey

SQLITE_SUFFIXES = (".sqlite", ".sqlite3", ".db")


def is_sqlite_path(path: str | Path) -> bool:
    """Tell whether a path's suffix says SQLite; every other suffix says JSON."""
    return Path(path).suffix.lower() in SQLITE_SUFFIXES


class Storage(Protocol):
    """A store of repositories. Each changing method takes effect at once, completely or not at all.

    Several processes may use one file; a change is made to what lies there at that moment, so
    that none of them loses another's.
    """

    @property
    def path(self) -> Path | None:
        """The file; None if there is none."""

    def repository_keys(self) -> list[RepositoryKey]:
        """Return ``(url, commit)`` of every repository, in the order they were added."""

    def get(self, key: RepositoryKey) -> Repository | None:
        """Return a repository; the same object as long as it is in use.

        Raises:
            DatabaseError: If its record is damaged.
        """

    def add(self, repository: Repository) -> bool:
        """Add a repository; False, and nothing done, if it is there."""

    def update(self, repository: Repository) -> None:
        """Replace a repository; proofs recorded in the meantime stay."""

    def delete(self, key: RepositoryKey) -> None:
        """Remove a repository."""

    def record_proof(self, key: RepositoryKey, theorem: Theorem) -> None:
        """Move a theorem from the unproved to the proved ``sorry`` theorems."""

    def flush(self) -> None:
        """Store changes made to repository objects that were handed out."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Let everything read inside come from one moment."""

    def close(self) -> None:
        """Close the file."""


def all_repositories(storage: Storage) -> Iterator[Repository]:
    """Yield every repository of a storage, one after the other."""
    for key in storage.repository_keys():
        repository = storage.get(key)
        if repository is not None:
            yield repository


def missing(key: RepositoryKey, path: Path | None) -> NotInDatabaseError:
    """Say that a repository is not in the database."""
    return NotInDatabaseError(f"no repository {key[0]} at commit {key[1]}", path=path)
