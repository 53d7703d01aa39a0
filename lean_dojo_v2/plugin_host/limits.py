"""Code of a plugin that takes long: it is said, and it is given up where it has a limit."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

SAY_AFTER = 60.0
"""Seconds after which, and after each of which, one says who has not come back."""

T = TypeVar("T")


class OutOfTimeError(Exception):
    """Code of a plugin did not come back in its time."""


def watched(call: Callable[[], T], who: str, timeout: float | None = None) -> T:
    """Call a function of a plugin, and say on standard error when it does not come back.

    Args:
        call: The call.
        who: What is called, for messages.
        timeout: Seconds that it may take. Then it runs in a thread of its own, which is left behind
            when its time is over, for no thread can be stopped. ``None``: it may take for ever.

    Raises:
        OutOfTimeError: If its time is over.
    """
    if timeout is None:
        over = threading.Event()
        watcher = threading.Thread(target=_say_until, args=(over, who), daemon=True)
        watcher.start()
        try:
            return call()
        finally:
            over.set()
    return _limited(call, who, timeout)


def _say_until(over: threading.Event, who: str) -> None:
    seconds = 0.0
    while not over.wait(SAY_AFTER):
        seconds += SAY_AFTER
        _say(who, seconds)


def _limited(call: Callable[[], T], who: str, timeout: float) -> T:
    over = threading.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)
        finally:
            over.set()

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), daemon=True).start()
    spent = 0.0
    while not over.wait(min(SAY_AFTER, timeout - spent)):
        spent += min(SAY_AFTER, timeout - spent)
        if spent >= timeout:
            raise OutOfTimeError(f"has run for more than {timeout:g} s")
        _say(who, spent)
    if errors:
        raise errors[0]
    return results[0]


def _say(who: str, seconds: float) -> None:
    if sys.stderr is not None:
        print(f"{who} has run for {seconds:.0f} s", file=sys.stderr, flush=True)
