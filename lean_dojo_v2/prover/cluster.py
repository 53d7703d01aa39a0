"""Proof search over a Ray cluster: actors, each with a prover, its model and Lean engines.

The problems are dealt to whichever actor is free. Since the seeds of a search are those of its
theorem, the results are those of one machine. What an actor had not finished when it or its node
was lost is searched again by another.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineUnavailableError
from lean_dojo_v2.lean.pool.ray import started_ray
from lean_dojo_v2.lean.verify.kept import Kept
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.base import PROGRESS_VARIABLE, AnyProver, BaseProver
from lean_dojo_v2.prover.problem import Problem
from lean_dojo_v2.prover.search.result import Failure, SearchResult
from lean_dojo_v2.prover.whole_proof import KEPT_RESULTS, WholeProofs
from lean_dojo_v2.runs.so_far import at_work
from lean_dojo_v2.wording import counted

TRIES = 3
"""How often a theorem is searched whose actor is lost each time, and an actor is started."""

MakesProver: TypeAlias = Callable[[ProverConfig], AnyProver]

_STOPPING = 10.0
"""Seconds to wait for what talks to an actor."""

log = logging.getLogger(__name__)


class ClusterProver:
    """Searches on a Ray cluster as a prover does on this machine.

    It uses the Ray of the running driver, and joins or starts one (``ray.init()``) if there is
    none. As many actors start as the cluster has room for. Every node needs this package, and sees
    models and Lean projects under the same paths. The actors end with this object.

    Args:
        make: Makes the prover, in every actor; sent there, so it must be picklable.
        settings: Limits of the search; ``num_workers`` engines run in each actor, a CPU each.
        on_gpu: Whether each actor needs a GPU, if the cluster has any.

    Raises:
        EngineUnavailableError: If Ray is not installed.
        UsageError: If no node has room for an actor.
    """

    def __init__(self, make: MakesProver, settings: ProverConfig, *, on_gpu: bool = False) -> None:
        self.settings = settings
        self._make = make
        self._ray = started_ray()
        has_gpus = on_gpu and self._ray.cluster_resources().get("GPU", 0) > 0
        self._needs = {"num_cpus": settings.num_workers, "num_gpus": int(has_gpus)}
        self._slots = [_Slot(self._start) for _ in range(self._room())]

    def _room(self) -> int:
        """Count the actors that fit on the nodes."""
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

    def _start(self) -> Any:
        guide = os.environ.get(PROGRESS_VARIABLE)
        actor = self._ray.remote(**self._needs)(ProverActor)
        return actor.remote(self._make, guide)

    def search_many(
        self,
        problems: Sequence[Problem],
        servers: Sequence[Server],
        *,
        verbose: bool = False,  # noqa: ARG002 - states are printed where they are searched
    ) -> Iterator[tuple[int, SearchResult]]:
        """Search problems; yield each one's index and result as soon as it is known.

        Args:
            problems: What to prove.
            servers: The first says of which kind the engines are; none of them is used.
            verbose: Ignored.

        Raises:
            GeneratorError: If a model does not answer at all, or not any more.
            EngineUnavailableError: If actors end as they start.
        """
        yield from self._dealt(_Work(self.settings, (), servers[0]), problems)

    def write_many(
        self, problems: Sequence[Problem], servers: Sequence[Server], *, seed: int | None
    ) -> Iterator[tuple[int, SearchResult]]:
        """Have the actors write whole proofs, and check them, in place of searching.

        Args:
            problems: What to prove.
            servers: As for :meth:`search_many`, whose errors it raises.
            seed: As of :class:`~lean_dojo_v2.prover.whole_proof.WholeProofs`, which calls this.
        """
        work = _Work(self.settings, (), servers[0], whole_proof=True, seed=seed)
        yield from self._dealt(work, problems)

    def _dealt(
        self, work: _Work, problems: Sequence[Problem]
    ) -> Iterator[tuple[int, SearchResult]]:
        """Deal problems to the actors for such work."""
        size = min(2 * self.settings.batch_size, -(-len(problems) // len(self._slots)))
        batches = [range(start, start + size) for start in range(0, len(problems), size)]
        todo, heard = SimpleQueue[_Work | None](), SimpleQueue[_Heard]()

        def put(indices: Sequence[int]) -> None:
            todo.put(attrs.evolve(work, problems=[(i, problems[i]) for i in indices]))

        for batch in batches:
            put([index for index in batch if index < len(problems)])
        threads = [
            Thread(target=slot.serve, args=(self._ray, todo, heard), daemon=True)
            for slot in self._slots
        ]
        for thread in threads:
            thread.start()
        left, losses = set(range(len(problems))), Counter[int]()
        try:
            while left:
                at_work(f"{counted(len(left), 'theorem', 'theorems')} left on the cluster")
                said = heard.get()
                if said.error is not None:
                    raise said.error
                for index, result in said.results:
                    left.discard(index)
                    yield index, result
                for index in said.lost:
                    losses[index] += len(said.lost) == 1  # of several, any may have cost it
                    if losses[index] < TRIES:
                        put([index])  # alone: it may be what costs an actor its life
                        continue
                    left.discard(index)
                    detail = f"its actor was lost {TRIES} times: {said.why}"
                    name = problems[index].name
                    yield index, SearchResult(name, False, reason=Failure.ENGINE, detail=detail)
        finally:
            for slot in self._slots:
                slot.release(self._ray, kill=bool(left))
                todo.put(None)
            for thread in threads:
                thread.join(_STOPPING)

    def generate_whole_proof(self, theorem: Theorem | str) -> str:  # noqa: ARG002
        """Refuse: a proof that nobody checks is written on this machine.

        Raises:
            UsageError: Always.
        """
        raise UsageError("a single proof is not written over a cluster; leave out --ray")


@attrs.frozen
class _Work:
    """Problems with their numbers, what their engines are made like, and what is done with them."""

    settings: ProverConfig
    problems: Sequence[tuple[int, Problem]]
    engine: Server
    whole_proof: bool = False
    seed: int | None = None


@attrs.frozen
class _Heard:
    """What came from an actor: results, an error of the search, or what it lost with its life."""

    results: Sequence[tuple[int, SearchResult]] = ()
    error: Exception | None = None
    lost: Sequence[int] = ()
    why: str = ""


@attrs.define(eq=False)
class _Slot:
    """Room for one actor of the cluster, with the actor that is there."""

    start: Callable[[], Any]
    actor: Any = None
    placed: bool = False  # whether the cluster had room for it
    over: bool = False

    def serve(self, ray: Any, todo: SimpleQueue[_Work | None], heard: SimpleQueue[_Heard]) -> None:
        """Have the actor work until there is nothing more; replace it if it is lost.

        Where none starts, as on a node that lacks this package, that is heard as an error.
        """
        self.over, failures = False, 0
        while not self.over:
            try:
                if self.actor is None:
                    self.placed, self.actor = False, self.start()
                ray.get(self.actor.ready.remote())  # work is taken only when there is room for it
                self.placed, failures = True, 0
            except ray.exceptions.RayError as error:
                self.actor, failures = None, failures + 1
                if failures == TRIES and not self.over:
                    heard.put(_Heard(error=_does_not_start(error)))
                    return
                continue
            while (work := todo.get()) is not None:
                if not self._search(ray, work, heard):
                    self.actor = None
                    break
            else:
                return

    def _search(self, ray: Any, work: _Work, heard: SimpleQueue[_Heard]) -> bool:
        """Pass results on as they come; whether the actor is still there."""
        left = [index for index, _ in work.problems]
        try:
            for answer in self.actor.search.options(num_returns="streaming").remote(work):
                index, result, error = ray.get(answer)
                if error is not None:
                    heard.put(_Heard(error=error))
                    continue
                left.remove(index)
                heard.put(_Heard(results=[(index, result)]))
        except ray.exceptions.RayError as lost:
            why = str(lost).partition("\n")[0]
            log.warning(
                "an actor of the cluster is gone (%s); %s searched again",
                why,
                counted(len(left), "theorem is", "theorems are"),
            )
            heard.put(_Heard(lost=left, why=why))
            return False
        return True

    def release(self, ray: Any, *, kill: bool) -> None:
        """Take no more work; an actor that is at some, or that nothing had room for, is killed."""
        self.over = True
        if self.actor is not None and (kill or not self.placed) and ray.is_initialized():
            ray.kill(self.actor)


def _does_not_start(error: Exception) -> EngineUnavailableError:
    return EngineUnavailableError(
        f"no actor starts on the Ray cluster, whose nodes all need this package; after {TRIES} "
        f"tries: {error}"
    )


class ProverActor:
    """What runs in an actor: a prover, and engines of one kind at a time."""

    def __init__(self, make: MakesProver, guide: str | None) -> None:
        if guide is not None:
            os.environ[PROGRESS_VARIABLE] = guide
        self._make = make
        self._known: Kept[SearchResult] = Kept(KEPT_RESULTS)
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
