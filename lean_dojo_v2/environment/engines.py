"""Engines that all environments of a process share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

import attrs

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.selection import EngineName
from lean_dojo_v2.lean.pool.local import EnginePool

Ts = TypeVarTuple("Ts")
R = TypeVar("R")


@attrs.frozen
class EngineSettings:
    """What engines are asked for; environments with equal settings share them.

    Attributes:
        engines: How many; one for each core if not given.
        engine: ``"auto"``, ``"native"`` or ``"embedded"``.
        imports: Modules that each imports.
    """

    engines: int | None = None
    engine: EngineName = "auto"
    imports: tuple[str, ...] = ("Init",)

    def pool(self, project: Path | None) -> EnginePool:
        """Make the pool of a project's folder."""
        settings: dict[str, Any] = {"engine": self.engine, "imports": self.imports}
        if self.engines is not None:
            settings["size"] = self.engines
        return EnginePool(project_path=project, **settings)


_pools: dict[tuple[EngineSettings, Path | None], EnginePool] = {}
_lock = threading.Lock()


def submit(
    settings: EngineSettings,
    project: Path | None,
    fn: Callable[[Server, *Ts], R],
    /,
    *args: *Ts,
    name: str,
) -> Future[R]:
    """Queue a request with this process's engines; see :meth:`EnginePool.submit`.

    Requests of one theorem go to an engine that has its states, where that is possible.

    Raises:
        EngineUnavailableError: If no Lean engine can serve the project.
    """
    with _lock:
        pool = _pools.get((settings, project))
        if pool is None:
            pool = _pools[settings, project] = settings.pool(project)
    return pool.submit(fn, *args, header=name, name=name)


def close_engines() -> None:
    """Stop the engines of all environments of this process; the next call starts others."""
    with _lock:
        pools = list(_pools.values())
        _pools.clear()
    for pool in pools:
        pool.close()
