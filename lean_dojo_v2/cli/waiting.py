"""Long commands: a word every 30 s about how far they are, and what Ctrl-C leaves."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO, TypeVar

from lean_dojo_v2.cli.output import note
from lean_dojo_v2.runs.so_far import at_work, so_far

SILENCE = 30.0
"""Seconds after which a word says that work goes on."""

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def long_command(*, goes_on: bool = True) -> Callable[[CommandT], CommandT]:
    """Make a decorator for the function of a command that may take long.

    Args:
        goes_on: Whether the same command, given again, goes on where it was interrupted.
    """

    def decorate(command: CommandT) -> CommandT:
        @functools.wraps(command)
        def run(*args: Any, **options: Any) -> Any:
            try:
                with heartbeat():
                    return command(*args, **options)
            except KeyboardInterrupt as error:
                if not goes_on:
                    raise
                anew = options.get("resume") is False
                same = "The same command without --no-resume" if anew else "The same command"
                raise KeyboardInterrupt(f"Interrupted. {same} goes on where it stopped.") from error

        return run  # type: ignore[return-value]

    return decorate


@contextlib.contextmanager
def heartbeat(silence: float = SILENCE) -> Iterator[None]:
    """Say on standard error that work goes on, and how far, whenever nothing was said for a while.

    On a terminal there are progress bars, and nothing is added. Within a command that speaks
    already, as the demo's are, that one goes on speaking.
    """
    at_work("")
    try:
        if sys.stderr is None or sys.stderr.isatty() or isinstance(sys.stderr, _Heard):
            yield
            return
        heard = _Heard(sys.stderr)
        begun = time.monotonic()

        def tell() -> None:
            if time.monotonic() - heard.last >= silence:
                with contextlib.suppress(OSError, ValueError):  # closed; nobody listens
                    seconds = time.monotonic() - begun
                    words = f": {so_far()}" if so_far() else ""
                    heard.write(f"… still working after {seconds:.0f} s{words}\n")
                    heard.flush()

        def left() -> float:
            return max(0.05, heard.last + silence - time.monotonic())

        with contextlib.redirect_stderr(heard), _meanwhile(tell, left):
            yield
    finally:
        at_work("")


@contextlib.contextmanager
def said_now_and_then(say: Callable[[], str], every: float = SILENCE) -> Iterator[None]:
    """Print a line on standard error every so often, whatever the work is busy with.

    Args:
        say: Gives the line; called from another thread.
        every: Seconds between two lines; on a terminal the last line is written over every second.
    """
    on_terminal = sys.stderr.isatty()
    started = time.monotonic()

    def tell() -> None:
        line = f"{say()}, {_duration(time.monotonic() - started)}"
        if on_terminal:
            sys.stderr.write(f"\r\x1b[2K{line}")
            sys.stderr.flush()
        else:
            note(line)

    try:
        with _meanwhile(tell, lambda: 1.0 if on_terminal else every):
            yield
    finally:
        if on_terminal:
            sys.stderr.write("\r\x1b[2K")


@contextlib.contextmanager
def _meanwhile(tell: Callable[[], None], left: Callable[[], float]) -> Iterator[None]:
    """Call ``tell`` from another thread whenever the seconds are over that ``left`` gives."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(left()):
            tell()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _duration(seconds: float) -> str:
    """Write a time for people.

    >>> _duration(42.2), _duration(62), _duration(4000)
    ('42 s', '1:02', '1:06:40')
    """
    from tqdm import tqdm

    whole = int(seconds)
    return f"{whole} s" if whole < 60 else tqdm.format_interval(whole).removeprefix("0")


class _Heard:
    """Standard error, with the time when it was last written to."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.last = time.monotonic()

    def write(self, text: str) -> int:
        self.last = time.monotonic()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
