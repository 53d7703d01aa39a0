"""Locks: one run per folder at a time, since two would delete each other's files.

Runs with different output folders may export to the same folder, the default, in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.training.run_folder import report_write_errors

if TYPE_CHECKING:
    from accelerate import PartialState

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
