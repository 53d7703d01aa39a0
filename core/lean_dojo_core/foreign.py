"""Containment of third-party code, and a record of whose code is running.

A plugin or reward may do anything that Python can. Accidental changes to global state (the current
folder, the standard streams, ``json``, built-in functions) are undone here, or reported as errors
that name the culprit.
"""

from __future__ import annotations

import builtins
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lean_dojo_core.errors import PluginError

SAY_AFTER = 10.0
"""Seconds of loading after which a notice is printed."""
LOADING = 60.0
"""Seconds after which loading a plugin fails, on systems with ``SIGALRM``."""

board: Any = None
"""File in which the watching process reads whose code is running; set by the command line."""

_KEPT = (builtins, json)
_STREAMS = (0, 1, 2)


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


@contextmanager
def loading(who: str) -> Iterator[None]:
    """Contain an import, and limit its duration.

    Raises:
        PluginError: See :func:`contained`.
        TimeoutError: If it takes longer than :data:`LOADING`; enforced in the main thread only.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if (
        not is_main or not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL)[0]
    ):  # somebody else's alarm
        with contained(who):
            yield
        return
    rings = 0

    def ring(*_: object) -> None:
        nonlocal rings
        rings += 1
        if rings * SAY_AFTER >= LOADING:
            raise TimeoutError(f"has not been loaded in {LOADING:g} s")
        if rings == 1 and sys.stderr is not None:
            print(f"{who} is still loading after {SAY_AFTER:g} s", file=sys.stderr, flush=True)

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SAY_AFTER, SAY_AFTER)
    try:
        with contained(who):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
