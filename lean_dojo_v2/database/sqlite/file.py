"""An SQLite file of rows."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import attrs

from lean_dojo_v2.database.locking import PATIENCE, file_lock, require_bytes, say_waiting
from lean_dojo_v2.database.sqlite.connection import check_header_if_unused, connect
from lean_dojo_v2.database.sqlite.schema import SCHEMA, create_database
from lean_dojo_v2.errors import DatabaseError

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]

_open: weakref.WeakValueDictionary[int, sqlite3.Connection] = weakref.WeakValueDictionary()
_across_forks: list[list[sqlite3.Connection]] = []
"""In a forked process: the parents' connections, which SQLite forbids to use or close there.

They are recorded before the fork, since the child loses the other threads' references.
"""


def _note_open() -> None:
    _across_forks.append([c for known in _open.valuerefs() if (c := known()) is not None])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_note_open, after_in_parent=_across_forks.pop)


@attrs.define
class SqliteFile:
    """A database file and this process's connections to it, one per thread.

    Write-ahead logging lets any number of processes read while one writes. It needs a local
    disk: the processes share memory through a file beside the database. SQLite's errors
    become a ``DatabaseError`` that names the file.

    Attributes:
        path: The file; a missing one is created by the first change.
        read_only: Only read it: nothing is written, created or locked. A missing file is an error.
    """

    path: Path
    read_only: bool = False
    _local: threading.local = attrs.field(factory=threading.local, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.read_only or self.path.exists():
            require_bytes(self.path)
            check_header_if_unused(self.path)

    # --- reading -------------------------------------------------------------------------------

    def rows(self, sql: str, values: Iterable[Any] = (), *, place: str = "") -> list[Row]:
        """Run a query and return all rows."""
        with translate_sqlite_errors(self.path, place):
            connection = self._connection() if self._is_there() else _blank()
            return self._patiently(lambda: connection.execute(sql, tuple(values)).fetchall())

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let every query inside see the same state, despite concurrent writers."""
        if not self._is_there():
            yield
            return
        with translate_sqlite_errors(self.path):
            connection = self._connection()
            if connection.in_transaction:
                yield
                return
            connection.execute("BEGIN")
            try:
                yield
            finally:
                connection.execute("ROLLBACK")

    # --- writing -------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write as the only writer, atomically.

        Raises:
            DatabaseError: If another process has been writing for longer than two minutes.
        """
        with translate_sqlite_errors(self.path):
            if not self._is_there():
                with file_lock(self.path):
                    if not self.path.exists():
                        create_database(self.path)
            connection = self._connection()
            if connection.in_transaction:
                raise DatabaseError("cannot be changed inside a snapshot", path=self.path)
            self._patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    # --- connections ---------------------------------------------------------------------------

    def _is_there(self) -> bool:
        """Whether there is a database; before the first change there may be none."""
        return hasattr(self._local, "held") or self.path.exists()

    def _connection(self) -> sqlite3.Connection:
        held: tuple[int, sqlite3.Connection] | None = getattr(self._local, "held", None)
        # A connection must not cross a fork; the parent's is left to the parent, see _across_forks.
        if held is None or held[0] != os.getpid():
            with translate_sqlite_errors(self.path):
                opened = self._patiently(lambda: connect(self.path, read_only=self.read_only))
                held = (os.getpid(), opened)
                _open[id(held[1])] = held[1]
            self._local.held = held
        return held[1]

    def _patiently(self, call: Callable[[], T]) -> T:
        """Retry a call while another process holds the lock; report that once."""
        end, said = time.monotonic() + PATIENCE, False
        while True:
            try:
                return call()
            except sqlite3.OperationalError as error:
                if not _is_busy(error):
                    raise
                if not said:
                    say_waiting(self.path)
                if time.monotonic() > end:
                    raise
                said = True

    def close(self) -> None:
        """Close this thread's connection; the next query opens another."""
        held: tuple[int, sqlite3.Connection] | None = self._local.__dict__.pop("held", None)
        if held is not None and held[0] == os.getpid():
            held[1].close()


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def _blank() -> sqlite3.Connection:
    """Return an empty database, for a file that does not exist yet."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA)
    return connection


@contextmanager
def translate_sqlite_errors(path: Path, place: str = "") -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise DatabaseError(f"not a text that can be stored: {error}", path=path) from error
    except sqlite3.Error as error:
        text = str(error)
        if _is_busy(error):
            text = f"another process has been writing for {PATIENCE:g} s; wait for it, or end it"
        elif "malformed" in text or "not a database" in text:
            text = f"damaged: {text}. The file is left as it is; restore it from a copy"
        raise DatabaseError(text, path=path, place=place) from error
