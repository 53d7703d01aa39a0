"""The engine pool of the server, with its limits and metrics."""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any, TypeVar

import attrs
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.exceptions import HTTPException

from lean_dojo_core import registry
from lean_dojo_core.errors import UnknownNameError, UsageError
from lean_dojo_plugins.rewards import AdaptedReward, LeanReward, resolve_rewards
from lean_dojo_plugins.services.folders import ServedFolders
from lean_dojo_v2.lean import EnginePool, PoolConfig, all_engines

R = TypeVar("R")


@attrs.frozen
class RequestLimits:
    """Limits of the server: open requests, bytes of a request, and seconds of Lean."""

    requests: int = attrs.field(default=64, validator=attrs.validators.ge(1))
    bytes: int = attrs.field(default=2_000_000, validator=attrs.validators.ge(1))
    timeout: float = attrs.field(default=300.0, validator=attrs.validators.gt(0))


class VerdictService:
    """Answers requests, within limits, with a pool of engines; by default it serves its project."""

    def __init__(
        self,
        config: PoolConfig,
        limits: RequestLimits | None = None,
        folders: ServedFolders | None = None,
    ) -> None:
        self.limits = limits or RequestLimits()
        self.folders = folders or ServedFolders.of((), config.project_path)
        self.pool = EnginePool(config)
        self.metrics = CollectorRegistry()
        self.open_requests = 0
        self._rewards: dict[str, AdaptedReward] = {}
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
        self._gauge("engines", "Engines of the pool.", lambda: config.size)
        self._gauge("open_requests", "Open requests.", lambda: self.open_requests)
        kept = "among the environments that engines keep."
        hits, misses = (lambda: all_engines.hits), (lambda: all_engines.misses)
        self._gauge("environment_hits", f"Headers of texts: hits {kept}", hits)
        self._gauge("environment_misses", f"Headers of texts: misses {kept}", misses)

    def _gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        Gauge(f"lean_dojo_{name}", text, registry=self.metrics).set_function(value)

    @contextmanager
    def admitted(self, kind: str) -> Iterator[None]:
        """Admit a request unless the server is full, and record its time."""
        if self.open_requests >= self.limits.requests:
            self._asked.labels(kind, "busy").inc()
            full = f"{self.open_requests} requests are open, which is the maximum"
            raise HTTPException(503, full, {"Retry-After": "1"})
        self.open_requests += 1
        status = "error"
        try:
            with self._seconds.labels(kind).time():
                yield
            status = "answered"
        finally:
            self._asked.labels(kind, status).inc()
            self.open_requests -= 1

    def verdict(self, kind: str, verdict: str) -> None:
        """Count a verdict."""
        self._verdicts.labels(kind, verdict).inc()

    async def run(self, fn: Callable[..., R], *args: Any, **how: str | None) -> R:
        """Run ``fn(server, *args)`` on an engine; ``how`` is as for :meth:`EnginePool.submit`."""
        return await asyncio.wrap_future(self.pool.submit(fn, *args, **how))

    def score(
        self, name: str, completions: Sequence[str], columns: dict[str, list[Any]]
    ) -> list[float | None]:
        """Score completions with an installed reward function, which may take long."""
        if name not in registry.reward_functions:
            # module:attribute would let the client choose code to run.
            known = ", ".join(sorted(registry.reward_functions))
            raise UnknownNameError(f"no installed plugin offers the reward {name!r}: {known}")
        with self._rewards_lock:
            if name not in self._rewards:  # made as in training: errors name it, time is limited
                [reward] = resolve_rewards({name: 1.0})
                reward.timeout = self.limits.timeout
                if isinstance(reward.function, LeanReward):
                    reward.function.projects = self.folders.repositories
                self._rewards[name] = reward
            reward = self._rewards[name]
        if missing := [one for one in reward.columns_needed({"completions"}) if one not in columns]:
            raise UsageError(f"columns: the reward {name!r} reads {missing[0]!r}")
        with redirect_stdout(sys.stderr):
            return reward(completions, **self.folders.admitted_columns(columns))

    def close(self) -> None:
        """Stop the engines, and close the rewards."""
        for reward in self._rewards.values():
            reward.close()
        self.pool.close()
