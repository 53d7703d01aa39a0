"""What engines start from, in the user's cache: programs, images of memory, and machine code.

Each is one file, which all engines of its kind read. It appears atomically, by a rename. An engine
keeps its image open and reads its machine code whole, so either may be deleted at any time.

A file's ``place`` is its path in the cache with ``*`` for its ``key``, as in ``image/*.image``.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

from filelock import FileLock

from lean_dojo_v2.files import CACHE_VARIABLE, atomic_writer, user_cache
from lean_dojo_v2.lean.errors import EngineUnavailableError

_KEPT = 8
"""Number of files kept in each place; the least recently used are deleted first."""

Make: TypeAlias = Callable[[IO[bytes]], object]
"""Writes the content to an open file, or raises EngineUnavailableError."""


def is_ours(path: Path) -> bool:
    """Whether a file is there, and ours; note that it is used."""
    try:
        os.utime(path)
    except OSError:
        return False
    return True


def find_kept(place: str, key: str) -> Path | None:
    """Return a file if it is there and ours."""
    path = user_cache().absolute() / place.replace("*", key)
    return path if is_ours(path) else None


def kept(place: str, key: str, make: Make, is_good: Callable[[Path], bool] = is_ours) -> Path:
    """Return a file, made if missing or no good; a failure is an EngineUnavailableError."""
    cache = user_cache().absolute()
    target = cache / place.replace("*", key)
    if is_good(target):
        return target
    with locked(cache / place.partition("*")[0], "What an engine starts from cannot be written"):
        if not is_good(target):
            for left in target.parent.glob(f".*{target.suffix}.*.tmp"):  # of a killed process
                left.unlink()
            with atomic_writer(target) as stream:
                make(stream)
            made = sorted(cache.glob(place), key=lambda path: path.stat().st_mtime)
            for old in made[:-_KEPT]:
                old.unlink()
    return target


@contextmanager
def locked(folder: Path, trouble: str) -> Iterator[None]:
    """Make a folder, where one process at a time may write; ``trouble`` begins the error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            yield
    except OSError as error:
        raise EngineUnavailableError(
            f"{trouble} into {folder}: {error}. Make room or set {CACHE_VARIABLE} to another "
            "folder."
        ) from error
