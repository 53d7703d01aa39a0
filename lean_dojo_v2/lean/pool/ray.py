"""The engine pool over a Ray cluster: the same interface, an actor for each engine.

Ray is an extra (``pip install 'lean-dojo-v2[ray]>=2'``) and is imported when such a pool is opened.
Functions and arguments are sent to the actors by Ray, so they must be picklable; every node needs
this package, and installs the embedded engine when it first uses it.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean.client.judge import Judge
from lean_dojo_v2.lean.errors import EngineDiedError, EngineUnavailableError
from lean_dojo_v2.lean.pool.local import EnginePool, LocalSlot, PoolConfig
from lean_dojo_v2.lean.pool.scheduling import Slot

log = logging.getLogger(__name__)
_STOP_TIMEOUT = 10.0


class RayEnginePool(EnginePool):
    """An :class:`EnginePool` whose engines live in Ray actors.

    It uses the Ray of the running driver, and starts or joins one (``ray.init()``) if there is
    none. Each actor asks for one CPU; ``resources`` asks for something else.

    Its ``size`` counts engines over the whole cluster. The ``resources`` are options of the actors
    (``ray.remote``), for example ``{"num_cpus": 0.5}``, the ``settings`` fields of
    :class:`PoolConfig`, in place of ``config``'s. Without Ray, opening it is an
    EngineUnavailableError.
    """

    def __init__(
        self,
        config: PoolConfig | None = None,
        *,
        resources: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(config, **settings)
        self.resources = {"num_cpus": 1, **(resources or {})}
        for option in {"max_restarts", "max_concurrency"} & self.resources.keys():
            raise UsageError(f"{option} cannot be set: the pool manages its actors.")

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.config, resources=self.resources), ()

    def _make_slot(self, judge: Judge) -> Slot:  # noqa: ARG002 - each actor has its own
        return RaySlot(self.config, self.resources)


class RaySlot:
    """An engine in an actor; the actor starts with the first request."""

    life: object = None

    def __init__(self, config: PoolConfig, resources: dict[str, Any]) -> None:
        self._ray = started_ray()
        self._config = config
        self._resources = resources
        self._actor: Any = None
        self._retired = False

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], owner: str | None) -> Any:
        """Run ``fn(server, *args)`` in the actor, and raise here what it raises there."""
        errors = self._ray.exceptions
        if self._retired:
            raise EngineDiedError("This engine is closed and cannot be used again.")
        if self._actor is None:
            # Two threads: one for the request, one to stop the engine in the middle of it.
            remote = self._ray.remote(**self._resources, max_concurrency=2)(EngineActor)
            self._actor = remote.remote(self._config)
        try:
            self.life, result, error = self._ray.get(self._actor.call.remote(fn, args, owner))
        except errors.RayActorError as lost:
            self._actor = self.life = None
            raise EngineDiedError(f"The Ray actor of a Lean engine is gone: {lost}") from lost
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """Kill the actor and its engine for good."""
        self._retired = True
        actor, self._actor = self._actor, None
        if actor is None or not self._ray.is_initialized():
            return
        errors = self._ray.exceptions
        try:  # a killed actor has no time to stop its engine
            self._ray.get(actor.close.remote(), timeout=_STOP_TIMEOUT)
        except (errors.RayActorError, errors.GetTimeoutError):
            log.warning("an engine's actor did not stop by itself, so it is killed")
        self._ray.kill(actor)


class EngineActor(LocalSlot):
    """An actor with one engine."""

    def call(
        self, fn: Callable[..., Any], args: tuple[Any, ...], owner: str | None
    ) -> tuple[object, Any, BaseException | None]:
        """Return the engine's life, the result and the error, which Ray would wrap if raised."""
        result, failure = None, None
        try:
            result = super().call(fn, args, owner)
        except Exception as error:
            failure = error.with_traceback(None)
        return self.life, result, failure


def started_ray() -> Any:
    """Return Ray, joined or started if the driver has not done so."""
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise EngineUnavailableError(
            "Work over a Ray cluster needs Ray: pip install 'lean-dojo-v2[ray]>=2'."
        ) from error
    if not ray.is_initialized():
        ray.init()
    return ray
