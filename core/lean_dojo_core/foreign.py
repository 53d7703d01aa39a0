"""Third-party code: contained, watched and limited in time; and a record of whose is running.

A plugin or reward may do anything that Python can. Accidental changes to global state (the current
folder, the standard streams, ``json``, built-in functions) are undone here, or reported as errors
that name the culprit. Slow code is reported, and ended if it has a time limit.
"""

from __future__ import annotations

import builtins
import contextvars
import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from lean_dojo_core.errors import PluginError

SAY_AFTER = 10.0
"""Seconds after which a slow call is reported."""
SAY_AGAIN = 60.0
"""Seconds between further reports."""
LOADING = 60.0
"""Seconds after which loading a plugin fails."""

T = TypeVar("T")

board: Any = None
"""File in which the watching process reads whose code is running; set by the command line."""

_KEPT = (builtins, json)
_STREAMS = (0, 1, 2)


class OutOfTimeError(PluginError):
    """Third-party code exceeded its time limit."""


@contextmanager
def contained(who: str) -> Iterator[None]:
    """Run third-party code, and undo what it has changed globally.

    Args:
        who: Whose code it is, for messages: ``"plugin my-plugin:main"``.

    Raises:
        PluginError: If it has closed a standard stream, or replaced a function of ``json`` or of
            Python itself. Both are restored first.
    """
    folder = _folder()
    names = [dict(vars(module)) for module in _KEPT]
    streams = [_copy(number) for number in _STREAMS]
    objects = sys.stdin, sys.stdout, sys.stderr
    _announce(who)
    try:
        yield
    finally:
        _announce("")
        if folder is not None and _folder() != folder:
            os.chdir(folder)
        broken = [*_replaced(names), *_closed(streams, objects)]
        if broken:
            raise PluginError(f"{who} has {' and '.join(broken)}, which everything else needs")


def watched(call: Callable[[], T], who: str, timeout: float | None = None) -> T:
    """Run third-party code, reporting on standard error if it is slow, with a time limit.

    In the main thread it is interrupted as by Ctrl-C; if it ignores that, the process ends with
    exit code 1. Elsewhere, and where Ctrl-C has no effect, it runs in a thread of its own, which is
    abandoned.

    Args:
        call: The code.
        who: Whose code it is, for messages.
        timeout: Time limit in seconds; ``None``: no limit.

    Raises:
        OutOfTimeError: If it exceeds the limit.
    """
    if timeout is None:
        with report_when_slow(who):
            return call()
    return (_interrupted if _can_be_interrupted() else _left_behind)(call, who, timeout)


def _can_be_interrupted() -> bool:
    return (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        and hasattr(signal, "pthread_kill")
    )


@contextmanager
def report_when_slow(who: str) -> Iterator[None]:
    """Report on standard error, from time to time, that the block is still running."""
    over = threading.Event()
    threading.Thread(target=_wait, args=(over, who), daemon=True).start()
    try:
        yield
    finally:
        over.set()


def load(call: Callable[[], T], who: str) -> T:
    """Run code that imports a plugin: contained and, where Ctrl-C works, within :data:`LOADING`.

    It always runs in this thread, so that a manifest that uses the registries is recognised.

    Raises:
        PluginError: See :func:`contained`; or it takes too long.
    """
    try:
        with contained(who):
            return watched(call, f"loading {who}", LOADING if _can_be_interrupted() else None)
    except OutOfTimeError as error:
        raise OutOfTimeError(f"has not been loaded in {LOADING:g} s") from error


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
            _say(f"{who} has run for more than {timeout:g} s and cannot be interrupted")
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
    from concurrent.futures import Future  # slow to import

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
        _say(f"{who} has run for {spent:.0f} s")
    return True


def _say(text: str) -> None:
    if sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - pathlib is slow to import
    except OSError:  # deleted
        return None


def _announce(who: str) -> None:
    if board is not None:
        text = who.encode()[: len(board) - 1]
        board[:] = text + bytes(len(board) - len(text))


def _replaced(names: list[dict[str, Any]]) -> list[str]:
    """Restore functions that were replaced in the modules, and return their names."""
    found = []
    for module, before in zip(_KEPT, names, strict=True):
        for name, value in before.items():
            if name != "_" and getattr(module, name, None) is not value:
                setattr(module, name, value)
                found.append(f"replaced {module.__name__}.{name}")
    return found


def _copy(number: int) -> int | None:
    with suppress(OSError):
        return os.dup(number)
    return None


def _closed(copies: list[int | None], objects: tuple[Any, Any, Any]) -> list[str]:
    """Reopen closed standard streams, and return their names."""
    found = []
    for number, copy, stream in zip(_STREAMS, copies, objects, strict=True):
        if copy is None:
            continue
        name = ("stdin", "stdout", "stderr")[number]
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):  # the copies may be closed, too
                os.dup2(copy, number)
            found.append(f"closed {name}")
        if getattr(stream, "closed", False):
            reopened = open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, reopened)
            found.append(f"closed sys.{name}")
        with suppress(OSError):
            os.close(copy)
    return found
