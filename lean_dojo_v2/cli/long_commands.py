"""Long commands: a progress line every 30 s, and a message on Ctrl-C."""

import contextlib
import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO, TypeVar

from lean_dojo_v2.runs import latest_progress, report_progress

SILENCE = 30.0
"""Seconds of silence after which a progress line is printed."""

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def long_command(*, resumes: bool = True) -> Callable[[CommandT], CommandT]:
    """Decorate a long command, which repeating may resume where it was interrupted."""

    def decorate(command: CommandT) -> CommandT:
        @functools.wraps(command)
        def run(*args: Any, **options: Any) -> Any:
            try:
                with heartbeat():
                    return command(*args, **options)
            except KeyboardInterrupt as error:
                if not resumes:
                    raise
                anew = options.get("resume") is False
                same = "The same command without --no-resume" if anew else "The same command"
                raise KeyboardInterrupt(f"Interrupted. {same} resumes where it stopped.") from error

        return run  # type: ignore[return-value]

    return decorate


@contextlib.contextmanager
def heartbeat(silence: float = SILENCE) -> Iterator[None]:
    """Print a progress line on standard error after a period of silence.

    Not on a terminal, where there are progress bars, nor within another heartbeat, as in the demo.
    """
    report_progress("")
    try:
        if sys.stderr is None or sys.stderr.isatty() or isinstance(sys.stderr, _Heard):
            yield
            return
        heard = _Heard(sys.stderr)
        begun = time.monotonic()
        over = threading.Event()

        def watch() -> None:
            while not over.wait(max(0.05, heard.last + silence - time.monotonic())):
                if time.monotonic() - heard.last < silence:
                    continue
                with contextlib.suppress(OSError, ValueError):  # closed
                    seconds = time.monotonic() - begun
                    words = f": {latest_progress()}" if latest_progress() else ""
                    heard.write(f"… still working after {seconds:.0f} s{words}\n")
                    heard.flush()

        watcher = threading.Thread(target=watch, daemon=True)
        with contextlib.redirect_stderr(heard):
            watcher.start()
            try:
                yield
            finally:
                over.set()
                watcher.join()
    finally:
        report_progress("")


class _Heard:
    """Standard error, with the time of the last output."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.last = time.monotonic()

    def write(self, text: str) -> int:
        self.last = time.monotonic()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
