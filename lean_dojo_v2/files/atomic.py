"""Write files so that a reader sees the old content or the new, never half of it."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lean_dojo_core.errors import UsageError


@contextmanager
def atomic_writer(path: Path | str) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path``; on success flush it to disk and rename it there.

    Missing parent folders are made. The mode of an existing file is kept. A symbolic link is
    written through, not replaced. After an error ``path`` is unchanged.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as stream:
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o7777)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    flush(target.parent)  # makes the rename itself durable


def atomic_write_bytes(path: Path | str, data: bytes) -> None:
    """Replace the content of ``path`` by ``data`` in one step."""
    with atomic_writer(path) as stream:
        stream.write(data)


def atomic_write_text(path: Path | str, text: str) -> None:
    """Replace the content of ``path`` by ``text`` (UTF-8) in one step."""
    atomic_write_bytes(path, text.encode())


def flush(path: Path) -> None:
    """Force a file's content to disk, or a folder's entries if the system supports it."""
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def require_writable(folder: Path, what: str) -> None:
    """Raise a ``UsageError`` if a folder cannot be written or created; leaves no trace.

    ``what``, the setting or option that names it, begins the message.
    """
    import tempfile

    there = next(
        place for place in (folder.absolute(), *folder.absolute().parents) if place.exists()
    )
    if not there.is_dir():
        raise UsageError(f"{what}: {folder} cannot be a folder: {there} is a file")
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise UsageError(f"{what}: {folder} cannot be written: {error.strerror}") from error
