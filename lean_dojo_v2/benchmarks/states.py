"""States expanded by searches, with their outcomes: the data of a critic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import attrs
import orjson

from lean_dojo_core.errors import DataError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_v2.atomic import atomic_writer
from lean_dojo_v2.database.export.splits import HELD_OUT_SPLITS, split_of
from lean_dojo_v2.prover.search.tree import NodeStatus, SearchTree
from lean_dojo_v2.runs.files import append_lines, read_records

ENDING = ".states.jsonl"


@attrs.frozen
class SearchedState:
    """A state that a search expanded, and its outcome.

    Attributes:
        theorem: The theorem's name in its benchmark.
        attempt: Which attempt at it, from 0.
        split: The theorem's own split where it was traced, else the file's; ``None`` for none.
        node: The state's number in the search tree; 0 is the first state.
        state: The goals, as Lean prints them.
        depth: Number of tactics that led to it.
        logprob: Their cumulative log-probability.
        solved: Whether the proof that was found goes through it.
        steps: Tactics from it to the end of that proof; ``None`` without one.
        expansions: Expansions of it and of states below it: until the proof, if one followed.
        waiting: States below it that were reached and not expanded when the search ended.
    """

    theorem: str
    attempt: int
    split: str | None
    node: int
    state: str
    depth: int
    logprob: float
    solved: bool
    steps: int | None
    expansions: int
    waiting: int

    @property
    def is_held_out(self) -> bool:
        """Whether it may not be used for training."""
        return self.split in HELD_OUT_SPLITS

    def solved_within(self, expansions: int | None) -> bool | None:
        """Say whether a proof followed within this many expansions of it and the states below it.

        Args:
            expansions: The limit; ``None`` for that of the search.

        Returns:
            ``None`` if the search ended too early to tell: fewer were spent, and some state
            below still waited.
        """
        if expansions is None:
            return self.solved
        if self.solved:
            return self.expansions <= expansions
        return None if self.expansions < expansions and self.waiting else False


def states_of(problem: BenchmarkProblem, attempt: int, tree: SearchTree) -> Iterator[SearchedState]:
    """Yield the states that a search has expanded, each with what became of it.

    Args:
        problem: What was searched.
        attempt: Which attempt, from 0.
        tree: Its tree.
    """
    split = problem.split if problem.theorem is None else split_of(problem.theorem)
    spent: Counter[int] = Counter()
    waiting: Counter[int] = Counter()
    steps: dict[int, int] = {}
    for node in reversed(tree.nodes):  # whatever was reached from a state comes after it
        spent[node.id] += len(node.expansions)
        if node.status is NodeStatus.SOLVED:
            steps[node.id] = 0
        if node.parent is not None:
            waits = node.status is NodeStatus.OPEN and not node.expansions
            spent[node.parent] += spent[node.id]
            waiting[node.parent] += waiting[node.id] + waits
            if node.id in steps:
                steps[node.parent] = steps[node.id] + 1
    for node in tree.nodes:
        if node.expansions:
            yield SearchedState(
                theorem=problem.full_name,
                attempt=attempt,
                split=split,
                node=node.id,
                state=node.state,
                depth=node.depth,
                logprob=node.logprob,
                solved=node.id in steps,
                steps=steps.get(node.id),
                expansions=spent[node.id],
                waiting=waiting[node.id],
            )


@attrs.frozen
class StateFile:
    """An append-only JSONL file of searched states; an incomplete line is skipped.

    Attributes:
        path: The file.
    """

    path: Path

    def append(self, states: Iterator[SearchedState]) -> None:
        """Add the states of one search and force them to disk."""
        append_lines(self.path, (attrs.asdict(state) for state in states))

    def keep_only(self, attempts: Collection[tuple[str, int]]) -> None:
        """Drop the states of all other attempts, which a kill may have left incomplete.

        Args:
            attempts: Theorems' names, each with the number of an attempt.
        """
        if not self.path.exists() or all(
            (one.theorem, one.attempt) in attempts for one in self.read()
        ):
            return
        with atomic_writer(self.path) as stream:
            for one in self.read():
                if (one.theorem, one.attempt) in attempts:
                    stream.write(orjson.dumps(attrs.asdict(one), option=orjson.OPT_APPEND_NEWLINE))

    def read(self) -> Iterator[SearchedState]:
        """Read the states in the file's order.

        Raises:
            DataError: If the file cannot be read, or a line is no such state.
        """
        try:
            yield from read_records(self.path, SearchedState, "a state of a search")
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path=self.path) from error
