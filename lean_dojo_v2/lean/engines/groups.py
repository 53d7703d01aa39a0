"""Run programs in process groups, so that their children end with them.

Lake runs Lean as its child: killing only ``lake`` would leave a running ``lean`` behind.
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
    """Run a program without input in its own process group, killed on failure.

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
        except BaseException:  # a timeout, or Ctrl-C, which does not reach the group
            kill_group(process)
            raise
    return subprocess.CompletedProcess(list(argv), process.returncode, output, errors)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the leader of a process group, and its children."""
    if process.returncode is None:  # its pid cannot be reused before it is reaped
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
