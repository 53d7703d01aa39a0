"""What embedded engines start from, in the user's cache: images of memory, and machine code.

Each is one file, which all engines of its kind read. It appears atomically, by a rename. An engine
keeps its image open and reads its machine code whole, so either may be deleted at any time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeAlias

from filelock import FileLock

from lean_dojo_v2.files import CACHE_VARIABLE, user_cache
from lean_dojo_v2.lean.errors import EngineUnavailableError

_KEPT = 8
"""Number of files kept of each kind; the least recently used are deleted first."""

Make: TypeAlias = Callable[[IO[bytes]], None]
"""Writes the content to an open file, or raises EngineUnavailableError."""


def find_kept(name: str) -> Path | None:
    """Return a file if it is there and ours. Its name ends with its kind, as in ``3cfd.image``."""
    path = _path(name)
    try:
        return path if _touched(path) else None
    except OSError:
        return None


def kept(name: str, make: Make) -> Path:
    """Return a file; let it be made if it is not there.

    Raises:
        EngineUnavailableError: It cannot be made or written.
    """
    target = _path(name)
    home = target.parent
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not _touched(target):
            with FileLock(home / ".lock"):
                if not _touched(target):
                    _write(target, make)
                    _delete_old(target)
    except OSError as error:
        raise EngineUnavailableError(
            f"What an engine starts from cannot be written into {home}: {error}. Make room or "
            f"set {CACHE_VARIABLE} to another folder."
        ) from error
    return target


def _path(name: str) -> Path:
    return user_cache().absolute() / name.rpartition(".")[2] / name


def _touched(path: Path) -> bool:
    """Note that a file is used; false if it is not there."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _write(target: Path, make: Make) -> None:
    for left in target.parent.glob(".partial-*"):  # by a process that was killed
        left.unlink()
    descriptor, name = tempfile.mkstemp(prefix=".partial-", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            make(stream)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink()
        raise


def _delete_old(newest: Path) -> None:
    alike = newest.parent.glob(f"*{newest.suffix}")
    for path in sorted(alike, key=lambda path: path.stat().st_mtime)[:-_KEPT]:
        path.unlink()
