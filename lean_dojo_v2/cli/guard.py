"""Run the program in a watched child process.

Plugins and rewards are third-party code in our process. One that calls ``os._exit``, closes every
descriptor or crashes would end the program silently, possibly with the exit code of a success. So
the program runs in a child, which reports how it ended, while its parent only waits. Without a
report, the parent prints a message and its exit code is not 0. Signals are forwarded, and killing
the parent kills the child. Without ``fork`` and ``sigwaitinfo`` (Windows, macOS), the program runs
unwatched.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
from collections.abc import Callable

from lean_dojo_core import foreign

ENDED = 70
"""Exit code if third-party code ended the program (``EX_SOFTWARE``)."""

_NAME = 200
"""Bytes for the name of the running plugin."""
_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_ON_PURPOSE = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL", "SIGPIPE")
"""Signals that end a program: the parent ends by the same one, silently."""


def run(program: Callable[[], int]) -> int:
    """Run the program in a watched child, and return its exit code."""
    if not hasattr(os, "fork") or not hasattr(signal, "sigwaitinfo"):
        return program()
    passed_on = {getattr(signal, name) for name in _PASSED_ON}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*passed_on, signal.SIGCHLD})
    heard, said = _pipe()
    board = foreign.board = mmap.mmap(-1, _NAME)
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(heard)
        _die_with(parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return _reported(program, said)
    os.close(said)
    status = _wait(child, passed_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    os.set_blocking(heard, False)
    who = board[:].partition(b"\0")[0].decode(errors="replace")
    os._exit(_code(status, _read(heard), who))  # nothing needs cleaning up


def _pipe() -> tuple[int, int]:
    """Make a pipe whose descriptors are not those of standard streams, which may be closed."""
    import fcntl

    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


def _reported(program: Callable[[], int], said: int) -> int:
    """Run the program in the child, and report its exit code or error to the parent."""
    me = os.getpid()
    report = b"error"
    try:
        code = program()
        report = str(code).encode()
        return code
    finally:
        if os.getpid() == me:  # not in a process forked by the program
            try:
                os.write(said, report)
            except OSError:  # closed by other code; the parent reports it
                os._exit(ENDED)


def _wait(child: int, passed_on: set[signal.Signals]) -> int:
    """Wait for the child's end, passing signals on to it; return its wait status."""
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        received = signal.sigwaitinfo({*passed_on, signal.SIGCHLD})
        # The terminal sends Ctrl-C to the child, too; other senders have a pid.
        if received.si_signo != signal.SIGCHLD and received.si_pid:
            os.kill(child, received.si_signo)


def _read(heard: int) -> bytes:
    try:
        return os.read(heard, 100)
    except BlockingIOError:  # a leftover process still holds the other end
        return b""


def _code(status: int, report: bytes, who: str) -> int:
    """Return the program's exit code; report its end if it could not."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name
        if name in _ON_PURPOSE:
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        _say(f"the program crashed ({name}){_blame(who)}")
        return 128 + number
    code = os.WEXITSTATUS(status)
    if not report:
        _say(f"the program was ended unexpectedly (exit code {code}){_blame(who)}")
        return code or ENDED
    return code or (0 if report == b"0" else ENDED)


def _blame(who: str) -> str:
    by = f" by {who}" if who else ": code of a plugin, a reward or a library has done this"
    return f"{by}, for example by os._exit or by closing descriptors"


def _say(text: str) -> None:
    if sys.stderr is not None:
        print(f"Error: {text}", file=sys.stderr, flush=True)


def _die_with(parent: int) -> None:
    """Let the system kill this process when its parent ends (Linux)."""
    import ctypes

    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(128 + signal.SIGKILL)
