"""A JSON file as rows in memory: read whole when it is opened, written whole at each change."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import attrs

from lean_dojo_core.errors import DatabaseError
from lean_dojo_v2.atomic import atomic_writer
from lean_dojo_v2.data.repository import Repository
from lean_dojo_v2.database.json.lines import write_repositories
from lean_dojo_v2.database.json.reading import read_database
from lean_dojo_v2.database.json.rows import JSON_FORM
from lean_dojo_v2.database.locking import file_lock
from lean_dojo_v2.database.sqlite.file import Query, Row, require_bytes, translate_sqlite_errors
from lean_dojo_v2.database.sqlite.repository import read_repository, repository_keys
from lean_dojo_v2.database.sqlite.rows import RowForm
from lean_dojo_v2.database.sqlite.schema import INDEXES, SCHEMA

_Stamp: TypeAlias = tuple[int, int, int]


@attrs.define(eq=False)
class JsonFile:
    """Rows in memory that follow a JSON file; without a path they are only there.

    Reading needs no lock: the file is only ever replaced whole. When another process has
    replaced it, it is read again.

    Attributes:
        path: The file. The first change makes a missing one.
        read_only: Refuse changes, and a file that is not there.
    """

    form: ClassVar[RowForm] = JSON_FORM

    path: Path | None = None
    read_only: bool = False
    _held: _Memory | None = attrs.field(default=None, init=False, repr=False)
    _stamp: _Stamp | None = attrs.field(default=None, init=False)
    _fixed: int = attrs.field(default=0, init=False)
    """Blocks that are open in which nothing is read again."""
    _mutex: threading.RLock = attrs.field(factory=threading.RLock, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        _files.add(self)
        if self.path is not None and (self.read_only or self.path.exists()):
            require_bytes(self.path)
        with self._fresh():
            pass

    # --- RowFile -------------------------------------------------------------------------------

    def rows(self, sql: str, values: Iterable[Any] = (), *, place: str = "") -> list[Row]:
        """See :meth:`RowFile.rows`."""
        with self._fresh() as memory, translate_sqlite_errors(self.path, place):
            return memory.rows(sql, values)

    def reader(self) -> Query:
        """See :meth:`RowFile.reader`: it keeps the rows that are there now."""
        with self._fresh() as memory:
            return partial(self._rows_of, memory)

    def _rows_of(self, memory: _Memory, sql: str, values: Iterable[Any] = ()) -> list[Row]:
        with self._mutex, translate_sqlite_errors(self.path):
            return memory.rows(sql, values)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """See :meth:`RowFile.snapshot`."""
        with self._fresh():
            yield

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """See :meth:`RowFile.transaction`."""
        with self._mutex:
            if self.read_only:
                raise DatabaseError("is opened for reading only", path=self.path)
            if self._fixed:
                raise DatabaseError(
                    "cannot be changed inside a snapshot or another change", path=self.path
                )
            lock = file_lock(self.path) if self.path else nullcontext()
            with lock, self._fresh() as memory, translate_sqlite_errors(self.path):
                with memory.whole() as connection:
                    yield connection
                    self._write()
                self._stamp = self._file_stamp()  # now memory is as the file is

    def close(self) -> None:
        """See :meth:`RowFile.close`; what has no file stays."""
        with self._mutex:
            if self.path is not None:
                self._held = self._stamp = None

    # --- the file ------------------------------------------------------------------------------

    @contextmanager
    def _fresh(self) -> Iterator[_Memory]:
        """Give what lies in the file now, and let it stay so."""
        with self._mutex:
            memory = self._memory()
            self._fixed += 1
            try:
                yield memory
            finally:
                self._fixed -= 1  # no call, in which an interrupt could come first

    def _memory(self) -> _Memory:
        held = self._held
        # A fork must not use its parent's; it reads the file for itself.
        if held is None or (held.process != os.getpid() and self.path is not None):
            held = self._stamp = None
        if held is None or not self._fixed:
            stamp = self._file_stamp()
            if held is None or (stamp is not None and stamp != self._stamp):
                held = self._read(stamp)
                self._held, self._stamp = held, stamp
        return held

    def _read(self, stamp: _Stamp | None) -> _Memory:
        """Read the file into new rows, so that the old ones stay if it is damaged."""
        if self.path is None or stamp is None:
            return _Memory()
        with translate_sqlite_errors(self.path):
            require_bytes(self.path)
            return _Memory(partial(read_database, self.path))

    def _write(self) -> None:
        if self.path is None:
            return
        self._stamp = None  # whatever goes wrong from here on, the file decides
        try:
            with atomic_writer(self.path) as stream:
                write_repositories(stream, self._repositories())
        except OSError as error:
            raise DatabaseError(f"cannot be written: {error.strerror}", path=self.path) from error

    def _repositories(self) -> Iterator[Repository]:
        for key in repository_keys(self):
            if (repository := read_repository(self, key, lambda _: None)) is not None:
                yield repository

    def _file_stamp(self) -> _Stamp | None:
        if self.path is None:
            return None
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino)


class _Memory:
    """An SQLite database in memory, closed when nobody reads it any more.

    Python alone would keep a connection until its next full garbage collection.

    Args:
        fill: Writes what is there from the beginning; nothing can be rolled back in it.
    """

    def __init__(self, fill: Callable[[sqlite3.Connection], object] | None = None) -> None:
        self.process = os.getpid()
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, _close, self.connection, self.process).atexit = False
        self.connection.execute("PRAGMA journal_mode = OFF")
        self.connection.executescript(SCHEMA)
        if fill is not None:
            with self.whole() as connection:
                fill(connection)
        self.connection.executescript(INDEXES)
        self.connection.execute("PRAGMA journal_mode = MEMORY")
        self.connection.execute("PRAGMA foreign_keys = ON")

    def rows(self, sql: str, values: Iterable[Any] = ()) -> list[Row]:
        """Run a query and return all rows."""
        return self.connection.execute(sql, tuple(values)).fetchall()

    @contextmanager
    def whole(self) -> Iterator[sqlite3.Connection]:
        """Keep all that is changed inside, or nothing."""
        self.connection.execute("BEGIN")
        try:
            yield self.connection
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise


def _close(connection: sqlite3.Connection, process: int) -> None:
    if process == os.getpid():
        connection.close()


# --- forks -------------------------------------------------------------------------------------

_files: weakref.WeakSet[JsonFile] = weakref.WeakSet()
_at_fork: list[dict[JsonFile, bool]] = []
"""Whether each file could be locked before a fork."""
_FORK_PATIENCE = 5.0
"""Seconds that a fork waits for a thread in the midst of a query, which the child has not."""


def _before_fork() -> None:
    files = sorted(_files, key=id)
    _at_fork.append({file: file._mutex.acquire(timeout=_FORK_PATIENCE) for file in files})  # noqa: SLF001


def _after_fork() -> None:
    for file, locked in _at_fork.pop().items():
        if locked:
            file._mutex.release()  # noqa: SLF001


def _after_fork_in_child() -> None:
    for file, locked in _at_fork[-1].items():
        if not locked:  # the thread that held it is gone
            file._mutex, file._fixed = threading.RLock(), 0  # noqa: SLF001
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
    )
