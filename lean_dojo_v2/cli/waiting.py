"""Long commands: a word every 30 s about how far they are, and what Ctrl-C leaves."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO, TypeVar

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

        over = threading.Event()

        def watch() -> None:
            while not over.wait(left()):
                tell()

        watcher = threading.Thread(target=watch, daemon=True)
        with contextlib.redirect_stderr(heard):
            watcher.start()
            try:
                yield
            finally:
                over.set()
                watcher.join()
    finally:
        at_work("")


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
