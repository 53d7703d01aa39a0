"""Locks: one run per folder at a time, since two would delete each other's files.

Runs with different output folders may export to the same folder, the default, in turn. Errors of
writing, such as a full disk, become one message for all libraries.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from accelerate import PartialState
from filelock import FileLock, Timeout
from safetensors import SafetensorError

from lean_dojo_core.errors import LeanDojoError, UsageError
from lean_dojo_v2.errors import TrainingError

LOCK = ".run.lock"
EXPORT_LOCK = ".export.lock"
PATIENCE = 10.0
"""Seconds to wait, since children of a killed process end a moment after it."""


@contextmanager
def run_lock(folder: Path | str, processes: PartialState) -> Iterator[None]:
    """Lock an output folder, on the main process; released by the system when the process ends.

    Raises:
        UsageError: If another run is using it.
        TrainingError: If the disk is full, or the folder may not be written.
    """
    if not processes.is_main_process:
        yield
        return
    with report_write_errors(Path(folder)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    lock = FileLock(Path(folder) / LOCK)
    try:
        held = lock.acquire(timeout=PATIENCE)
    except Timeout as error:
        raise UsageError(
            f"another process is training in {folder}; wait for it, end it, or use another folder"
        ) from error
    with held, report_write_errors(Path(folder)):
        yield


@contextmanager
def export_lock(data_path: Path) -> Iterator[None]:
    """Lock an export folder, waiting for other runs, so that exported data is read unchanged."""
    data_path.mkdir(parents=True, exist_ok=True)
    with FileLock(data_path / EXPORT_LOCK):
        yield


_NUMBERS = {
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO,
}  # fmt: skip
_WRITERS = ("PytorchStreamWriter", "iostream error", "(os error ")
"""Messages of torch and safetensors for system errors."""
_LITTLE = 1 << 20
"""Minimum free space for a checkpoint, in bytes."""


@contextmanager
def report_write_errors(folder: Path) -> Iterator[None]:
    """Turn a library's error of writing into a TrainingError with place and reason."""
    try:
        yield
    except LeanDojoError:
        raise
    except Exception as error:
        reason = _reason(error, folder)
        if not reason:
            raise
        raise TrainingError(
            f"{folder}: cannot be written: {reason}. What was saved before is complete; free "
            "space, or make the folder writable, and repeat the command to resume"
        ) from error


def _reason(error: BaseException, folder: Path) -> str:
    """Return why writing failed; empty for another kind of error."""
    one: BaseException | None = error
    while one is not None:
        if isinstance(one, OSError) and one.errno in _NUMBERS:
            file = one.filename
            where = f" ({os.fsdecode(file)})" if isinstance(file, (str, bytes, Path)) else ""
            return f"{one.strerror}{where}"
        if isinstance(one, (SafetensorError, RuntimeError)) and any(
            w in str(one) for w in _WRITERS
        ):
            if shutil.disk_usage(folder).free < _LITTLE:
                return os.strerror(errno.ENOSPC)
            return " ".join(str(one).split())[:200]
        one = one.__cause__ or one.__context__
    return ""
