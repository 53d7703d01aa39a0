"""Repositories in memory, and in a JSON file that is replaced whole at each change."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TypeAlias

import attrs

from lean_dojo_core.errors import DatabaseError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.atomic import atomic_writer
from lean_dojo_v2.data.codec import dump_theorem
from lean_dojo_v2.data.repository import Repository, RepositoryKey
from lean_dojo_v2.database.json.file import read_repositories
from lean_dojo_v2.database.json.lines import write_repositories
from lean_dojo_v2.database.locking import file_lock
from lean_dojo_v2.database.storage import missing

_Stamp: TypeAlias = tuple[int, int, int]


@attrs.define
class JsonStorage:
    """A storage over a JSON file, or over memory alone if there is no path.

    Reading needs no lock: the file is only ever replaced whole. When another process has
    replaced it, it is read again, and the repository objects in use take its content over.

    Attributes:
        path: The file. A missing one is created; one of no bytes counts as empty.
    """

    path: Path | None = None
    _repositories: dict[RepositoryKey, Repository] = attrs.field(factory=dict, init=False)
    _stamp: _Stamp | None = attrs.field(default=None, init=False)
    _mutex: threading.RLock = attrs.field(factory=threading.RLock, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.path is not None and not self.path.exists():
            with file_lock(self.path):
                if not self.path.exists():
                    self._write()
        self._refresh()

    # --- Storage -------------------------------------------------------------------------------

    def repository_keys(self) -> list[RepositoryKey]:
        """See :meth:`Storage.repository_keys`."""
        self._refresh()
        return list(self._repositories)

    def get(self, key: RepositoryKey) -> Repository | None:
        """See :meth:`Storage.get`."""
        self._refresh()
        return self._repositories.get(key)

    def add(self, repository: Repository) -> bool:
        """See :meth:`Storage.add`."""
        self._refresh()
        if repository.key in self._repositories:
            return False
        repository = repository.in_memory()
        with self._changing():
            return self._repositories.setdefault(repository.key, repository) is repository

    def update(self, repository: Repository) -> None:
        """See :meth:`Storage.update`."""
        repository = repository.in_memory()
        with self._changing(mine=(repository.key,)):
            stored = self._stored(repository.key)
            if stored is not repository:
                keep_proofs(repository, stored)
                self._repositories[repository.key] = repository

    def delete(self, key: RepositoryKey) -> None:
        """See :meth:`Storage.delete`."""
        with self._changing():
            self._stored(key)
            del self._repositories[key]

    def record_proof(self, key: RepositoryKey, theorem: Theorem) -> None:
        """See :meth:`Storage.record_proof`."""
        dump_theorem(theorem)  # what cannot be written must not enter the object in memory
        with self._changing():
            self._stored(key).change_sorry_to_proven(theorem)

    def flush(self) -> None:
        """See :meth:`Storage.flush`."""
        with self._changing(mine=set(self._repositories)):
            pass

    def snapshot(self) -> AbstractContextManager[None]:
        """See :meth:`Storage.snapshot`."""
        return nullcontext()

    def close(self) -> None:
        """See :meth:`Storage.close`."""

    def _stored(self, key: RepositoryKey) -> Repository:
        try:
            return self._repositories[key]
        except KeyError:
            raise missing(key, self.path) from None

    # --- the file ------------------------------------------------------------------------------

    @contextmanager
    def _changing(self, mine: Collection[RepositoryKey] = ()) -> Iterator[None]:
        """Hold the lock, start from what lies in the file now, write when done.

        Of ``mine`` the objects in memory count, not the file (but for proofs).
        """
        with self._mutex, file_lock(self.path) if self.path else nullcontext():
            self._refresh(mine)
            yield
            self._write()

    def _write(self) -> None:
        if self.path is None:
            return
        self._stamp = None
        try:
            with atomic_writer(self.path) as stream:
                write_repositories(stream, self._repositories.values())
        except OSError as error:
            raise DatabaseError(f"cannot be written: {error.strerror}", path=self.path) from error
        self._stamp = self._file_stamp()

    def _refresh(self, mine: Collection[RepositoryKey] = ()) -> None:
        with self._mutex:
            stamp = self._file_stamp()
            if self.path is None or stamp is None or stamp == self._stamp:
                return
            fresh: dict[RepositoryKey, Repository] = {}
            for stored in read_repositories(self.path) if stamp[1] else ():
                held = self._repositories.get(stored.key)
                fresh[stored.key] = held or stored
                if held is None:
                    continue
                if stored.key in mine:
                    keep_proofs(held, stored)
                else:
                    keep_proofs(stored, held)
                    for field in attrs.fields(Repository):
                        setattr(held, field.name, getattr(stored, field.name))
            self._repositories = fresh
            self._stamp = stamp

    def _file_stamp(self) -> _Stamp | None:
        if self.path is None:
            return None
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino)


def keep_proofs(winner: Repository, other: Repository) -> None:
    """Move theorems that ``other`` has proven out of the unproved ones of ``winner``.

    So a proof is never lost because somebody stores a copy from before it was found.
    """
    proofs = {theorem.identity: theorem for theorem in other.sorry_theorems_proved}
    if not proofs:
        return
    found = [t.identity for t in winner.sorry_theorems_unproved if t.identity in proofs]
    if found:
        done = set(found)
        winner.sorry_theorems_unproved[:] = [
            theorem for theorem in winner.sorry_theorems_unproved if theorem.identity not in done
        ]
        winner.sorry_theorems_proved.extend(proofs[identity] for identity in found)
