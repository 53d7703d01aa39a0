"""Engines on a Ray cluster for a search that keeps its goal states in them.

A pool hands each request to any engine; a search comes back to the same one. So here an actor of
the pool's kind stands behind each server, and takes its commands one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lean_dojo_v2.benchmarks.runner import SERVER_TIMEOUT
from lean_dojo_v2.lean.client.records import Session
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.pool.local import PoolConfig
from lean_dojo_v2.lean.pool.ray import RaySlot


def ray_server(project: Path | None) -> ClusterServer:
    """Make an engine somewhere on the cluster; it starts at its first call.

    Args:
        project: Folder of the Lean project; every node must see it under this path.

    Raises:
        EngineUnavailableError: If Ray is not installed.
    """
    # Recycling would cost the search its states: the limit of memory is enough.
    config = PoolConfig(
        size=1, project_path=project, timeout=SERVER_TIMEOUT, recycle_memory_mb=None
    )
    return ClusterServer(config, {"num_cpus": 1})


class ClusterServer(Server):
    """A server whose engine runs in a Ray actor.

    Args:
        config: What the engine is made of.
        resources: Options of the actor, for example ``{"num_cpus": 1}``.
    """

    def __init__(self, config: PoolConfig, resources: dict[str, Any]) -> None:
        super().__init__(config.imports, config.project_path, timeout=config.timeout, start=False)
        self._slot = RaySlot(config, resources)
        self._life: object = None

    @property
    def pid(self) -> int | None:
        """The engine's process id on its node, while it runs."""
        return self._life if isinstance(self._life, int) else None

    def run(
        self, cmd: str, payload: Mapping[str, Any], *, timeout: float | None = None
    ) -> dict[str, Any]:
        """Send one command of the protocol; see :meth:`Server.run`."""
        with self._lock:
            try:
                answer: dict[str, Any] = self._slot.call(_run, (cmd, dict(payload), timeout))
            finally:
                if (life := self._slot.life()) != self._life:
                    self._session = Session()  # another engine: its states are gone
                    self._life = life
            return answer

    def restart(self) -> None:
        """Start a fresh engine at the next call, stopping the one that runs."""
        self.close()

    def close(self) -> None:
        """Stop the engine and its actor; the next call starts others."""
        self._slot.close()
        self._life = None

    def retire(self) -> None:
        """Stop the engine for good."""
        self._slot.interrupt()
        self._life = None


def _run(
    server: Server, cmd: str, payload: dict[str, Any], timeout: float | None
) -> dict[str, Any]:
    return server.run(cmd, payload, timeout=timeout)
