"""Third-party code: kept off standard output while it loads, and reported when it runs long.

The caller catches what such code raises, including ``SystemExit``, and names the plugin.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TypeVar

from lean_dojo_core.errors import PluginError

SAY_AFTER = 10.0
"""Seconds after which a call that is still running is reported."""

T = TypeVar("T")


class OutOfTimeError(PluginError):
    """Third-party code exceeded the time limit that the user set."""


@contextmanager
def reported_when_slow(who: str) -> Iterator[None]:
    """Say on standard error that ``who`` runs, once the block has for :data:`SAY_AFTER` seconds."""
    timer = threading.Timer(SAY_AFTER, say, [f"{who} has run for {SAY_AFTER:g} s"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def say(text: str) -> None:
    """Write a line on standard error, if there is one, at once."""
    if sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)


@contextmanager
def loading(who: str) -> Iterator[None]:
    """Import third-party code in the block: what it prints goes to standard error."""
    with redirect_stdout(sys.stderr), reported_when_slow(f"loading {who}"):
        yield


def watched(call: Callable[[], T], who: str, timeout: float | None = None) -> T:
    """Call third-party code of ``who``, reporting if it is slow.

    With a ``timeout`` in seconds it runs in a thread of its own, which is abandoned with an
    :class:`OutOfTimeError` when they are over.
    """
    with reported_when_slow(who):
        return call() if timeout is None else _limited(call, timeout)


def _limited(call: Callable[[], T], timeout: float) -> T:
    from concurrent.futures import Future  # slow to import, and seldom used

    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return outcome.result(timeout)
    except TimeoutError:
        if outcome.done():  # the code itself raised it
            raise
        raise OutOfTimeError(f"has run for more than {timeout:g} s") from None
