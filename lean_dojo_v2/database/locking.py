"""One writer at a time, among all processes that use a database file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from lean_dojo_core.errors import DatabaseError

PATIENCE = 120.0
"""Seconds to wait for other processes: writing a very large JSON file takes several."""


@contextmanager
def file_lock(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of a file: ``NAME.lock`` beside it (beside its target, if it is a link).

    The system releases it when the process ends, however it ends.

    Raises:
        DatabaseError: If another process holds it for longer than ``patience`` seconds.
    """
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(target.with_name(f"{target.name}.lock"))
    try:
        lock.acquire(timeout=patience)
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
