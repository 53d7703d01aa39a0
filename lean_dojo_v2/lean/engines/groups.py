"""Run programs so that nothing they start outlives the call.

Lake runs Lean as its child: who kills ``lake`` alone leaves a ``lean`` behind that computes on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lean_dojo_core.errors import LeanError


class ProcessGroups:
    """Runs programs, from any thread, each in a process group of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def run(
        self, argv: Sequence[str], *, cwd: Path, timeout: float
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program without input; its whole group is killed if the call does not end well.

        Raises:
            subprocess.TimeoutExpired: It took longer than ``timeout`` seconds.
            OSError: It cannot be started.
            LeanError: :meth:`stop` was called before.
        """
        with self._started(argv, cwd) as process:
            output, errors = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(list(argv), process.returncode, output, errors)

    def stop(self) -> None:
        """Kill what runs in other threads, and start nothing any more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                kill_group(process)

    @contextmanager
    def _started(self, argv: Sequence[str], cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
        with self._lock:
            if self._stopped:
                raise LeanError(f"{' '.join(argv)} was not run: the work was stopped")
            process = subprocess.Popen(
                list(argv),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            with process:
                try:
                    yield process
                except BaseException:  # too late, or Ctrl-C, which does not reach another group
                    kill_group(process)
                    raise
        finally:
            with self._lock:
                self._running.discard(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a group, and what it started."""
    if process.returncode is None:  # as long as it is not reaped, its number is nobody else's
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
