"""Engines shared within a process: a pool for each repository.

A Lean engine takes most of a gigabyte, so the rewards of a run use the same ones::

    engines = shared_engines()
    future = engines.submit(project, judge, goal, tactic, header=None)
    ...
    engines.close()  # the last user to close them stops them
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self, TypeVar, TypeVarTuple

import attrs

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.selection import EngineName, chosen_engine
from lean_dojo_v2.lean.pool.local import EnginePool, PoolConfig

Ts = TypeVarTuple("Ts")
R = TypeVar("R")


class _GivenBackError(Exception):
    """The last user has given these engines back."""


@attrs.define(eq=False)
class _Open:
    """A pool and its number of open requests."""

    pool: EnginePool
    unanswered: int = 0


class ProjectEngines:
    """Pools of engines by repository; safe to use from several threads.

    Beyond ``kept`` pools, the least recently used ones are closed at the next request, once they
    have answered everything.

    Args:
        make: Makes the pool of a repository's folder; ``None`` stands for goals without one.
        kept: Number of pools that stay open.

    Attributes:
        users: Number of users.
    """

    def __init__(self, make: Callable[[Path | None], EnginePool], kept: int) -> None:
        self._make = make
        self._kept = kept
        self._open: OrderedDict[Path | None, _Open] = OrderedDict()
        self._lock = threading.Lock()
        self._given_back = False
        self.users = 0

    @property
    def projects(self) -> list[Path | None]:
        """The repositories with open pools, the most recently used last."""
        with self._lock:
            return list(self._open)

    def submit(
        self,
        project: Path | None,
        fn: Callable[[Server, *Ts], R],
        /,
        *args: *Ts,
        header: str | None = None,
        name: str | None = None,
        owner: str | None = None,
    ) -> Future[R]:
        """Queue a request, see :meth:`SharedEngines.submit`."""
        # Under one lock, so that close() comes before or after both.
        with self._lock:
            if self._given_back:
                raise _GivenBackError
            entry = self._entry(project)
            future = entry.pool.submit(fn, *args, header=header, name=name, owner=owner)
            entry.unanswered += 1
            idle = self._take_idle()
        future.add_done_callback(lambda _: self._answered(entry))
        # Not under the lock, since stopping processes takes time.
        for pool in idle:
            pool.close()
        return future

    def close(self) -> None:
        """Cancel waiting requests and stop all engines; the next request starts others."""
        with self._lock:
            entries = list(self._open.values())
            self._open.clear()
        for entry in entries:
            entry.pool.close()

    def give_back(self) -> None:
        """Close them for good; a late request goes to other engines."""
        with self._lock:
            self._given_back = True
        self.close()

    def _entry(self, project: Path | None) -> _Open:
        if project not in self._open:
            self._open[project] = _Open(self._make(project))
        self._open.move_to_end(project)
        return self._open[project]

    def _take_idle(self) -> list[EnginePool]:
        excess = max(0, len(self._open) - self._kept)
        idle = [project for project, entry in self._open.items() if not entry.unanswered]
        return [self._open.pop(project).pool for project in idle[:excess]]

    def _answered(self, entry: _Open) -> None:
        with self._lock:
            entry.unanswered -= 1


class SharedEngines:
    """One user's handle of engines shared in this process; safe to use from several threads.

    It may be pickled; the copy uses the engines of its own process.

    Args:
        config: Configuration of the pools; users with equal ones share their engines.
        kept: Number of most recently used pools that stay open.
    """

    def __init__(self, config: PoolConfig, kept: int = 2) -> None:
        self.config = config
        self.kept = kept
        self._key = f"{config} {kept}"
        self._engines: ProjectEngines | None = None
        _parts.add(self)

    def __reduce__(self) -> tuple[type[Self], tuple[PoolConfig, int]]:
        return type(self), (self.config, self.kept)

    @property
    def projects(self) -> list[Path | None]:
        """The repositories with open pools, the most recently used last."""
        engines = self._engines
        return [] if engines is None else engines.projects

    def submit(
        self,
        project: Path | None,
        fn: Callable[[Server, *Ts], R],
        /,
        *args: *Ts,
        header: str | None = None,
        name: str | None = None,
        owner: str | None = None,
    ) -> Future[R]:
        """Queue a request with the pool of a repository, ``None`` for goals without one.

        The other arguments are those of :meth:`EnginePool.submit`.

        Raises:
            EngineUnavailableError: If no Lean engine can serve the repository.
        """
        while True:
            try:
                engines = self._taken()
                return engines.submit(project, fn, *args, header=header, name=name, owner=owner)
            except _GivenBackError:
                continue  # another thread has closed this handle meanwhile: try again

    def close(self) -> None:
        """Release them; the last user to do so stops them. The next request starts others."""
        with _lock:
            engines, self._engines = self._engines, None
            if engines is None:
                return
            engines.users -= 1
            last = not engines.users
            if last:
                _shared.pop(self._key, None)  # new users must not get what is being closed
        if last:
            engines.give_back()

    def _taken(self) -> ProjectEngines:
        with _lock:
            if self._engines is None:
                engines = _shared.get(self._key)
                if engines is None:
                    config = self.config
                    engines = _shared[self._key] = ProjectEngines(
                        lambda project: EnginePool(config, project_path=project), self.kept
                    )
                engines.users += 1
                self._engines = engines
            return self._engines


_lock = threading.Lock()
_shared: weakref.WeakValueDictionary[str, ProjectEngines] = weakref.WeakValueDictionary()
_parts: weakref.WeakSet[SharedEngines] = weakref.WeakSet()


def _begin_anew() -> None:
    """Reset in a forked child, where engines and lock belong to the parent."""
    global _lock  # noqa: PLW0603 - a lock that another thread of the parent held stays locked
    _lock = threading.Lock()
    _shared.clear()
    for part in list(_parts):
        part._engines = None  # noqa: SLF001 - a part of the class


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def shared_engines(
    *,
    engine: EngineName = "auto",
    imports: tuple[str, ...] = ("Init",),
    size: int | None = None,
    kept: int = 2,
) -> SharedEngines:
    """Return a handle of this process's shared engines; none starts before its first request.

    Args:
        engine: ``"auto"``, ``"native"`` or ``"embedded"``.
        imports: Modules that every engine imports.
        size: Engines for each repository; one for each core if not given.
        kept: Maximum number of repositories whose engines stay open.

    Raises:
        UsageError: There is no engine of that name.
    """
    chosen_engine(engine)
    settings: dict[str, Any] = {"engine": engine, "imports": imports}
    if size is not None:
        settings["size"] = size
    return SharedEngines(PoolConfig(**settings), kept)
