"""Run programs so that nothing they start outlives the call.

Lake runs Lean as its child: who kills ``lake`` alone leaves a ``lean`` behind that computes on.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path


def run_group(
    argv: Sequence[str], *, cwd: Path, timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """Run a program without input in a process group of its own; the group is killed at a bad end.

    Raises:
        subprocess.TimeoutExpired: It took longer than ``timeout`` seconds.
        OSError: It cannot be started.
    """
    with subprocess.Popen(
        list(argv),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except BaseException:  # too late, or Ctrl-C, which does not reach another group
            kill_group(process)
            raise
    return subprocess.CompletedProcess(list(argv), process.returncode, output, errors)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a group, and what it started."""
    if process.returncode is None:  # as long as it is not reaped, its number is nobody else's
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
