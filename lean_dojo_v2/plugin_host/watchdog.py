"""Code of a plugin that takes long: it is said, and it is given up where it has a limit."""

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
"""Seconds after which one says who has not come back."""
SAY_AGAIN = 60.0
"""Seconds after each of which one says it again."""

T = TypeVar("T")


class OutOfTimeError(Exception):
    """Code of a plugin did not come back in its time."""


@contextlib.contextmanager
def said_when_slow(who: str) -> Iterator[None]:
    """Say on standard error, from time to time, that what happens inside goes on.

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
    """Call a function of a plugin, say on standard error when it is slow, and give it up in time.

    In the main thread the function is interrupted as by Ctrl-C; if it goes on nevertheless, the
    process ends with exit code 1. Elsewhere it runs in a thread of its own, which is left behind.

    Args:
        call: The call.
        who: What is called, for messages.
        timeout: Seconds that it may take. ``None``: it may take for ever.

    Raises:
        OutOfTimeError: If its time is over.
    """
    if timeout is None:
        with said_when_slow(who):
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
                time.sleep(0.1)  # the signal has been sent; it comes here, not later
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
    """Wait for a call, saying from time to time that one does; tell whether it came back."""
    spent, pause = 0.0, SAY_AFTER
    while not over.wait(min(pause, timeout - spent)):
        spent += min(pause, timeout - spent)
        pause = SAY_AGAIN
        if spent >= timeout:
            return False
        if sys.stderr is not None:
            print(f"{who} has run for {spent:.0f} s", file=sys.stderr, flush=True)
    return True
