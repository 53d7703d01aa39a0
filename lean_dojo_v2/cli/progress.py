"""A word now and then about work that takes long: a bar on a terminal, elsewhere a line."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lean_dojo_v2.cli.output import note

EVERY = 30.0
"""Seconds between two lines."""


@contextmanager
def said_now_and_then(say: Callable[[], str], every: float = EVERY) -> Iterator[None]:
    """Print a line on standard error every so often, whatever the work is busy with.

    Args:
        say: Gives the line; called from another thread.
        every: Seconds between two lines; on a terminal the last line is written over every second.
    """
    on_terminal = sys.stderr.isatty()
    over = threading.Event()
    started = time.monotonic()

    def tell() -> None:
        while not over.wait(1.0 if on_terminal else every):
            line = f"{say()}, {_duration(time.monotonic() - started)}"
            if on_terminal:
                sys.stderr.write(f"\r\x1b[2K{line}")
                sys.stderr.flush()
            else:
                note(line)

    thread = threading.Thread(target=tell, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        if on_terminal:
            sys.stderr.write("\r\x1b[2K")


def _duration(seconds: float) -> str:
    """Write a time for people.

    >>> _duration(42.2), _duration(4000)
    ('42 s', '1:06:40')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes = f"{rest // 60:02}:{rest % 60:02}"
    return f"{hours}:{minutes}" if hours else minutes.removeprefix("0")
