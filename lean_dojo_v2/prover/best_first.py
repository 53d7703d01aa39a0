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

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import attrs

from lean_dojo_v2.lean.server import Server
from lean_dojo_v2.prover.problem import Problem
from lean_dojo_v2.prover.result import Failure, SearchResult
from lean_dojo_v2.prover.run import Child, Run, SearchSettings
from lean_dojo_v2.prover.search_tree import Node
from lean_dojo_v2.prover.suggestion import (
    PremiseSource,
    ProgressEstimator,
    Suggestion,
    TacticGenerator,
)


class _Lane:
    """An engine with the one thread that talks to it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.load = 0
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="lean-lane")


@attrs.frozen
class _Task:
    index: int
    run: Run
    lane: _Lane


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
        on_batch: Callable[[], None] | None = None,
    ) -> Iterator[tuple[int, SearchResult]]:
        """Search all problems; yield each result with its index as soon as it is known.

        Args:
            problems: What to prove.
            servers: Engines to use, at least one. A theorem stays on the engine that opened it,
                where its states live.
            on_batch: Called after every generated batch, for a progress display.
        """
        lanes = [_Lane(server) for server in servers]
        waiting = deque(enumerate(problems))
        ready: deque[_Task] = deque()
        busy: dict[Future[list[Child]], _Task] = {}
        try:
            while waiting or ready or busy:
                self._open_more(waiting, len(ready) + len(busy), lanes, busy)
                if self._enough_ready(ready, busy):
                    yield from self._expand(ready, busy)
                    if on_batch is not None:
                        on_batch()
                done, _ = wait(busy, timeout=0 if ready else None, return_when=FIRST_COMPLETED)
                yield from self._collect([(future, busy.pop(future)) for future in done], ready)
        finally:
            for lane in lanes:
                lane.executor.shutdown(wait=True, cancel_futures=True)

    def _open_more(
        self,
        waiting: deque[tuple[int, Problem]],
        active: int,
        lanes: Sequence[_Lane],
        busy: dict[Future[list[Child]], _Task],
    ) -> None:
        """Keep two batches of theorems going: one in the model, one in Lean."""
        while waiting and active < 2 * self.settings.batch_size:
            index, problem = waiting.popleft()
            lane = min(lanes, key=lambda lane: lane.load)
            lane.load += 1
            task = _Task(index, Run(problem, lane.server, self.settings), lane)
            busy[lane.executor.submit(task.run.open)] = task
            active += 1

    def _enough_ready(self, ready: deque[_Task], busy: dict[Future[list[Child]], _Task]) -> bool:
        """Generate when half of what is active is ready: small batches waste the model."""
        active = len(ready) + len(busy)
        return bool(ready) and len(ready) >= min(self.settings.batch_size, (active + 1) // 2)

    def _expand(
        self, ready: deque[_Task], busy: dict[Future[list[Child]], _Task]
    ) -> Iterator[tuple[int, SearchResult]]:
        batch: list[tuple[_Task, Node]] = []
        while ready and len(batch) < self.settings.batch_size:
            task = ready.popleft()
            node = task.run.next_node()
            if node is None:
                yield self._finished(task)
            else:
                batch.append((task, node))
        if not batch:
            return
        try:
            suggestions = self._generate(batch)
        except Exception as error:
            # The model is somebody's plugin; every theorem of the batch is told, then the caller.
            for task, _ in batch:
                task.run.fail(Failure.GENERATOR, f"{type(error).__name__}: {error}")
            raise
        for (task, node), proposed in zip(batch, suggestions, strict=True):
            busy[task.lane.executor.submit(task.run.apply, node, proposed)] = task

    def _generate(self, batch: Sequence[tuple[_Task, Node]]) -> list[list[Suggestion]]:
        goals = [node.state for _, node in batch]
        premises: Sequence[Sequence[str]] = ()
        if self.premises is not None:
            premises = [
                self.premises.retrieve([node.state], file_path=task.run.problem.file_path)[0]
                for task, node in batch
            ]
        return self.generator.generate(
            goals, num_samples=self.settings.num_sampled_tactics, premises=premises
        )

    def _collect(
        self, done: Sequence[tuple[Future[list[Child]], _Task]], ready: deque[_Task]
    ) -> Iterator[tuple[int, SearchResult]]:
        children: list[tuple[Run, Child]] = []
        for future, task in done:
            children += [(task.run, child) for child in future.result()]
        for (run, child), steps in zip(children, self._steps_left(children), strict=True):
            run.push(child, steps)
        for _, task in done:
            if task.run.result is not None:
                yield self._finished(task)
            else:
                ready.append(task)

    def _steps_left(self, children: Sequence[tuple[Run, Child]]) -> Sequence[float | None]:
        if self.progress is None or not children:
            return [None] * len(children)
        items = [
            (child.parent.state, run.prefix(child.parent), child.tactic) for run, child in children
        ]
        return self.progress.predict(items)

    @staticmethod
    def _finished(task: _Task) -> tuple[int, SearchResult]:
        task.lane.load -= 1
        assert task.run.result is not None
        return task.index, task.run.result
