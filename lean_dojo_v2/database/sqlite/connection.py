"""Connections to SQLite files, counted because of POSIX locks.

SQLite locks with POSIX locks, and a process loses all of its locks on a file as soon as it closes
*any* descriptor of that file. So a file must not be opened and closed in any other way while this
process is connected to it. Connections are counted, and a file's header is read only if there are
none.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections import Counter
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

from lean_dojo_v2.database.locking import SAY_AFTER
from lean_dojo_v2.database.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION
from lean_dojo_v2.errors import DatabaseError

_FileId: TypeAlias = tuple[int, int]

_mutex = threading.Lock()
_connections: Counter[_FileId] = Counter()


class FileConnection(sqlite3.Connection):
    """A connection that is counted until it is closed or forgotten."""

    release: weakref.finalize[..., FileConnection]

    def close(self) -> None:
        """Close it."""
        super().close()
        self.release()


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Connect to an existing database; with ``read_only`` no file is written or created."""
    mode = "mode=rw"
    writable = os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)
    if read_only or not writable:
        # Without a log nobody writes it; SQLite would create one even to read.
        mode = "mode=ro" if file_size(_log_of(path)) else "immutable=1"
    uri = f"file:{quote(str(path.resolve()))}?{mode}"
    with _mutex:
        file = _file_id(path)
        connection = sqlite3.connect(
            uri, uri=True, timeout=SAY_AFTER, isolation_level=None, factory=FileConnection
        )
        _connections[file] += 1
    connection.release = weakref.finalize(connection, _forget, file)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -8192")
    return connection


def check_header_if_unused(path: Path) -> None:
    """Check a file's header, unless this process is connected to it and so has checked before.

    Raises:
        DatabaseError: If the file is not a complete database of ours.
    """
    with _mutex:
        if not _connections[_file_id(path)]:
            _check_header(path)


def _forget(file: _FileId) -> None:
    # Without the mutex: the garbage collector may call this inside a block that holds it.
    _connections[file] -= 1


def _file_id(path: Path) -> _FileId:
    status = path.stat()
    return (status.st_dev, status.st_ino)


def _check_header(path: Path) -> None:
    """Check without SQLite whether a file is a complete database of ours."""
    try:
        with path.open("rb") as stream:
            header = stream.read(100)
    except OSError as error:
        raise DatabaseError(f"cannot be read: {error.strerror}", path=path) from error
    if not header.startswith(b"SQLite format 3\0"[: len(header)]):
        message = "not an SQLite file. The file is left as it is; a JSON database ends in .json"
        raise DatabaseError(message, path=path, place="byte 0")
    pages, size = int.from_bytes(header[28:32]), file_size(path)
    page = int.from_bytes(header[16:18])
    expected = pages * (65536 if page == 1 else page)
    # While there is a log, the file may lag behind its header.
    if len(header) < 100 or (size < expected and not file_size(_log_of(path))):
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


def file_size(path: Path) -> int:
    """Return a file's size in bytes; 0 if there is none."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0
