"""The search of one theorem: its queue, its states alive in the engine, its limits."""

import heapq
import itertools
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import attrs

from lean_dojo_v2 import lean
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.prover.problem import Problem, again_if_lost, seed_of
from lean_dojo_v2.prover.search.result import Failure, SearchResult
from lean_dojo_v2.prover.search.tree import Node, NodeStatus, SearchTree
from lean_dojo_v2.prover.suggestion import Suggestion

KEPT_STATES = 512
"""Maximum number of a theorem's states kept in its engine; others are replayed."""


@attrs.frozen
class Child:
    """A new state, not yet in the queue."""

    parent: Node
    tactic: str
    logprob: float
    state: lean.GoalState


class TheoremSearch:
    """One theorem's search; ``open`` and ``apply`` run in its engine's thread, the rest outside."""

    def __init__(self, problem: Problem, server: lean.Server, settings: ProverConfig) -> None:
        self.problem = problem
        self.server = server
        self.settings = settings
        self.tree = SearchTree(problem.name)
        self.words: lean.TacticWords | None = None
        self.result: SearchResult | None = None
        self._queue: list[tuple[float, int, Node]] = []
        self._order = itertools.count()
        self._alive: dict[int, lean.GoalState] = {}
        self._seen: set[tuple[str, ...]] = set()
        self._tried: dict[int, set[str]] = defaultdict(set)
        self.spent = 0.0  # seconds, including its share of generation
        self._since: float | None = None
        self._stopped = False
        self.expansions = 0  # states whose tactics were generated so far
        self._samples = self._lean_calls = self._refused = 0
        self._ended_by_clock = 0

    def open(self) -> list[Child]:
        """Open the root state; there are no children yet."""
        with self._timed():
            try:
                self._lean_calls += 1
                state = again_if_lost(self._open, self._note_clock)
            except lean.LeanError as error:
                self._note_clock(error)
                lost = isinstance(error, (lean.EngineUnavailableError, lean.EngineLostError))
                self.fail(Failure.ENGINE if lost else Failure.CANNOT_OPEN, str(error))
            else:
                root = self.tree.add(None, "", str(state), 0.0, 0.0)
                self._alive[root.id] = state
                self._is_new(state)
                self._enqueue(root, 0.0)
            return []

    def _open(self) -> lean.GoalState:
        state = self.problem.open(self.server)
        with suppress(
            lean.RequestError, lean.EngineUnavailableError
        ):  # an engine that does not know them
            self.words = self.server.tactic_words(state)
        return state

    def apply(self, node: Node, suggestions: Sequence[Suggestion]) -> list[Child]:
        """Try tactics at a state; return new states, most probable first, if the search goes on."""
        with self._timed():
            self._samples += len(suggestions)
            children: list[Child] = []
            try:
                self._try_all(node, distinct(suggestions), children)
            except (lean.EngineUnavailableError, lean.EngineLostError) as error:
                self._note_clock(error)
                self.fail(Failure.ENGINE, str(error))
            except lean.LeanError as error:
                # A tactic that worked before fails in the replay, for example at a time limit.
                # States found until then are kept, since they count as seen.
                node.failures[f"state lost: {error}"[:200]] += 1
            node.status = NodeStatus.EXPANDED
            if len(node.expansions) >= self.settings.visits:
                self._alive.pop(node.id, None)
            return [] if self.result is not None else children

    def _try_all(
        self, node: Node, suggestions: Sequence[Suggestion], children: list[Child]
    ) -> None:
        """Try tactics in order; new states are added to ``children`` at once."""
        for suggestion in suggestions:
            if self._is_over() or self._is_spent():
                break
            if suggestion.tactic in self._tried[node.id]:
                continue
            self._tried[node.id].add(suggestion.tactic)
            outcome = self._try(node, suggestion.tactic)
            if outcome.state is None:
                node.failures[str(outcome.verdict)] += 1
                node.failed[suggestion.tactic] = str(outcome.verdict)
                continue
            child = Child(node, suggestion.tactic, node.logprob + suggestion.logprob, outcome.state)
            if outcome.verdict is lean.Verdict.SOLVED:
                if self._confirm(child):
                    break
            elif self._is_new(outcome.state):
                children.append(child)
            else:
                node.failures["seen before"] += 1

    def _is_new(self, state: lean.GoalState) -> bool:
        """Whether no equal state was reached before."""
        self._lean_calls += 1
        try:
            key = lean.state_digest(self.server, state, timeout=self.settings.tactic_seconds).goals
        except (lean.EngineLostError, lean.StaleStateError) as error:
            self._note_clock(error)
            return False  # a state that kills an engine when read is useless
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _try(self, node: Node, tactic: str) -> lean.TacticOutcome:
        """Try a tactic; retry once if the engine dies, perhaps for another reason."""
        self._lean_calls += 1
        outcome = self._try_once(node, tactic)
        if outcome.engine_died:
            outcome = self._try_once(node, tactic)
        timed_out = outcome.verdict is lean.Verdict.TIMED_OUT
        self._ended_by_clock += timed_out and not outcome.engine_died
        return outcome

    def _try_once(self, node: Node, tactic: str) -> lean.TacticOutcome:
        state = self._state(node)
        left = max(1.0, self.settings.timeout - self.seconds)
        return lean.check_tactic(
            self.server,
            state,
            tactic,
            own_names=self.problem.own_names,
            heartbeats=self.settings.heartbeats,
            timeout=min(self.settings.tactic_seconds, left),
        )

    def _note_clock(self, error: Exception) -> None:
        self._ended_by_clock += isinstance(error, lean.EngineTimeoutError)

    def _state(self, node: Node) -> lean.GoalState:
        """Return a node's state, replayed if it is no longer in the engine."""
        held = self._alive.get(node.id)
        if held is not None and self.server.holds(held):
            return held
        return again_if_lost(lambda: self._replay(node), self._note_clock)

    def _replay(self, node: Node) -> lean.GoalState:
        state = self.problem.open(self.server)
        for tactic in self.tree.tactics(node):
            state = self.server.goal_tactic(state, tactic)
        self._alive[node.id] = state
        return state

    def _confirm(self, child: Child) -> bool:
        tactics = [*self.tree.tactics(child.parent), child.tactic]
        proof = "\n".join(tactics)
        node = self.tree.add(child.parent, child.tactic, "no goals", child.logprob, 0.0)
        outcome = self._check(proof)
        if not outcome.valid:
            node.status = NodeStatus.PROOF_REFUSED
            self._refused += 1
            child.parent.failures[f"proof refused: {outcome.detail}"[:200]] += 1
            return False
        node.status = NodeStatus.SOLVED
        self._end(success=True, tactics=tuple(tactics), proof=proof)
        return True

    def _check(self, proof: str) -> lean.ProofOutcome:
        self._lean_calls += 1
        try:
            check = partial(self.problem.check, self.server, proof)
            return again_if_lost(check, self._note_clock)
        except lean.EngineLostError as error:
            self._note_clock(error)
            return lean.ProofOutcome(False, f"the engine was lost over it: {error}")
        except lean.LeanError as error:
            return lean.ProofOutcome(False, str(error))

    def next_node(self) -> Node | None:
        """Take the most promising state; with none, or at a limit, the search is over."""
        limit = self.settings.max_expansions
        if self.result is not None:
            return None
        if self._is_over():
            self.fail(Failure.TIMED_OUT, f"no proof within {self.settings.timeout:g} s")
        elif limit is not None and self.expansions >= limit:
            self.fail(Failure.EXPANSIONS, f"no proof within {limit} expansions")
        elif self._is_spent():
            self.fail(Failure.LEAN_CALLS, f"no proof within {self.settings.lean_calls} Lean calls")
        elif not self._queue and not self._queue_again():
            self.fail(Failure.EXHAUSTED, "every state that was reached has been expanded")
        else:
            self.expansions += 1
            node = heapq.heappop(self._queue)[2]
            node.expansions.append(self.expansions)
            cost, visits = self.settings.revisit_cost, len(node.expansions)
            if cost is not None and visits < self.settings.visits:
                self._enqueue(node, node.priority + cost * visits)
            return node
        return None

    def _enqueue(self, node: Node, priority: float) -> None:
        heapq.heappush(self._queue, (priority, next(self._order), node))

    def _queue_again(self) -> bool:
        """Queue the expanded states again that may be revisited."""
        for node in self.tree.nodes:
            expanded = node.status is NodeStatus.EXPANDED
            if expanded and len(node.expansions) < self.settings.visits:
                self._enqueue(node, node.priority)
        return bool(self._queue)

    def seed(self, node: Node) -> int:
        """Return the sampling seed for the state of :meth:`next_node`."""
        place = self.problem.place
        return seed_of(
            self.settings.seed,
            self.problem.name,
            "" if place is None else place.file_path,
            len(node.expansions),
            *self.tree.tactics(node),
        )

    def push(self, child: Child, distance: float | None) -> None:
        """Queue a new state; ``distance`` is the estimated distance from a proof."""
        depth = child.parent.depth + 1
        priority = -child.logprob / depth**self.settings.length_exponent
        if distance is not None:
            priority += self.settings.progress_weight * max(0.0, distance)
        text = str(child.state)
        node = self.tree.add(child.parent, child.tactic, text, child.logprob, priority)
        self._alive[node.id] = child.state
        self._enqueue(node, priority)
        if len(self._alive) > KEPT_STATES:
            for _, _, distant in sorted(self._queue)[KEPT_STATES // 2 :]:
                self._alive.pop(distant.id, None)

    @property
    def seconds(self) -> float:
        """Time spent on it so far."""
        return self.spent + (0.0 if self._since is None else time.monotonic() - self._since)

    def stop(self) -> None:
        """Try no further tactics; may be called from any thread."""
        self._stopped = True

    @contextmanager
    def _timed(self) -> Iterator[None]:
        self._since = time.monotonic()
        try:
            yield
        finally:
            self.spent, self._since = self.seconds, None

    def _is_over(self) -> bool:
        return self._stopped or self.seconds > self.settings.timeout

    def _is_spent(self) -> bool:
        """Whether too few Lean calls are left for a tactic and a check of its result."""
        limit = self.settings.lean_calls
        return limit is not None and self._lean_calls + 2 > limit

    def fail(self, reason: Failure, detail: str) -> None:
        """End the search without a proof."""
        self._ended_by_clock += reason is Failure.TIMED_OUT
        self._end(success=False, reason=reason, detail=detail)

    def _end(self, **outcome: Any) -> None:
        self._alive.clear()
        self.result = SearchResult(
            name=self.problem.name,
            **outcome,
            expansions=self.expansions,
            samples=self._samples,
            lean_calls=self._lean_calls,
            refused_proofs=self._refused,
            ended_by_clock=self._ended_by_clock,
            seconds=self.seconds,
            tree=self.tree,
        )


def distinct(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """Return each tactic once, with its best log-probability, most probable first."""
    best: dict[str, Suggestion] = {}
    for suggestion in sorted(suggestions, key=lambda s: (-s.logprob, s.tactic)):
        best.setdefault(suggestion.tactic.strip(), suggestion)
    return list(best.values())
