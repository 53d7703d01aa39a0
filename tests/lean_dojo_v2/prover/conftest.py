"""A file of theorems to search proofs of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.prover.problem import TheoremProblem

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


@pytest.fixture
def zoo(theorem_in: Callable[[str, str], SourceTheorem]) -> Callable[..., TheoremProblem]:
    """Give a theorem of the file as a problem, by its short name."""
    return lambda name, text=FILE: TheoremProblem(theorem_in(text, f"Zoo.{name}"))
