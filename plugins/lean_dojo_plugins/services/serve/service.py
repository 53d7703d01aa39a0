"""The engine pool of the server, with its limits and metrics."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import Any, TypeVar

import attrs
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from lean_dojo_core import registry
from lean_dojo_core.errors import LeanDojoError, UnknownNameError, UsageError
from lean_dojo_plugins.rewards.resolve import resolve_rewards
from lean_dojo_v2.lean.client.environments import environment_counts
from lean_dojo_v2.lean.pool.local import EnginePool, PoolConfig

R = TypeVar("R")


def _environments(name: str) -> int:
    return int(getattr(environment_counts(), name))


class BusyError(LeanDojoError):
    """The server is full; ask again later."""


@attrs.frozen
class RequestLimits:
    """Limits of the server.

    Attributes:
        requests: Maximum number of open requests; further ones are refused for now.
        bytes: Maximum size of a request in bytes.
        timeout: Longest time limit that a request may set for Lean, in seconds.
    """

    requests: int = attrs.field(default=64, validator=attrs.validators.ge(1))
    bytes: int = attrs.field(default=2_000_000, validator=attrs.validators.ge(1))
    timeout: float = attrs.field(default=300.0, validator=attrs.validators.gt(0))


class VerdictService:
    """Answers requests with a pool of engines.

    Args:
        config: The pool.
        limits: The limits.
    """

    def __init__(self, config: PoolConfig, limits: RequestLimits | None = None) -> None:
        self.limits = limits or RequestLimits()
        self.pool = EnginePool(config)
        self.metrics = CollectorRegistry()
        self._rewards: dict[str, Any] = {}
        self._rewards_lock = threading.Lock()
        self._asked = Counter(
            "lean_dojo_requests", "Questions asked.", ["kind", "status"], registry=self.metrics
        )
        self._verdicts = Counter(
            "lean_dojo_verdicts", "Verdicts given.", ["kind", "verdict"], registry=self.metrics
        )
        self._seconds = Histogram(
            "lean_dojo_request_seconds", "Seconds to an answer.", ["kind"], registry=self.metrics
        )
        self._open = Gauge(
            "lean_dojo_open_requests", "Open requests.",
            registry=self.metrics,
        )  # fmt: skip
        for name in ("hits", "misses"):
            Gauge(
                f"lean_dojo_environment_{name}",
                f"Headers of texts: {name} among the environments that engines keep.",
                registry=self.metrics,
            ).set_function(partial(_environments, name))
        Gauge("lean_dojo_engines", "Engines of the pool.", registry=self.metrics).set(config.size)
        self._count = 0

    @property
    def open_requests(self) -> int:
        """Number of open requests."""
        return self._count

    @contextmanager
    def admitted(self, kind: str) -> Iterator[None]:
        """Admit a request, and record its time.

        Raises:
            BusyError: The server is full.
        """
        if self._count >= self.limits.requests:
            self._asked.labels(kind, "busy").inc()
            raise BusyError(f"{self._count} requests are open, which is the maximum")
        self._count += 1
        self._open.inc()
        try:
            with self._seconds.labels(kind).time():
                yield
        except BaseException:
            self._asked.labels(kind, "error").inc()
            raise
        else:
            self._asked.labels(kind, "answered").inc()
        finally:
            self._count -= 1
            self._open.dec()

    def verdict(self, kind: str, verdict: str) -> None:
        """Count a verdict."""
        self._verdicts.labels(kind, verdict).inc()

    async def run(self, fn: Callable[..., R], *args: Any, **how: str | None) -> R:
        """Run ``fn(server, *args)`` on an engine; ``how`` is as for :meth:`EnginePool.submit`."""
        return await asyncio.wrap_future(self.pool.submit(fn, *args, **how))

    async def score(
        self, name: str, completions: Sequence[str], columns: dict[str, list[Any]]
    ) -> list[float | None]:
        """Score completions with an installed reward function.

        Raises:
            UsageError: No installed plugin offers it, or it reads a column that is not given.
            PluginLoadError: It cannot be loaded.
            RewardError: It raised, took too long, or gave anything but one number each.
        """
        return await asyncio.to_thread(self._score, name, list(completions), columns)

    def _score(
        self, name: str, completions: list[str], columns: dict[str, list[Any]]
    ) -> list[float | None]:
        if name not in registry.reward_functions:
            # module:attribute would let the client choose code to run.
            known = ", ".join(sorted(registry.reward_functions))
            raise UnknownNameError(f"no installed plugin offers the reward {name!r}: {known}")
        with self._rewards_lock:
            if name not in self._rewards:
                self._rewards[name] = self._reward(name)
            reward = self._rewards[name]
        if missing := [one for one in reward.columns_needed({"completions"}) if one not in columns]:
            raise UsageError(f"columns: the reward {name!r} reads {missing[0]!r}")
        with redirect_stdout(sys.stderr):
            scores = reward(completions, **columns)
            if inspect.isawaitable(scores):
                scores = asyncio.run(_awaited(scores))
        return list(scores)

    def _reward(self, name: str) -> Any:
        """Make a reward as training does, with errors that name it and a time limit."""
        [reward] = resolve_rewards({name: 1.0})
        reward.timeout = self.limits.timeout
        return reward

    def close(self) -> None:
        """Stop the engines, and close the rewards."""
        for reward in self._rewards.values():
            if callable(close := getattr(reward.function, "close", None)):
                close()
        self.pool.close()


async def _awaited(result: Any) -> Any:
    return await result
