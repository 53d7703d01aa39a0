"""Examples of a critic: a state that a search has expanded, and whether a proof followed.

The outcomes of searches as labels are those of GPT-f's value function (Polu & Sutskever 2020,
arXiv:2009.03393) and of the critic of HTPS (Lample et al. 2022, arXiv:2205.11491). They are
outcomes of the model that searched, and of its limits: a critic for another model is trained anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core.errors import DataError, EmptyDatasetError
from lean_dojo_v2.atomic import atomic_writer
from lean_dojo_v2.benchmarks.states import ENDING, SearchedState, StateFile


@attrs.frozen
class CriticExample:
    """One line of a critic's dataset.

    Attributes:
        state: The goals, as Lean prints them.
        solved: Whether a proof followed.
        theorem: The theorem; its states are never split between training and evaluation.
        logprob: Cumulative log-probability of the tactics that led to the state.
    """

    state: str
    solved: bool
    theorem: str
    logprob: float = 0.0

    @property
    def text(self) -> str:
        """The model's input."""
        return state_text(self.state)

    @property
    def label(self) -> float:
        """1 if a proof followed, else 0."""
        return float(self.solved)

    def to_dict(self) -> dict[str, Any]:
        """Return the line's JSON object."""
        return attrs.asdict(self)

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> CriticExample:
        """Read a line's JSON object; a ``TypeError`` says why it is none."""
        for key, kind in (("state", str), ("solved", bool), ("theorem", str)):
            if not isinstance(row.get(key), kind):
                raise TypeError(f"{key!r} is required and must be a {kind.__name__}")
        logprob = row.get("logprob", 0.0)
        if isinstance(logprob, bool) or not isinstance(logprob, int | float):
            raise TypeError("'logprob' must be a number")
        return cls(row["state"], row["solved"], row["theorem"], float(logprob))


def state_text(state: str) -> str:
    r"""Return the critic's input.

    >>> state_text("⊢ True")
    'Goal:\n⊢ True'
    """
    return f"Goal:\n{state}"


@attrs.frozen
class Gathered:
    """Counts of the searched states.

    Attributes:
        kept: Examples written.
        held_out: States left out because nobody may learn from their theorems.
        undecided: States left out because the search ended too early to tell.
    """

    kept: int
    held_out: int
    undecided: int

    def __str__(self) -> str:
        """Say it in one sentence."""
        total = self.kept + self.held_out + self.undecided
        text = f"{self.kept} of {total} searched states are learned from"
        if self.held_out:
            share = 100 * self.held_out / total
            text += f"; {self.held_out} ({share:.1f} %) are of held-out theorems"
        if self.undecided:
            text += f"; of {self.undecided} the search ended too early to tell"
        return text


def examples_of_searches(
    states: Iterator[SearchedState], within: int | None
) -> Iterator[CriticExample]:
    """Yield an example for every state whose outcome is known ``within`` so many expansions."""
    for one in states:
        if (solved := one.solved_within(within)) is not None:
            yield CriticExample(one.state, solved, one.theorem, one.logprob)


def gather(source: Path, target: Path, within: int | None = None) -> Gathered:
    """Write a critic's dataset from searches, without the states of held-out theorems.

    Args:
        source: A file of searched states, or a folder with such files at any depth.
        target: The file to write, in one step.
        within: A state is solved if a proof followed within so many expansions of it and of states
            below it; ``None``: within the search's own limit.

    Raises:
        DataError: If there are no such files, or one holds something else.
        EmptyDatasetError: If nothing is left to learn from, or all states had the same outcome;
            ``target`` is then as it was.
    """
    files = [source] if source.is_file() else sorted(source.rglob(f"*{ENDING}"))
    if not files:
        raise DataError(
            f"holds no *{ENDING}; `lean-dojo bench` and the trainer expert-iteration leave them in "
            "the folders of their runs",
            path=source,
        )
    kept = held_out = total = 0
    outcomes: set[bool] = set()
    with atomic_writer(target) as stream:
        for file in files:
            for state in StateFile(file).read():
                total += 1
                if state.is_held_out:
                    held_out += 1
                    continue
                for example in examples_of_searches(iter([state]), within):
                    kept += 1
                    outcomes.add(example.solved)
                    stream.write(orjson.dumps(example.to_dict(), option=orjson.OPT_APPEND_NEWLINE))
        found = Gathered(kept, held_out, total - kept - held_out)
        if len(outcomes) < 2:  # raised in here, so that an earlier dataset stays
            raise EmptyDatasetError(_nothing(found, outcomes), path=source)
    return found


def _nothing(found: Gathered, outcomes: set[bool]) -> str:
    if outcomes:
        which = "solved" if outcomes.pop() else "unsolved"
        return (
            f"all {found.kept} searched states are {which}; a critic needs solved and unsolved ones"
        )
    if found.held_out and not found.undecided:
        return (
            f"all {found.held_out} searched states belong to held-out theorems, which are never "
            "trained on; search the benchmark `training`, or practise with expert-iteration"
        )
    return f"there is nothing to learn from: {found}"
