"""File locks for both formats, and a check for empty files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from lean_dojo_core.foreign import say
from lean_dojo_v2.errors import DatabaseError

PATIENCE = 120.0
"""Seconds to wait for other processes: writing a very large JSON file takes several."""
SAY_AFTER = 3.0
"""Seconds of waiting after which a message is printed."""


def say_waiting(path: Path | None, patience: float = PATIENCE) -> None:
    """Print on standard error that another process has locked the file."""
    say(f"{path}: another process is using it; waiting for at most {patience:g} s")


@contextmanager
def file_lock(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of a file: ``NAME.lock`` beside it (beside its target, if it is a link).

    The system releases it when the process ends.
    """
    target = path.resolve()
    lock = FileLock(target.with_name(f"{target.name}.lock"))
    try:
        try:
            lock.acquire(timeout=min(SAY_AFTER, patience))
        except Timeout:
            say_waiting(path, patience)
            lock.acquire(timeout=max(patience - SAY_AFTER, 0))
    except Timeout as error:
        raise DatabaseError(
            f"locked by another process for {patience:g} s; wait for it, or end it", path=path
        ) from error
    except OSError as error:
        raise DatabaseError(f"cannot be locked for writing: {error}", path=path) from error
    try:
        yield
    finally:
        lock.release()


def require_bytes(path: Path) -> None:
    """Refuse a missing file and an empty one, which is not a database but a remnant of one."""
    if not path.exists():
        raise DatabaseError("there is no such file", path=path)
    if path.stat().st_size == 0:
        raise DatabaseError(
            "has no bytes, as after a full disk or a broken copy. The file is left as it is; "
            "restore it from a copy, or remove it to begin a new database",
            path=path,
        )
