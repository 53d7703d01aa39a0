"""A JSON file as rows in memory: read whole when it is opened, written whole at each change."""

from __future__ import annotations

import os
import sqlite3
import threading
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
from lean_dojo_v2.database.sqlite.file import Row, told
from lean_dojo_v2.database.sqlite.repository import read_repository, repository_keys
from lean_dojo_v2.database.sqlite.rows import RowForm
from lean_dojo_v2.database.sqlite.schema import INDEXES, SCHEMA

_Stamp: TypeAlias = tuple[int, int, int]


@attrs.define
class JsonFile:
    """Rows in memory that follow a JSON file; without a path they are only there.

    Reading needs no lock: the file is only ever replaced whole. When another process has
    replaced it, it is read again.

    Attributes:
        path: The file. A missing one is created; one of no bytes counts as empty.
    """

    form: ClassVar[RowForm] = JSON_FORM

    path: Path | None = None
    _held: tuple[int, sqlite3.Connection] | None = attrs.field(default=None, init=False, repr=False)
    _stamp: _Stamp | None = attrs.field(default=None, init=False)
    _fixed: int = attrs.field(default=0, init=False)
    """Blocks that are open in which nothing is read again."""
    _lock: threading.RLock = attrs.field(factory=threading.RLock, init=False, repr=False)
    _process: int = attrs.field(factory=os.getpid, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.path is not None and not self.path.exists():
            with file_lock(self.path):
                if not self.path.exists():
                    self._write()
        with self._fresh():
            pass

    # --- RowFile -------------------------------------------------------------------------------

    def rows(self, sql: str, values: Iterable[Any] = (), *, place: str = "") -> list[Row]:
        """See :meth:`RowFile.rows`."""
        with self._fresh() as connection, told(self.path, place):
            return connection.execute(sql, tuple(values)).fetchall()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """See :meth:`RowFile.snapshot`."""
        with self._fresh():
            yield

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """See :meth:`RowFile.transaction`."""
        lock = file_lock(self.path) if self.path else nullcontext()
        with self._mutex, lock, self._fresh() as connection, told(self.path), _whole(connection):
            yield connection
            self._write()

    def close(self) -> None:
        """See :meth:`RowFile.close`; what has no file stays."""
        with self._mutex:
            if self.path is not None and self._held is not None and self._held[0] == os.getpid():
                self._held[1].close()
                self._held = self._stamp = None

    # --- the file ------------------------------------------------------------------------------

    @contextmanager
    def _fresh(self) -> Iterator[sqlite3.Connection]:
        """Give what lies in the file now, and let it stay so."""
        with self._mutex:
            connection = self._connection()
            self._fixed += 1
            try:
                yield connection
            finally:
                self._fixed = max(0, self._fixed - 1)

    @property
    def _mutex(self) -> threading.RLock:
        if self._process != os.getpid():  # another thread of the parent may hold its lock for ever
            self._lock, self._fixed, self._process = threading.RLock(), 0, os.getpid()
        return self._lock

    def _connection(self) -> sqlite3.Connection:
        # A fork must not use its parent's; it reads the file for itself.
        if self._held is None or (self._held[0] != os.getpid() and self.path is not None):
            self._held, self._stamp = (os.getpid(), _in_memory(lambda _: None)), None
        stamp = None if self._fixed else self._file_stamp()
        if stamp is not None and stamp != self._stamp:
            self._held, self._stamp = (os.getpid(), self._read(empty=not stamp[1])), stamp
        return self._held[1]

    def _read(self, *, empty: bool) -> sqlite3.Connection:
        """Read the file into new rows, so that the old ones stay if it is damaged."""
        assert self.path is not None
        if empty:
            return _in_memory(lambda _: None)
        with told(self.path):
            return _in_memory(partial(read_database, self.path))

    def _write(self) -> None:
        if self.path is None:
            return
        try:
            with atomic_writer(self.path) as stream:
                write_repositories(stream, self._repositories())
        except OSError as error:
            raise DatabaseError(f"cannot be written: {error.strerror}", path=self.path) from error
        self._stamp = self._file_stamp()

    def _repositories(self) -> Iterator[Repository]:
        for key in repository_keys(self):
            if (repository := read_repository(self, key, lambda _: None)) is not None:
                yield repository

    def _file_stamp(self) -> _Stamp | None:
        if self.path is None:
            return None
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino)


def _in_memory(fill: Callable[[sqlite3.Connection], object]) -> sqlite3.Connection:
    """Make a database in memory; nothing can be rolled back or refused while it is filled."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.executescript(SCHEMA)
    connection.execute("BEGIN")
    fill(connection)
    connection.execute("COMMIT")
    connection.executescript(INDEXES)
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


@contextmanager
def _whole(connection: sqlite3.Connection) -> Iterator[None]:
    """Keep all that is changed inside, or nothing."""
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
