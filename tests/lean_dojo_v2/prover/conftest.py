"""A file of theorems, and a generator that proposes what it is told to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import pytest

from lean_dojo_v2.lean.source import SourceTheorem
from lean_dojo_v2.prover.problem import TheoremProblem
from lean_dojo_v2.prover.suggestion import Suggestion

FILE = """\
namespace Zoo

def double (n : Nat) : Nat := n + n

axiom cheat : False

theorem given_up : double 1 = 3 := sorry

theorem both (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  sorry

theorem chain (p q r : Prop) (hpq : p → q) (hqr : q → r) (hp : p) : r := by
  sorry

theorem or_swap (p q : Prop) (h : p ∨ q) : q ∨ p := by
  sorry

theorem double_add (n m : Nat) : double (n + m) = double n + double m := by
  sorry

theorem wrong : double 1 = 5 := by
  sorry

theorem broken (n : Nat) : no_such_thing n = n := by
  sorry

end Zoo
"""

Proposals = Sequence[tuple[str, float]]


class Scripted:
    """Proposes tactics by a word that the state holds; it keeps what it was asked.

    Args:
        proposals: Tactics with log-probabilities, for every state that holds the key.
    """

    def __init__(self, proposals: Mapping[str, Proposals]) -> None:
        self.proposals = proposals
        self.batches: list[list[str]] = []
        self.samples: set[int] = set()
        self.premises: list[Sequence[Sequence[str]]] = []

    def generate(
        self, goals: Sequence[str], *, num_samples: int, premises: Sequence[Sequence[str]] = ()
    ) -> list[list[Suggestion]]:
        self.batches.append(list(goals))
        self.samples.add(num_samples)
        self.premises.append(premises)
        return [
            [
                Suggestion(tactic, logprob)
                for key, tactics in self.proposals.items()
                if key in goal
                for tactic, logprob in tactics
            ][:num_samples]
            for goal in goals
        ]

    @property
    def states(self) -> list[str]:
        """Every state it was asked about, in order."""
        return [goal for batch in self.batches for goal in batch]


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted


def theorem(name: str, text: str = FILE) -> SourceTheorem:
    """Find a theorem by its short name, as a trace would place it."""
    pattern = rf"^theorem {re.escape(name)} .*?(?=\n\n|\nend)"
    match = re.search(pattern, text, re.DOTALL | re.MULTILINE)
    assert match, name

    def place(offset: int) -> tuple[int, int]:
        before = text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    return SourceTheorem(text, f"Zoo.{name}", "Zoo.lean", place(match.start()), place(match.end()))


@pytest.fixture
def zoo() -> Callable[..., TheoremProblem]:
    """Give a theorem of the file as a problem, by its short name."""
    return lambda name, text=FILE: TheoremProblem(theorem(name, text))
