"""An SQLite file, and this process's connections to it."""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

import attrs

from lean_dojo_v2.database import locking
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


class FileConnection(sqlite3.Connection):
    """A connection to which there are weak references."""


_open: weakref.WeakValueDictionary[int, FileConnection] = weakref.WeakValueDictionary()
_across_forks: list[list[FileConnection]] = []
"""In a forked process: the parents' connections, which SQLite forbids to use or close there.

They are recorded before the fork, since the child loses the other threads' references.
"""


def _note_open() -> None:
    _across_forks.append([one for known in _open.valuerefs() if (one := known()) is not None])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_note_open, after_in_parent=_across_forks.pop)


@attrs.define
class SqliteFile:
    """A database file and this process's connections to it, one per thread.

    Write-ahead logging lets any number of processes read while one writes. It needs a local
    disk: the processes share memory through a file beside the database. SQLite's errors
    become a ``DatabaseError`` that names the file. A missing file is created by the first change;
    with ``read_only`` it is an error, and nothing is written, created or locked.
    """

    path: Path
    read_only: bool = False
    _local: threading.local = attrs.field(factory=threading.local, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.read_only or self.path.exists():
            locking.require_bytes(self.path)
            with translate_sqlite_errors(self.path):
                self._patiently(self._check)

    def rows(self, sql: str, values: Iterable[Any] = ()) -> list[Row]:
        """Run a query and return all rows; none if there is no file yet."""
        if not self._is_there():
            return []
        with translate_sqlite_errors(self.path):
            connection = self._connection()
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

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write as the only writer, atomically."""
        with translate_sqlite_errors(self.path):
            if not self._is_there():
                with locking.file_lock(self.path):
                    if not self.path.exists():
                        _create(self.path)
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

    def _is_there(self) -> bool:
        """Whether there is a database; before the first change there may be none."""
        return hasattr(self._local, "held") or self.path.exists()

    def _connection(self) -> sqlite3.Connection:
        held: tuple[int, sqlite3.Connection] | None = getattr(self._local, "held", None)
        # A connection must not cross a fork; the parent's is left to the parent, see _across_forks.
        if held is None or held[0] != os.getpid():
            opened = self._patiently(lambda: _connect(self.path, read_only=self.read_only))
            self._local.held = held = (os.getpid(), opened)
        return held[1]

    def _check(self) -> None:
        """Refuse what is not a complete database of ours."""
        with closing(_connect(self.path, read_only=self.read_only)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema")  # refuses a file cut off
            ((ours,),) = connection.execute("PRAGMA application_id")
            ((version,),) = connection.execute("PRAGMA user_version")
            ((page,),) = connection.execute("PRAGMA page_size")
        if self.path.stat().st_size % page:  # SQLite overlooks a cut in the last page
            raise sqlite3.DatabaseError("malformed: the file is cut off")
        if ours != APPLICATION_ID:
            message = "an SQLite database of another program. The file is left as it is"
            raise DatabaseError(message, path=self.path)
        if version < SCHEMA_VERSION:
            message = f"written by an earlier build (schema {version}, known is {SCHEMA_VERSION})"
            raise DatabaseError(f"{message}: trace its repositories again", path=self.path)
        if version > SCHEMA_VERSION:
            message = f"written by a newer version (schema {version}, known are {SCHEMA_VERSION})"
            raise DatabaseError(f"{message}: update lean-dojo-v2", path=self.path)

    def _patiently(self, call: Callable[[], T]) -> T:
        """Retry a call while another process holds the lock; report that once."""
        end, said = time.monotonic() + locking.PATIENCE, False
        while True:
            try:
                return call()
            except sqlite3.OperationalError as error:
                if not _is_busy(error):
                    raise
                if not said:
                    locking.say_waiting(self.path)
                if time.monotonic() > end:
                    raise
                said = True

    def close(self) -> None:
        """Close this thread's connection; the next query opens another."""
        held: tuple[int, sqlite3.Connection] | None = self._local.__dict__.pop("held", None)
        if held is not None and held[0] == os.getpid():
            held[1].close()


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Connect to an existing database; with ``read_only`` no file is written or created."""
    mode = "mode=rw"
    real = path.resolve()
    if read_only or not (os.access(path, os.W_OK) and os.access(real.parent, os.W_OK)):
        # Without a log nobody writes it; SQLite would create one even to read.
        mode = "mode=ro" if _size(real.with_name(f"{real.name}-wal")) else "immutable=1"
    connection = sqlite3.connect(
        f"file:{quote(str(real))}?{mode}",
        uri=True,
        timeout=locking.SAY_AFTER,
        isolation_level=None,
        factory=FileConnection,
    )
    _open[id(connection)] = connection
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -8192")
    return connection


def _size(file: Path) -> int:
    """Return a file's size in bytes; 0 for one that is missing, perhaps since a moment ago."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


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
            seconds = locking.PATIENCE
            text = f"another process has been writing for {seconds:g} s; wait for it, or end it"
        elif "not a database" in text:
            text = "not an SQLite file. The file is left as it is; a JSON database ends in .json"
        elif "malformed" in text:
            text = f"damaged: {text}. The file is left as it is; restore it from a copy"
        raise DatabaseError(text, path=path) from error
