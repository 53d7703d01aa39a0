"""Questions about other processes, each of which may end between two of them."""

from __future__ import annotations

import psutil


def is_over(process: int | psutil.Process) -> bool:
    """Whether a process has ended, even if nobody has asked for its exit code yet."""
    try:
        one = psutil.Process(process) if isinstance(process, int) else process
        return not one.is_running() or one.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # also of a zombie
        return True


def kill(process: psutil.Process) -> None:
    """Kill a process that may have ended."""
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return
