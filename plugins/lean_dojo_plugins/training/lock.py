"""One run in a folder at a time: two would delete each other's checkpoints and numbers.

Runs with output folders of their own may export to one folder, the documented default: in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from accelerate import PartialState
from filelock import FileLock, Timeout

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.training.storage import told_when_unwritable

LOCK = ".run.lock"
EXPORT_LOCK = ".export.lock"
PATIENCE = 10.0
"""Seconds to wait: what loads a killed process's data ends a moment after it."""


@contextmanager
def run_lock(folder: Path | str, processes: PartialState) -> Iterator[None]:
    """Keep other runs out of an output folder; the main process does so for all of its run.

    What goes wrong there because nothing can be written is told as such.

    The system lets others in when the process ends, however it ends.

    Raises:
        UsageError: If another run is at work there.
        TrainingError: If the disk is full, or the folder may not be written.
    """
    if not processes.is_main_process:
        yield
        return
    with told_when_unwritable(Path(folder)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    lock = FileLock(Path(folder) / LOCK)
    try:
        held = lock.acquire(timeout=PATIENCE)
    except Timeout as error:
        raise UsageError(
            f"another process is training in {folder}; wait for it, end it, or use another folder"
        ) from error
    with held, told_when_unwritable(Path(folder)):
        yield


@contextmanager
def export_lock(data_path: Path) -> Iterator[None]:
    """Wait until no other run exports there: what is read then is what was exported."""
    data_path.mkdir(parents=True, exist_ok=True)
    with FileLock(data_path / EXPORT_LOCK):
        yield
