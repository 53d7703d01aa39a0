"""Proof search over a Ray cluster: actors, each with a prover, its model and Lean engines.

The problems are dealt to whichever actor is free. Since the seeds of a search are those of its
theorem, the results are those of one machine. What an actor had not finished when it or its node
was lost is searched again by another.
"""

import logging
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import Theorem
from lean_dojo_core.wording import counted
from lean_dojo_v2.lean import EngineUnavailableError, LRUCache, Server, started_ray
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.prover.base import PROGRESS_VARIABLE, AnyProver, BaseProver
from lean_dojo_v2.prover.problem import Problem
from lean_dojo_v2.prover.search.result import Failure, SearchResult
from lean_dojo_v2.prover.whole_proof import KEPT_RESULTS, WholeProofs
from lean_dojo_v2.runs import report_progress

TRIES = 3
"""How often a theorem is searched whose actor is lost each time, and an actor is started."""

MakesProver: TypeAlias = Callable[[ProverConfig], AnyProver]

log = logging.getLogger(__name__)


@attrs.frozen
class _Work:
    """Problems with their numbers, what their engines are made like, and what is done with them."""

    settings: ProverConfig
    problems: Sequence[tuple[int, Problem]]
    engine: Server
    whole_proof: bool = False
    seed: int | None = None


@attrs.define(eq=False)
class _Slot:
    """Room for one actor of the cluster."""

    actor: Any = None
    taken: list[int] = attrs.Factory(list)  # the problems that it is at
    failures: int = 0  # how often in a row none has started

    def lose(self, error: Exception) -> list[int]:
        """Give up its actor, and return what was lost with it; raise if none starts."""
        lost, self.taken, self.actor = self.taken, [], None
        self.failures += not lost
        if self.failures == TRIES:
            raise EngineUnavailableError(
                "no actor starts on the Ray cluster, whose nodes all need this package; after "
                f"{TRIES} tries: {error}"
            )
        if lost:
            log.warning(
                "an actor of the cluster is gone (%s); %s searched again",
                str(error).partition("\n")[0],
                counted(len(lost), "theorem is", "theorems are"),
            )
        return lost


class ClusterProver:
    """Searches on a Ray cluster as a prover does on this machine.

    It uses the Ray of the running driver, and joins or starts one (``ray.init()``) if there is
    none. As many actors start as the cluster has room for, each with a prover, which the picklable
    ``make`` makes, ``num_workers`` engines, a CPU each, and ``on_gpu`` a GPU, if the cluster has
    any. Every node needs this package, and sees models and Lean projects under the same paths. The
    actors end with this object. ``EngineUnavailableError`` if Ray is not installed, ``UsageError``
    if no node has room for an actor.
    """

    def __init__(self, make: MakesProver, settings: ProverConfig, *, on_gpu: bool = False) -> None:
        self.settings = settings
        self._make = make
        self._ray = started_ray()
        has_gpus = on_gpu and self._ray.cluster_resources().get("GPU", 0) > 0
        self._needs = {"num_cpus": settings.num_workers, "num_gpus": int(has_gpus)}
        self._slots = [_Slot() for _ in range(self._room())]

    def _room(self) -> int:
        room, most = 0, 0
        for node in self._ray.nodes():
            has = node["Resources"] if node["Alive"] else {}
            most = max(most, int(has.get("CPU", 0)))
            fits = int(has.get("CPU", 0)) // self._needs["num_cpus"]
            room += min(fits, int(has.get("GPU", 0))) if self._needs["num_gpus"] else fits
        if not room:
            gpu = " and a GPU" if self._needs["num_gpus"] else ""
            raise UsageError(
                f"no node of the Ray cluster has {self._needs['num_cpus']} CPUs{gpu}, one for each "
                f"Lean engine of an actor; the largest has {most}: lower the number of engines (-j)"
            )
        return room

    def search_many(
        self,
        problems: Sequence[Problem],
        servers: Sequence[Server],
        *,
        verbose: bool = False,  # noqa: ARG002 - states are printed where they are searched
    ) -> Iterator[tuple[int, SearchResult]]:
        """Search problems; yield each one's index and result as soon as it is known.

        The first server says of which kind the engines are; none of them is used. Raises what the
        actors raise, and ``EngineUnavailableError`` if they end as they start.
        """
        yield from self._dealt(_Work(self.settings, (), servers[0]), problems)

    def write_many(
        self, problems: Sequence[Problem], servers: Sequence[Server], *, seed: int | None
    ) -> Iterator[tuple[int, SearchResult]]:
        """Have the actors write whole proofs, and check them, in place of searching."""
        work = _Work(self.settings, (), servers[0], whole_proof=True, seed=seed)
        yield from self._dealt(work, problems)

    def generate_whole_proof(self, theorem: Theorem | str) -> str:  # noqa: ARG002
        """Refuse: a proof that nobody checks is written on this machine."""
        raise UsageError("a single proof is not written over a cluster; leave out --ray")

    def _dealt(
        self, work: _Work, problems: Sequence[Problem]
    ) -> Iterator[tuple[int, SearchResult]]:
        left, losses = len(problems), Counter[int]()
        size = max(1, min(2 * self.settings.batch_size, -(-left // len(self._slots))))
        todo = deque([*range(left)[start : start + size]] for start in range(0, left, size))
        idle: list[_Slot] = []
        at: dict[Any, _Slot] = {self._start(slot): slot for slot in self._slots}
        try:
            while left:
                report_progress(f"{counted(left, 'theorem', 'theorems')} left on the cluster")
                [heard], _ = self._ray.wait([*at], num_returns=1)
                slot = at.pop(heard)
                results: list[tuple[int, SearchResult]] = []
                try:
                    if (found := self._result(slot, heard)) is not None:
                        results.append(found)
                except self._ray.exceptions.RayError as error:
                    lost = slot.lose(error)
                    # Of several problems, any may have cost the actor its life.
                    losses.update(lost if len(lost) == 1 else ())
                    todo += [[index] for index in lost if losses[index] < TRIES]
                    over = [index for index in lost if losses[index] == TRIES]
                    results += [(index, _given_up(problems[index], error)) for index in over]
                    at[self._start(slot)] = slot
                else:
                    if slot.taken:
                        at[heard] = slot
                    else:
                        idle.append(slot)
                while todo and idle:
                    slot = idle.pop()
                    slot.taken = todo.popleft()
                    asked = attrs.evolve(work, problems=[(i, problems[i]) for i in slot.taken])
                    search = slot.actor.search.options(num_returns="streaming")
                    at[search.remote(asked)] = slot
                left -= len(results)
                yield from results
        finally:
            for slot in self._slots:
                slot.taken = []
            for slot in at.values():  # at work, or nothing had room for it
                if self._ray.is_initialized():
                    self._ray.kill(slot.actor)
                slot.actor = None

    def _start(self, slot: _Slot) -> Any:
        """Start the slot's actor if there is none; return what is ready when the actor is."""
        if slot.actor is None:
            guide = os.environ.get(PROGRESS_VARIABLE)
            slot.actor = self._ray.remote(**self._needs)(ProverActor).remote(self._make, guide)
        return slot.actor.ready.remote()  # work is given only when there is room for it

    def _result(self, slot: _Slot, heard: Any) -> tuple[int, SearchResult] | None:
        """Return the result that has come from an actor; ``None`` if it has only started."""
        if not slot.taken:
            self._ray.get(heard)
            slot.failures = 0
            return None
        index, result, error = self._ray.get(next(heard))
        if error is not None:
            raise error
        slot.taken.remove(index)
        return index, result


def _given_up(problem: Problem, error: Exception) -> SearchResult:
    why = str(error).partition("\n")[0]
    detail = f"its actor was lost {TRIES} times: {why}"
    return SearchResult(problem.name, False, reason=Failure.ENGINE, detail=detail)


class ProverActor:
    """What runs in an actor: a prover, and engines of one kind at a time."""

    def __init__(self, make: MakesProver, guide: str | None) -> None:
        if guide is not None:
            os.environ[PROGRESS_VARIABLE] = guide
        self._make = make
        self._known: LRUCache[SearchResult] = LRUCache(KEPT_RESULTS)
        self._prover: AnyProver | None = None
        self._settings: ProverConfig | None = None
        self._kind: dict[str, Any] = {}
        self._engines: list[Server] = []

    def ready(self) -> None:
        """Answer, once there is room for this actor."""

    def search(self, work: _Work) -> Iterator[tuple[int, SearchResult | None, Exception | None]]:
        """Search; the error is data here: raised, Ray would wrap it into a class of its own."""
        numbers = [number for number, _ in work.problems]
        try:
            prover: AnyProver = self._prepared(work.settings)
            if work.whole_proof:
                prover = WholeProofs(prover, seed=work.seed, known=self._known)
            found = prover.search_many(
                [problem for _, problem in work.problems], self._of_kind(work)
            )
            for index, result in found:
                yield numbers[index], result, None
        except Exception as error:
            yield -1, None, error.with_traceback(None)

    def _prepared(self, settings: ProverConfig) -> AnyProver:
        """Return the prover with these settings; one that searches loads its model once."""
        if self._prover is None or not isinstance(self._prover, BaseProver):
            self._prover = self._make(settings)
        elif settings != self._settings:
            self._prover.settings = attrs.evolve(self._prover.settings, seed=settings.seed)
        self._settings = settings
        return self._prover

    def _of_kind(self, work: _Work) -> Sequence[Server]:
        kind = work.engine.__getstate__()
        if kind != self._kind:
            for engine in self._engines:
                engine.close()
            self._kind = kind
            self._engines = [work.engine.another() for _ in range(work.settings.num_workers)]
        return self._engines
