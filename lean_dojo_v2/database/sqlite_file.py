"""An SQLite file of ours: its schema, how it is opened, and how its errors are told."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import attrs

from lean_dojo_core.errors import DatabaseError
from lean_dojo_v2.database.locking import PATIENCE, file_lock

Row: TypeAlias = tuple[Any, ...]

APPLICATION_ID = 0x4C444A32
"""``LDJ2`` in the file's header: tells our databases from other people's."""
SCHEMA_VERSION = 1

SCHEMA = """
CREATE TABLE repository (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    revision TEXT NOT NULL,  -- the commit; "commit" is a word of SQL
    name TEXT NOT NULL,
    lean_version TEXT NOT NULL,
    lean_dojo_version TEXT NOT NULL,
    metadata BLOB NOT NULL,  -- JSON
    pr_url TEXT,
    UNIQUE (url, revision)
);
-- What is asked about theorems without reading them; rows are small, so a scan is cheap.
CREATE TABLE theorem (
    id INTEGER PRIMARY KEY,
    repository INTEGER NOT NULL REFERENCES repository ON DELETE CASCADE,
    list INTEGER NOT NULL,  -- 0 proven, 1 sorry and proved since, 2 sorry
    position INTEGER NOT NULL,  -- order within the list; may have gaps
    full_name TEXT NOT NULL,
    file_path TEXT NOT NULL,
    difficulty REAL,
    identity BLOB NOT NULL,  -- see ExportEntry
    name BLOB NOT NULL,
    random INTEGER NOT NULL,
    novel_premises INTEGER NOT NULL,
    digest BLOB NOT NULL  -- of the record
);
CREATE INDEX theorem_order ON theorem (repository, list, position);
CREATE INDEX theorem_name ON theorem (repository, full_name);
CREATE TABLE theorem_record (
    id INTEGER PRIMARY KEY REFERENCES theorem ON DELETE CASCADE,
    line BLOB NOT NULL,  -- the theorem exactly as it stands in an exported split
    extra BLOB  -- what an exported split leaves out
);
CREATE TABLE premise_file (
    id INTEGER PRIMARY KEY,
    repository INTEGER NOT NULL REFERENCES repository ON DELETE CASCADE,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    num_premises INTEGER NOT NULL,
    imports BLOB NOT NULL,  -- JSON
    line BLOB NOT NULL  -- the file exactly as it stands in corpus.jsonl
);
CREATE INDEX premise_file_order ON premise_file (repository, position);
CREATE INDEX premise_file_path ON premise_file (repository, path);
CREATE TABLE traced_file (
    repository INTEGER NOT NULL REFERENCES repository ON DELETE CASCADE,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (repository, position)
) WITHOUT ROWID;
"""


@attrs.define
class SqliteFile:
    """A database file and this process's connections to it, one a thread.

    Write-ahead logging lets any number of processes read while one writes. It needs a local
    disk: the processes share memory through a file beside the database.

    Attributes:
        path: The file; made if it is missing or has no bytes.
    """

    path: Path
    _local: threading.local = attrs.field(factory=threading.local, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if _size(self.path) == 0:
            with file_lock(self.path), self.guard():
                if _size(self.path) == 0:
                    _create(self.path)
        check_header(self.path)

    # --- reading -------------------------------------------------------------------------------

    def rows(self, sql: str, values: Iterable[Any] = (), *, place: str = "") -> list[Row]:
        """Run a query and give all of its rows."""
        with self.guard(place):
            return self._connection().execute(sql, tuple(values)).fetchall()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let every query inside see the same state, whatever others write meanwhile."""
        with self.guard():
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
        """Write as the only writer: all of it is stored at the end, or nothing.

        Raises:
            DatabaseError: If another process has been writing for longer than two minutes.
        """
        with self.guard():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    # --- connections ---------------------------------------------------------------------------

    def _connection(self) -> sqlite3.Connection:
        held: tuple[int, sqlite3.Connection] | None = getattr(self._local, "held", None)
        # A connection must not cross a fork; the parent's is left to the parent.
        if held is None or held[0] != os.getpid():
            held = (os.getpid(), _connect(self.path))
            self._local.held = held
        return held[1]

    def close(self) -> None:
        """Close this thread's connection; the next query opens another."""
        held: tuple[int, sqlite3.Connection] | None = self._local.__dict__.pop("held", None)
        if held is not None and held[0] == os.getpid():
            held[1].close()

    @contextmanager
    def guard(self, place: str = "") -> Iterator[None]:
        """Tell SQLite's errors as ours, with the file."""
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "locked" in text or "busy" in text:
                text = (
                    f"another process has been writing for {PATIENCE:g} s; wait for it, or end it"
                )
            elif "malformed" in text or "not a database" in text:
                text = f"damaged: {text}. The file is left as it is; restore it from a copy"
            raise DatabaseError(text, path=self.path, place=place) from error


def _connect(path: Path) -> sqlite3.Connection:
    mode = "mode=rw"
    if not os.access(path, os.W_OK) or not os.access(path.resolve().parent, os.W_OK):
        # Shared data that nobody may write: no log beside it, so it cannot change under us.
        mode = "mode=ro" if _size(_log_of(path)) else "immutable=1"
    uri = f"file:{quote(str(path.resolve()))}?{mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -32768")
    return connection


def _create(path: Path) -> None:
    """Make an empty database under another name and move it into place whole."""
    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    temporary = path.resolve().with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size = 8192")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.executescript(SCHEMA)
        connection.execute("PRAGMA journal_mode = WAL")
    temporary.replace(path.resolve())


def check_header(path: Path) -> None:
    """See without opening it whether a file is a whole database of ours.

    Raises:
        DatabaseError: If it is not; saying at which byte.
    """
    try:
        with path.open("rb") as stream:
            header = stream.read(100)
    except OSError as error:
        raise DatabaseError(f"cannot be read: {error.strerror}", path=path) from error
    if not header.startswith(b"SQLite format 3\0"[: len(header)]):
        message = "not an SQLite file. The file is left as it is; a JSON database ends in .json"
        raise DatabaseError(message, path=path, place="byte 0")
    pages, size = int.from_bytes(header[28:32]), _size(path)
    page = int.from_bytes(header[16:18])
    expected = pages * (65536 if page == 1 else page)
    # While a log lies beside it, the file may rightly lag behind its own header.
    if len(header) < 100 or (size < expected and not _size(_log_of(path))):
        message = (
            f"cut off: {size} of {max(expected, 100)} bytes are there. The file is left as "
            "it is; restore it from a copy"
        )
        raise DatabaseError(message, path=path, place=f"byte {size}")
    if int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise DatabaseError("an SQLite database of another program", path=path, place="byte 68")
    version = int.from_bytes(header[60:64])
    if version > SCHEMA_VERSION:
        message = f"written by a newer version (schema {version}, known are {SCHEMA_VERSION})"
        raise DatabaseError(f"{message}: update lean-dojo-v2", path=path, place="byte 60")


def _log_of(path: Path) -> Path:
    resolved = path.resolve()
    return resolved.with_name(f"{resolved.name}-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
