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


@attrs.define(eq=False)
class _Open:
    """A pool and its number of open requests."""

    pool: EnginePool
    unanswered: int = 0


@attrs.define(eq=False)
class _Pools:
    """A configuration's pools by repository, the most recently used last, and its users."""

    open: OrderedDict[Path | None, _Open] = attrs.field(factory=OrderedDict)
    users: int = 0


class SharedEngines:
    """One user's handle of engines shared in this process; safe to use from several threads.

    It may be pickled; the copy uses the engines of its own process.

    Args:
        config: Configuration of the pools; users with equal ones share their engines.
        kept: Number of most recently used pools that stay open; others are closed at the next
            request, once they have answered everything.
    """

    def __init__(self, config: PoolConfig, kept: int = 2) -> None:
        self.config = config
        self.kept = kept
        self._key = f"{config} {kept}"
        self._pools: _Pools | None = None
        _handles.add(self)

    def __reduce__(self) -> tuple[type[Self], tuple[PoolConfig, int]]:
        return type(self), (self.config, self.kept)

    @property
    def projects(self) -> list[Path | None]:
        """The repositories with open pools, the most recently used last."""
        with _lock:
            return [] if self._pools is None else list(self._pools.open)

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
        # Under one lock, so that close() comes before or after all of it.
        with _lock:
            pools = self._pools = self._pools or self._join()
            entry = pools.open.get(project) or _Open(EnginePool(self.config, project_path=project))
            future = entry.pool.submit(fn, *args, header=header, name=name, owner=owner)
            entry.unanswered += 1
            pools.open[project] = entry
            pools.open.move_to_end(project)
            idle = [one for one, found in pools.open.items() if not found.unanswered]
            excess = [pools.open.pop(one) for one in idle[: max(0, len(pools.open) - self.kept)]]
        future.add_done_callback(lambda _: _answered(entry))
        # Not under the lock, since stopping processes takes time.
        for one in excess:
            one.pool.close()
        return future

    def close(self) -> None:
        """Release them; the last user to do so stops them. The next request starts others."""
        with _lock:
            pools, self._pools = self._pools, None
            if pools is None:
                return
            pools.users -= 1
            if pools.users:
                return
            _shared.pop(self._key, None)  # new users must not get what is being closed
        for entry in pools.open.values():
            entry.pool.close()

    def _join(self) -> _Pools:
        pools = _shared.get(self._key)
        if pools is None:
            pools = _shared[self._key] = _Pools()
        pools.users += 1
        return pools


def _answered(entry: _Open) -> None:
    with _lock:
        entry.unanswered -= 1


_lock = threading.Lock()
_shared: weakref.WeakValueDictionary[str, _Pools] = weakref.WeakValueDictionary()
_handles: weakref.WeakSet[SharedEngines] = weakref.WeakSet()


def _begin_anew() -> None:
    """Reset in a forked child, where engines and lock belong to the parent."""
    global _lock  # noqa: PLW0603 - a lock that another thread of the parent held stays locked
    _lock = threading.Lock()
    _shared.clear()
    for handle in list(_handles):
        handle._pools = None  # noqa: SLF001 - a part of the class


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
