"""Reports and time limits for slow code of plugins."""

from __future__ import annotations

import contextlib
import contextvars
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TypeVar

SAY_AFTER = 10.0
"""Seconds after which a slow call is reported."""
SAY_AGAIN = 60.0
"""Seconds between further reports."""

T = TypeVar("T")


class OutOfTimeError(Exception):
    """Code of a plugin exceeded its time limit."""


@contextlib.contextmanager
def report_when_slow(who: str) -> Iterator[None]:
    """Report on standard error, from time to time, that the block is still running.

    Args:
        who: Whose code is running, for messages.
    """
    over = threading.Event()
    threading.Thread(target=_wait, args=(over, who), daemon=True).start()
    try:
        yield
    finally:
        over.set()


def watched(call: Callable[[], T], who: str, timeout: float | None = None) -> T:
    """Call a function of a plugin, reporting on standard error if it is slow, with a time limit.

    In the main thread the function is interrupted as by Ctrl-C; if it ignores that, the process
    ends with exit code 1. Elsewhere it runs in a thread of its own, which is abandoned.

    Args:
        call: The call.
        who: Name of the callee, for messages.
        timeout: Time limit in seconds; ``None``: no limit.

    Raises:
        OutOfTimeError: If it exceeds the limit.
    """
    if timeout is None:
        with report_when_slow(who):
            return call()
    if threading.current_thread() is threading.main_thread():
        return _interrupted(call, who, timeout)
    return _left_behind(call, who, timeout)


def _interrupted(call: Callable[[], T], who: str, timeout: float) -> T:
    over, late, mutex = threading.Event(), threading.Event(), threading.Lock()
    caller = threading.get_ident()

    def watch() -> None:
        if _wait(over, who, timeout):
            return
        with mutex:
            if over.is_set():
                return
            late.set()
            signal.pthread_kill(caller, signal.SIGINT)
        if not over.wait(SAY_AFTER):
            if sys.stderr is not None:
                said = f"{who} has run for more than {timeout:g} s and cannot be interrupted"
                print(said, file=sys.stderr, flush=True)
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    try:
        try:
            result = call()
        finally:
            with mutex:
                over.set()
            if late.is_set():
                time.sleep(0.1)  # the signal arrives here, not later
    except KeyboardInterrupt:
        over.set()
        if not late.is_set():
            raise
    if late.is_set():
        raise OutOfTimeError(f"has run for more than {timeout:g} s")
    return result


def _left_behind(call: Callable[[], T], who: str, timeout: float) -> T:
    over = threading.Event()
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)
        finally:
            over.set()

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), daemon=True).start()
    if not _wait(over, who, timeout):
        raise OutOfTimeError(f"has run for more than {timeout:g} s")
    return outcome.result()


def _wait(over: threading.Event, who: str, timeout: float = math.inf) -> bool:
    """Wait for a call, reporting from time to time; return whether it ended."""
    spent, pause = 0.0, SAY_AFTER
    while not over.wait(min(pause, timeout - spent)):
        spent += min(pause, timeout - spent)
        pause = SAY_AGAIN
        if spent >= timeout:
            return False
        if sys.stderr is not None:
            print(f"{who} has run for {spent:.0f} s", file=sys.stderr, flush=True)
    return True
