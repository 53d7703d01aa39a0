"""Pools of engines on this machine: one's own, or those that a process shares.

::

    def check(server: Server, goal: str, tactic: str) -> bool:
        state = server.goal_start(goal)
        return server.goal_tactic(state, tactic).is_solved

    with EnginePool(PoolConfig(size=4)) as pool:
        future = pool.submit(check, "1 + 1 = 2", "rfl")
        results = pool.map(check, [("1 + 1 = 2", "rfl"), ("2 + 2 = 4", "decide")])

A Lean engine takes most of a gigabyte, so the rewards of a run use the same ones, in a pool for
each repository::

    engines = shared_engines()
    future = engines.submit(project, check, "1 + 1 = 2", "rfl")
    ...
    engines.close()  # a repository's last user to close them stops them
"""

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar, TypeVarTuple

import attrs

from lean_dojo_v2.lean.client.judge import Judge
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.engines.process import inherited
from lean_dojo_v2.lean.engines.selection import EngineName, chosen_engine
from lean_dojo_v2.lean.pool.scheduling import Request, Scheduler, Slot

Ts = TypeVarTuple("Ts")
R = TypeVar("R")
_NAME_WIDTH = 120


def available_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@attrs.frozen
class PoolConfig:
    """Configuration of a pool; plain data that can be pickled and sent to other processes.

    Attributes:
        size: Engines; one for each available core if not given.
        imports: Modules that every engine imports.
        project_path: A Lake project.
        options: Pantograph's options.
        core_options: Options of Lean, each ``"name=value"``.
        engine: ``"auto"``, ``"native"`` or ``"embedded"``.
        timeout: Seconds that one call to an engine may take.
        memory_limit_mb: Resident megabytes at which an engine is killed, even during a request.
            The embedded engine has about 800 after a first proof with ``Init``, 950 with ``Lean``.
        recycle_memory_mb: Resident megabytes at which an engine is replaced between two requests.
    """

    size: int = attrs.field(factory=available_cores, validator=attrs.validators.ge(1))
    imports: tuple[str, ...] = attrs.field(default=("Init",), converter=tuple[str, ...])
    project_path: str | Path | None = None
    options: Mapping[str, Any] = attrs.field(factory=dict)
    core_options: tuple[str, ...] = attrs.field(default=(), converter=tuple[str, ...])
    engine: EngineName = "auto"
    timeout: float = 60.0
    memory_limit_mb: int | None = 4_000
    recycle_memory_mb: int | None = 2_600

    def server(self) -> Server:
        """Make one server of the pool, not started yet."""
        ours = attrs.filters.exclude("size", "recycle_memory_mb")
        return Server(**attrs.asdict(self, recurse=False, filter=ours), start=False)


class LocalSlot:
    """An engine of this process, whose life is its process id."""

    life: object = None

    def __init__(self, config: PoolConfig, judge: Judge | None = None) -> None:
        self._config = config
        self._server = config.server()
        if judge is not None:
            self._server.share_judge(judge)

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], owner: str | None) -> Any:
        """Run ``fn(server, *args)`` for an owner; see :class:`.Slot`."""
        if owner != self._server.client:
            self._server.leave()
        self._server.client = owner
        try:
            return fn(self._server, *args)
        finally:
            limit = self._config.recycle_memory_mb
            if limit is not None and self._server.memory_mb > limit:
                self._server.close()
            self.life = self._server.pid

    def close(self) -> None:
        """Kill the engine for good."""
        self._server.retire()


class EnginePool:
    """Engines that share the work; each starts when it is first needed.

    A request is a function whose first argument is a :class:`Server`. It has that server for
    itself while it runs; goal states do not outlive it. A request whose engine dies or outgrows
    its memory is run again on a fresh engine, once; one that kills two engines is answered with
    :class:`EngineKilledError`, which names it. A request that exceeds its time is not run again:
    it is answered with :class:`EngineTimeoutError`. Other requests are unaffected.

    Pickling a pool pickles its configuration; the copy opens engines of its own when it is first
    used, and so does a forked child.

    The ``settings`` are fields of :class:`PoolConfig`, in place of ``config``'s.
    """

    def __init__(self, config: PoolConfig | None = None, **settings: Any) -> None:
        self.config = attrs.evolve(config or PoolConfig(), **settings)
        self._lock = threading.Lock()
        self._scheduler: Scheduler | None = None
        self._finalizer: weakref.finalize[[], EnginePool] | None = None
        inherited.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type[Self], tuple[PoolConfig]]:
        return type(self), (self.config,)

    def submit(
        self,
        fn: Callable[[Server, *Ts], R],
        /,
        *args: *Ts,
        header: str | None = None,
        name: str | None = None,
        owner: str | None = None,
    ) -> Future[R]:
        """Queue a request, and return its future result.

        Args:
            fn: Called with a server and ``args``.
            *args: Its arguments.
            header: Key of the header that it loads (any text, for example the header itself);
                requests with equal keys go to the same engine if possible.
            name: Its name in errors; default: its arguments.
            owner: Key of the owner of its texts, such as the text of a client's request; the pool's
                user if not given. An engine that has elaborated one owner's text becomes a new one
                before it serves another owner.
        """
        request = Request(fn, args, name or _name_of(args), header, owner)
        self._open().submit(request)
        return request.future

    def map(self, fn: Callable[..., R], items: Iterable[Any]) -> list[R]:
        """Run ``fn(server, item)`` for every item, and return all results in their order.

        The parts of an item that is a tuple are separate arguments. When all have been answered,
        the first error of an item, if any, is raised.
        """
        parts = (item if isinstance(item, tuple) else (item,) for item in items)
        futures = [self.submit(fn, *args) for args in parts]
        wait(futures)
        return [future.result() for future in futures]

    def close(self) -> None:
        """Cancel waiting requests and stop all engines. The next request opens the pool again."""
        with self._lock:
            finalizer, self._finalizer = self._finalizer, None
            self._scheduler = None
        if finalizer is not None:  # without the lock, since it waits for running requests
            finalizer()

    def _open(self) -> Scheduler:
        """Return the scheduler, created once even by concurrent requests."""
        with self._lock:
            if self._scheduler is None:
                judge = self.config.server().make_judge()
                slots = [self._make_slot(judge) for _ in range(self.config.size)]
                self._scheduler = Scheduler(slots, judge)
                self._finalizer = weakref.finalize(self, self._scheduler.close)
            return self._scheduler

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._scheduler = self._finalizer = None

    def _make_slot(self, judge: Judge) -> Slot:
        return LocalSlot(self.config, judge)


def _name_of(args: tuple[Any, ...]) -> str:
    text = ", ".join(map(repr, args))
    return text if len(text) <= _NAME_WIDTH else f"{text[:_NAME_WIDTH]}…"


@attrs.define(eq=False)
class _Open:
    """A pool, its number of open requests, and its users that were not garbage-collected."""

    pool: EnginePool
    unanswered: int = 0
    users: "weakref.WeakSet[SharedEngines]" = attrs.field(factory=weakref.WeakSet)


_Pools: TypeAlias = OrderedDict[Path | None, _Open]
"""A configuration's pools by repository, the most recently used last."""


class _Shared:
    """What the users in this process share: pools by configuration, and the lock on them."""

    def __init__(self) -> None:
        self._forget()
        inherited.add(self)

    def _forget(self) -> None:
        self.lock = threading.Lock()
        self.pools: weakref.WeakValueDictionary[str, _Pools] = weakref.WeakValueDictionary()

    def answered(self, entry: _Open) -> None:
        with self.lock:
            entry.unanswered -= 1


_shared = _Shared()


class SharedEngines:
    """One user's handle of engines shared in this process; safe to use from several threads.

    It may be pickled; the copy uses the engines of its own process. Keep the handle until its
    requests are answered. Users with an equal ``config`` share their engines. The ``kept`` most
    recently used pools stay open; others are closed at the next request, once they have answered
    everything.
    """

    def __init__(self, config: PoolConfig, kept: int = 2) -> None:
        self.config = config
        self.kept = kept
        self._key = f"{config} {kept}"
        self._pools: _Pools | None = None
        inherited.add(self)

    def __reduce__(self) -> tuple[type[Self], tuple[PoolConfig, int]]:
        return type(self), (self.config, self.kept)

    @property
    def projects(self) -> list[Path | None]:
        """The repositories with open pools, the most recently used last."""
        with _shared.lock:
            return list(self._pools or ())

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
        with _shared.lock:
            pools = self._pools = self._pools or _shared.pools.setdefault(self._key, OrderedDict())
            entry = pools.get(project) or _Open(EnginePool(self.config, project_path=project))
            future = entry.pool.submit(fn, *args, header=header, name=name, owner=owner)
            entry.unanswered += 1
            entry.users.add(self)
            pools[project] = entry
            pools.move_to_end(project)
            idle = [one for one, found in pools.items() if not found.unanswered]
            excess = [pools.pop(one) for one in idle[: max(0, len(pools) - self.kept)]]
        future.add_done_callback(lambda _: _shared.answered(entry))
        # Not under the lock, since stopping processes takes time.
        for one in excess:
            one.pool.close()
        return future

    def close(self) -> None:
        """Release them; a repository's last user stops them. The next request starts others."""
        with _shared.lock:
            pools, self._pools = self._pools or OrderedDict(), None
            for entry in pools.values():
                entry.users.discard(self)
            # Taken out, since new users must not get what is being closed.
            unused = [pools.pop(one) for one, entry in list(pools.items()) if not entry.users]
        for entry in unused:
            entry.pool.close()

    def _forget(self) -> None:
        self._pools = None


def shared_engines(
    *,
    engine: EngineName = "auto",
    imports: tuple[str, ...] = ("Init",),
    size: int | None = None,
    kept: int = 2,
) -> SharedEngines:
    """Return a handle of this process's shared engines; none starts before its first request.

    Every engine imports the modules ``imports``. There are ``size`` engines for each repository,
    one for each core if not given, and those of ``kept`` repositories at most stay open. A name
    that is no engine's is a UsageError.
    """
    chosen_engine(engine)
    size = available_cores() if size is None else size
    return SharedEngines(PoolConfig(engine=engine, imports=imports, size=size), kept)
