"""An SQLite file: connections, snapshots, transactions, errors."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

import attrs

from lean_dojo_v2.database.locking import (
    PATIENCE,
    SAY_AFTER,
    file_lock,
    require_bytes,
    say_waiting,
)
from lean_dojo_v2.errors import DatabaseError

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]

APPLICATION_ID = 0x4C444A32
"""``LDJ2`` in the file's header marks our databases."""
SCHEMA_VERSION = 2
SCHEMA = """
CREATE TABLE repository (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    revision TEXT NOT NULL,  -- the commit; "commit" is a word of SQL
    header TEXT NOT NULL,  -- JSON of its other fields
    UNIQUE (url, revision)
);
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    repository INTEGER NOT NULL REFERENCES repository ON DELETE CASCADE,
    list INTEGER NOT NULL,  -- index into COLLECTIONS
    position INTEGER NOT NULL,  -- order within the list; may have gaps
    path TEXT NOT NULL,
    record TEXT NOT NULL  -- JSON, as in dynamic_database.json
);
CREATE INDEX item_order ON item (repository, list, position);
CREATE INDEX item_path ON item (repository, list, path, position);
"""


@attrs.define
class SqliteFile:
    """A database file. Each call opens it anew; inside a block, a thread keeps its connection.

    So none is open when a process forks, which SQLite forbids. Write-ahead logging lets any number
    of processes read while one writes. It needs a local disk: the processes share memory through a
    file beside the database. SQLite's errors become a ``DatabaseError`` that names the file.

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
            with self._connected() as connection:
                self._patiently(lambda: self._check(connection))

    def rows(self, sql: str, values: Iterable[Any] = ()) -> list[Row]:
        """Run a query and return all rows; none if there is no file yet."""
        if not self.path.exists():
            return []
        with self._connected() as connection:
            return self._patiently(lambda: connection.execute(sql, tuple(values)).fetchall())

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let every query inside see the same state, despite concurrent writers."""
        if not self.path.exists():
            yield
            return
        with self._connected() as connection:
            if connection.in_transaction:
                yield
                return
            connection.execute("BEGIN")
            try:
                yield
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write as the only writer, atomically."""
        if not self.path.exists():
            with translate_sqlite_errors(self.path), file_lock(self.path):
                if not self.path.exists():
                    _create(self.path)
        with self._connected() as connection:
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

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection of the block around, or a new one."""
        held: tuple[int, sqlite3.Connection] | None = getattr(self._local, "held", None)
        with translate_sqlite_errors(self.path):
            if held is not None and held[0] == os.getpid():
                yield held[1]
                return
            opened = self._patiently(lambda: _connect(self.path, read_only=self.read_only))
            with closing(opened):
                self._local.held = (os.getpid(), opened)
                try:
                    yield opened
                finally:
                    self._local.held = held

    def _check(self, connection: sqlite3.Connection) -> None:
        """Refuse what is not a complete database of ours."""
        connection.execute("SELECT count(*) FROM sqlite_schema")  # refuses a file cut off
        ((ours,),) = connection.execute("PRAGMA application_id")
        ((version,),) = connection.execute("PRAGMA user_version")
        ((page,),) = connection.execute("PRAGMA page_size")
        if self.path.stat().st_size % page:  # SQLite overlooks a cut in the last page
            raise sqlite3.DatabaseError("malformed: the file is cut off")
        if ours != APPLICATION_ID:
            message = "an SQLite database of another program. The file is left as it is"
            raise DatabaseError(message, path=self.path)
        if version != SCHEMA_VERSION:
            message = f"written by another version (schema {version}, known is {SCHEMA_VERSION})"
            raise DatabaseError(f"{message}: use that lean-dojo-v2", path=self.path)

    def _patiently(self, call: Callable[[], T]) -> T:
        """Retry a call while another process holds the lock; report once that this takes long."""
        start, said = time.monotonic(), False
        while True:
            try:
                return call()
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - start
                if not _is_busy(error):
                    raise
                if not said and waited > SAY_AFTER / 2:  # opening and closing fail at once
                    say_waiting(self.path)
                    said = True
                if waited > PATIENCE:
                    raise
                time.sleep(0.01)


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Connect to an existing database; with ``read_only`` no file is written or created."""
    mode = "mode=rw"
    real = path.resolve()
    if read_only or not (os.access(path, os.W_OK) and os.access(real.parent, os.W_OK)):
        # Without a log nobody writes it; SQLite would create one even to read.
        log = real.with_name(f"{real.name}-wal")
        mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    connection = sqlite3.connect(
        f"file:{quote(str(real))}?{mode}",
        uri=True,
        timeout=SAY_AFTER,
        isolation_level=None,
    )
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -8192")
    return connection


def _create(path: Path) -> None:
    """Create an empty database under another name and rename it into place."""
    temporary = path.resolve().with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size = 8192")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.executescript(SCHEMA)
        connection.execute("PRAGMA journal_mode = WAL")
    temporary.replace(path.resolve())


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


@contextmanager
def translate_sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise DatabaseError(f"not a text that can be stored: {error}", path=path) from error
    except sqlite3.Error as error:
        text = str(error)
        if _is_busy(error):
            text = f"another process has been writing for {PATIENCE:g} s; wait for it, or end it"
        elif "not a database" in text:
            text = "not an SQLite file. The file is left as it is; a JSON database ends in .json"
        elif "malformed" in text:
            text = f"damaged: {text}. The file is left as it is; restore it from a copy"
        raise DatabaseError(text, path=path) from error
