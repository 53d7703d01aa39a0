"""Best-first proof search over batched samples, for several theorems at once.

States wait in one priority queue a theorem, by the negative cumulative log-probability of the
tactics that reached them (GPT-f, Polu & Sutskever 2020, arXiv:2009.03393), optionally divided by a
power of the depth, plus a weight times the predicted number of remaining steps (LeanProgress, Huang
et al. 2025, arXiv:2502.17925). The best states of several theorems are expanded together, so that a
model generates for all of them in one batch; while Lean tries the tactics of some theorems, the
model generates for others.

A state in which nothing is open is not yet a proof: the whole proof is checked again, and only what
Lean confirms counts.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from operator import attrgetter
from typing import TypeAlias

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.prover.problem import Problem
from lean_dojo_v2.prover.search.result import Failure, SearchResult
from lean_dojo_v2.prover.search.theorem import Child, Run, SearchSettings
from lean_dojo_v2.prover.search.tree import Node
from lean_dojo_v2.prover.suggestion import (
    GeneratorError,
    Patience,
    PremiseSource,
    ProgressEstimator,
    Suggestion,
    TacticGenerator,
)

PATIENCE = 0.25
"""A batch waits so long to become full, in units of the time that the last one took."""

BatchReport: TypeAlias = Callable[[Sequence[tuple[str, Node, Sequence[Suggestion]]]], None]
"""Told of every batch: the theorems' names, their states, and what was suggested."""


@attrs.define
class BestFirstSearch:
    """Searches proofs of many problems with one generator and a few engines.

    Attributes:
        generator: Proposes tactics.
        settings: Limits and weights.
        progress: Predicts remaining steps, if there is such a model.
        premises: Retrieves premises for the generator's prompt, if there is a retriever.
    """

    generator: TacticGenerator
    settings: SearchSettings = attrs.Factory(SearchSettings)
    progress: ProgressEstimator | None = None
    premises: PremiseSource | None = None

    def run(self, problems: Sequence[Problem], servers: Sequence[Server]) -> list[SearchResult]:
        """Search all problems and give the results in their order."""
        results = dict(self.results(problems, servers))
        return [results[index] for index in range(len(problems))]

    def results(
        self,
        problems: Sequence[Problem],
        servers: Sequence[Server],
        on_batch: BatchReport | None = None,
    ) -> Iterator[tuple[int, SearchResult]]:
        """Search all problems; yield each result with its index as soon as it is known.

        Args:
            problems: What to prove.
            servers: Engines to use, at least one. A theorem stays on the engine that opened it,
                where its states live; theorems of one file go to one engine, as long as that is
                not much busier than the others.
            on_batch: Called after every generated batch.

        Raises:
            UsageError: If there is no server.
            GeneratorError: If the generator cannot answer at all, or not any more.
        """
        if not servers:
            raise UsageError("a search needs at least one Lean server")
        search = _Pass(self, problems, servers, on_batch)
        try:
            yield from search.results()
        finally:
            search.close()


class _Lane:
    """An engine with the one thread that talks to it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.load = 0
        self.files: set[str] = set()
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="lean-lane")


@attrs.frozen
class _Task:
    index: int
    run: Run
    lane: _Lane


class _Pass:
    """One pass over some problems: which wait, which are with the model, which with Lean."""

    def __init__(
        self,
        search: BestFirstSearch,
        problems: Sequence[Problem],
        servers: Sequence[Server],
        on_batch: BatchReport | None,
    ) -> None:
        self.search = search
        self.batch_size = search.settings.batch_size
        self.on_batch = on_batch
        self.lanes = [_Lane(server) for server in servers]
        self.waiting = deque(enumerate(problems))
        self.ready: deque[_Task] = deque()
        self.busy: dict[Future[list[Child]], _Task] = {}
        self.patience = Patience()
        self.generation_seconds = 0.0

    def results(self) -> Iterator[tuple[int, SearchResult]]:
        while self.waiting or self.ready or self.busy:
            self._open_more()
            if self._is_enough_ready():
                yield from self._fill_batch()
                yield from self._expand()
            yield from self._collect(0 if self._is_enough_ready() else None)

    def close(self) -> None:
        """Let the engines finish the tactic that they are at, and no more."""
        for task in [*self.ready, *self.busy.values()]:
            task.run.stop()
        for lane in self.lanes:
            lane.executor.shutdown(wait=True, cancel_futures=True)

    def _active(self) -> int:
        return len(self.ready) + len(self.busy)

    def _open_more(self) -> None:
        """Keep two batches of theorems going: one in the model, one in Lean."""
        while self.waiting and self._active() < 2 * self.batch_size:
            index, problem = self.waiting.popleft()
            lane = self._lane_for(problem)
            lane.load += 1
            task = _Task(index, Run(problem, lane.server, self.search.settings), lane)
            self.busy[lane.executor.submit(task.run.open)] = task

    def _lane_for(self, problem: Problem) -> _Lane:
        """Choose an engine that was given the problem's file before, unless it has much more to do.

        An engine goes on from where it was in a file; another one would elaborate it anew. "Much
        more" is half of an engine's fair share of the two batches that are under way.
        """
        load = attrgetter("load")
        free: _Lane = min(self.lanes, key=load)
        if problem.place is None:
            return free
        file = problem.place.file_path
        lane: _Lane = min((one for one in self.lanes if file in one.files), key=load, default=free)
        if lane.load > free.load + self.batch_size // len(self.lanes):
            lane = free
        lane.files.add(file)
        return lane

    def _is_enough_ready(self) -> bool:
        """Generate when half of what is active is ready: small batches waste the model."""
        return bool(self.ready) and (
            len(self.ready) >= min(self.batch_size, (self._active() + 1) // 2)
        )

    def _fill_batch(self) -> Iterator[tuple[int, SearchResult]]:
        """Wait for Lean as long as that is short beside what a larger batch saves."""
        deadline = time.monotonic() + PATIENCE * self.generation_seconds
        while self.busy and len(self.ready) < self.batch_size:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            yield from self._collect(left)
            self._open_more()

    def _expand(self) -> Iterator[tuple[int, SearchResult]]:
        batch: list[tuple[_Task, Node]] = []
        while self.ready and len(batch) < self.batch_size:
            task = self.ready.popleft()
            node = task.run.next_node()
            if node is None:
                yield self._finished(task)
            else:
                batch.append((task, node))
        if not batch:
            return
        try:
            suggestions = self._generate(batch)
        except GeneratorError as error:
            self.patience.failed(error)
            for task, _ in batch:
                task.run.fail(Failure.GENERATOR, str(error))
                yield self._finished(task)
            return
        self.patience.answered()
        for (task, node), proposed in zip(batch, suggestions, strict=True):
            self.busy[task.lane.executor.submit(task.run.apply, node, proposed)] = task
        if self.on_batch is not None:
            self.on_batch(
                [
                    (task.run.problem.name, node, proposed)
                    for (task, node), proposed in zip(batch, suggestions, strict=True)
                ]
            )

    def _generate(self, batch: Sequence[tuple[_Task, Node]]) -> list[list[Suggestion]]:
        started = time.monotonic()
        goals = [node.state for _, node in batch]
        premises: Sequence[Sequence[str]] = ()
        if self.search.premises is not None:
            places = [task.run.problem.place for task, _ in batch]
            premises = self.search.premises.retrieve(goals, places)
        suggestions = self.search.generator.generate(
            goals, num_samples=self.search.settings.num_sampled_tactics, premises=premises
        )
        self.generation_seconds = time.monotonic() - started
        for task, _ in batch:
            task.run.add_time(self.generation_seconds)
        return suggestions

    def _collect(self, timeout: float | None) -> Iterator[tuple[int, SearchResult]]:
        """Take what Lean has finished; wait until there is something, ``timeout`` s at most."""
        futures, _ = wait(self.busy, timeout=timeout, return_when=FIRST_COMPLETED)
        done = [(future, self.busy.pop(future)) for future in futures]
        children: list[tuple[Run, Child]] = []
        for future, task in done:
            children += [(task.run, child) for child in future.result()]
        for (run, child), steps in zip(children, self._steps_left(children), strict=True):
            run.push(child, steps)
        for _, task in done:
            if task.run.result is not None:
                yield self._finished(task)
            else:
                self.ready.append(task)

    def _steps_left(self, children: Sequence[tuple[Run, Child]]) -> Sequence[float | None]:
        if self.search.progress is None or not children:
            return [None] * len(children)
        items = [
            (child.parent.state, run.prefix(child.parent), child.tactic) for run, child in children
        ]
        return self.search.progress.predict(items)

    @staticmethod
    def _finished(task: _Task) -> tuple[int, SearchResult]:
        task.lane.load -= 1
        assert task.run.result is not None
        return task.index, task.run.result
