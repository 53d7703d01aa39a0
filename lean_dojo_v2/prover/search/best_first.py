"""Best-first proof search over batched samples, for several theorems at once.

States wait in one priority queue per theorem, by the negative cumulative log-probability of the
tactics that reached them (GPT-f, Polu & Sutskever 2020, arXiv:2009.03393), optionally divided by a
power of the depth, plus a weight times an estimate of the remaining steps (LeanProgress, Huang
et al. 2025, arXiv:2502.17925). The best states of several theorems are expanded together, so that a
model generates for all of them in one batch; while Lean tries the tactics of some theorems, the
model generates for others. Results do not depend on timing, unless the safety net of
:class:`.ProverConfig` is hit.

A state without open goals is not yet a proof: the whole proof must pass full verification.
"""

import inspect
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from operator import attrgetter
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.wording import counted
from lean_dojo_v2.lean import Server
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.prover.problem import Problem
from lean_dojo_v2.prover.search.result import Failure, SearchResult
from lean_dojo_v2.prover.search.theorem import Child, TheoremSearch, distinct
from lean_dojo_v2.prover.search.tree import Node
from lean_dojo_v2.prover.suggestion import (
    GeneratorError,
    Patience,
    PremiseSource,
    ProgressEstimator,
    Step,
    Suggestion,
    TacticGenerator,
)
from lean_dojo_v2.runs import report_progress

COHORTS = 2
"""Groups of theorems that take turns: the model works for one while Lean works for the other."""

BatchReport: TypeAlias = Callable[[Sequence[tuple[str, Node, Sequence[Suggestion]]]], None]
"""Called with every batch: theorem names, states and suggestions."""


@attrs.define
class BestFirstSearch:
    """Searches for proofs of many problems with one generator and a few engines.

    Attributes:
        generator: Proposes tactics.
        settings: Limits, order and seed.
        progress: Estimates how far a state is from the end of its proof, optional.
        premises: Retrieves premises for the generator's prompt, optional.
    """

    generator: TacticGenerator
    settings: ProverConfig = attrs.Factory(ProverConfig)
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

        A theorem stays on the engine that opened it, where its states live; theorems of one file go
        to one engine, unless it is much busier than the others. ``on_batch`` is called after every
        generated batch. ``UsageError`` if there is no server, ``GeneratorError`` if the generator
        keeps failing.
        """
        if not servers:
            raise UsageError("a search needs at least one Lean server")
        with closing(_Pass(self, problems, servers, on_batch)) as search:
            yield from search.results()


_files_of: WeakKeyDictionary[Server, set[str]] = WeakKeyDictionary()
"""Files whose theorems an engine has opened, in this pass and in earlier ones."""


class _Lane:
    """An engine with its single thread."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.load = 0
        self.files = _files_of.setdefault(server, set())
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="lean-lane")


@attrs.define(eq=False)
class _Task:
    """A theorem that is being searched."""

    index: int
    run: TheoremSearch
    lane: _Lane
    found: list[Child] = attrs.Factory(list)  # since its cohort's last turn


@attrs.define(eq=False)
class _Cohort:
    """Theorems that take turns together."""

    waiting: deque[tuple[int, Problem]]  # not opened yet, in order
    active: list[_Task] = attrs.Factory(list)  # opened, in order, at most a batch
    busy: int = 0  # how many of them are with Lean


class _Pass:
    """One pass over some problems, which are dealt to two cohorts alternately.

    A cohort's turn comes when Lean is done with all of its theorems; then one state of each goes to
    the model as a batch, while Lean tries tactics for the other cohort. So a batch depends on the
    order of the problems and on Lean's answers, never on timing.
    """

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
        dealt = list(enumerate(problems))
        count = COHORTS if len(dealt) > self.batch_size else 1
        self.cohorts = [_Cohort(deque(dealt[start::count])) for start in range(count)]
        self.busy: dict[Future[list[Child]], tuple[_Cohort, _Task]] = {}
        self.patience = Patience()
        self.takes = inspect.signature(search.generator.generate).parameters.keys()

    def results(self) -> Iterator[tuple[int, SearchResult]]:
        for cohort in self.cohorts:
            self._open_more(cohort)
        while self.cohorts:
            self._note_progress()
            ready = next((cohort for cohort in self.cohorts if not cohort.busy), None)
            if ready is None:
                yield from self._collect()
                continue
            self.cohorts.remove(ready)
            yield from self._take_turn(ready)
            if ready.active:
                self.cohorts.append(ready)

    def _note_progress(self) -> None:
        searched = [task.run for cohort in self.cohorts for task in cohort.active]
        under_way = [run for run in searched if run.result is None]
        if not under_way:
            return
        longest = max(under_way, key=lambda run: run.expansions)
        left = len(under_way) + sum(len(cohort.waiting) for cohort in self.cohorts)
        more = f" and {left - 1} more" if left > 1 else ""
        states = counted(longest.expansions, "state", "states")
        report_progress(f"searching {longest.problem.name}, {states} expanded{more}")

    def close(self) -> None:
        """Stop the engines after their current tactics."""
        for _, task in self.busy.values():
            task.run.stop()
        for lane in self.lanes:
            lane.executor.shutdown(wait=True, cancel_futures=True)

    def _open_more(self, cohort: _Cohort) -> None:
        while cohort.waiting and len(cohort.active) < self.batch_size:
            index, problem = cohort.waiting.popleft()
            lane = self._lane_for(problem)
            lane.load += 1
            task = _Task(index, TheoremSearch(problem, lane.server, self.search.settings), lane)
            cohort.active.append(task)
            self._submit(cohort, task, task.run.open)

    def _submit(
        self, cohort: _Cohort, task: _Task, work: Callable[..., list[Child]], *args: Any
    ) -> None:
        cohort.busy += 1
        self.busy[task.lane.executor.submit(work, *args)] = cohort, task

    def _lane_for(self, problem: Problem) -> _Lane:
        """Choose an engine that has the problem's file loaded; another would elaborate it again.

        But not one that is busier by half of an engine's fair share of the two current batches.
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

    def _collect(self) -> Iterator[tuple[int, SearchResult]]:
        """Wait until Lean is done with a theorem; yield finished searches."""
        futures, _ = wait(self.busy, return_when=FIRST_COMPLETED)
        for future in futures:
            cohort, task = self.busy.pop(future)
            cohort.busy -= 1
            task.found = future.result()
            if task.run.result is not None:
                yield self._finished(task)

    @staticmethod
    def _finished(task: _Task) -> tuple[int, SearchResult]:
        task.lane.load -= 1
        assert task.run.result is not None
        return task.index, task.run.result

    def _take_turn(self, cohort: _Cohort) -> Iterator[tuple[int, SearchResult]]:
        """Expand a state of each theorem, replacing finished ones."""
        going_on = [task for task in cohort.active if task.run.result is None]
        self._queue_found(going_on)
        batch: list[tuple[_Task, Node]] = []
        for task in going_on:
            node = task.run.next_node()
            if node is None:
                yield self._finished(task)
            else:
                batch.append((task, node))
        cohort.active = [task for task, _ in batch]
        self._open_more(cohort)  # Lean opens them while the model generates
        if not batch:
            return
        try:
            suggestions = self._generate(batch)
        except GeneratorError as error:
            self.patience.failed(error)
            for task, _ in batch:
                task.run.fail(Failure.GENERATOR, str(error))
                yield self._finished(task)
            cohort.active = cohort.active[len(batch) :]
            self._open_more(cohort)
            return
        self.patience.answered()
        report = []
        for (task, node), proposed in zip(batch, suggestions, strict=True):
            self._submit(cohort, task, task.run.apply, node, proposed)
            report.append((task.run.problem.name, node, proposed))
        if self.on_batch is not None:
            self.on_batch(report)

    def _queue_found(self, tasks: Sequence[_Task]) -> None:
        found = [(task.run, child) for task in tasks for child in task.found]
        for (run, child), distance in zip(found, self._distances(found), strict=True):
            run.push(child, distance)
        for task in tasks:
            task.found = []

    def _distances(self, found: Sequence[tuple[TheoremSearch, Child]]) -> Sequence[float | None]:
        if self.search.progress is None or not found:
            return [None] * len(found)
        steps = [
            Step(
                before=child.parent.state,
                prefix="\n".join(run.tree.tactics(child.parent)),
                tactic=child.tactic,
                after=str(child.state),
            )
            for run, child in found
        ]
        return self.search.progress.predict(steps)

    def _generate(self, batch: Sequence[tuple[_Task, Node]]) -> list[list[Suggestion]]:
        started = time.monotonic()
        goals = [node.state for _, node in batch]
        options: dict[str, Any] = {"premises": ()}
        if self.search.premises is not None:
            places = [task.run.problem.place for task, _ in batch]
            options["premises"] = self.search.premises.retrieve(goals, places)
        if "seeds" in self.takes:
            options["seeds"] = [task.run.seed(node) for task, node in batch]
        if "words" in self.takes:
            options["words"] = [task.run.words for task, _ in batch]
        suggestions = self.search.generator.generate(
            goals, num_samples=self.search.settings.num_sampled_tactics, **options
        )
        share = (time.monotonic() - started) / len(batch)
        for task, _ in batch:
            task.run.spent += share
        return suggestions


def print_batch(batch: Sequence[tuple[str, Node, Sequence[Suggestion]]]) -> None:
    """Print the expanded states (first goal) and suggestions to standard error."""
    for name, node, suggestions in batch:
        first, *others = node.state.split("\n\n")
        goal = " ".join(first[max(first.rfind("⊢"), 0) :].split())
        more = f" (and {counted(len(others), 'more goal', 'more goals')})" if others else ""
        print(
            f"{name}: depth {node.depth}, log-probability {node.logprob:.2f}: {goal}{more}",
            file=sys.stderr,
        )
        for one in distinct(suggestions)[:5]:
            print(f"  {one.logprob:8.2f}  {one.tactic}", file=sys.stderr)
