"""Engines for several repositories: a pool for each, the last used ones kept open."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import attrs

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.pool.local import EnginePool

Ts = TypeVarTuple("Ts")
R = TypeVar("R")


@attrs.define(eq=False)
class _Open:
    """A pool and how many of its requests are not answered yet."""

    pool: EnginePool
    unanswered: int = 0


class ProjectEngines:
    """Pools of engines by repository; safe to use from several threads.

    Beyond ``kept`` pools, those that were asked longest ago are closed at the next request, once
    they have answered everything: a pool that still starts, opens states or checks is left alone.

    Args:
        make: Makes the pool of a repository's folder; ``None`` stands for goals without one.
        kept: How many pools stay open.
    """

    def __init__(self, make: Callable[[Path | None], EnginePool], kept: int) -> None:
        self._make = make
        self._kept = kept
        self._open: OrderedDict[Path | None, _Open] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def projects(self) -> list[Path | None]:
        """The repositories with open pools, the last asked last."""
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
    ) -> Future[R]:
        """Queue a request with the pool of a repository; see :meth:`EnginePool.submit`.

        Raises:
            EngineUnavailableError: If no Lean engine can serve the repository.
        """
        # Under one lock, so that close() comes before both or after both.
        with self._lock:
            entry = self._entry(project)
            future = entry.pool.submit(fn, *args, header=header, name=name)
            entry.unanswered += 1
            idle = self._take_idle()
        future.add_done_callback(lambda _: self._answered(entry))
        # Not under the lock: stopping processes takes its time, and others need not wait for it.
        for pool in idle:
            pool.close()
        return future

    def close(self) -> None:
        """Cancel what waits and stop all engines; the next request starts others."""
        with self._lock:
            entries = list(self._open.values())
            self._open.clear()
        for entry in entries:
            entry.pool.close()

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
