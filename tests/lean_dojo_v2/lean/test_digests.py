"""States are compared by their terms."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.errors import StaleStateError
from lean_dojo_v2.lean.verify.states import StateDigest, state_digest

GOAL = "∀ (n m : Nat) (h : n = m), m = n"


def after(server, *tactics, goal=GOAL) -> StateDigest:
    state = server.goal_start(goal)
    for tactic in tactics:
        state = server.goal_tactic(state, tactic)
    return state_digest(server, state)


@pytest.mark.parametrize(
    "tactics",
    [
        ["intro x y k"],
        ["intro x", "intro y k"],
        ["intro n m h", "skip"],
        ["intro n m h", "(revert h; intro h)"],
        ["intro n m h", "show m = id n", "show m = n"],
        ["intro _ _ _", "rename_i a b c"],
        ["intro n m h", "refine ?_"],
    ],
    ids=" / ".join,
)
def test_names_and_detours_do_not_matter(engine, tactics):
    assert after(engine, *tactics) == after(engine, "intro n m h")


@pytest.mark.parametrize(
    "tactics",
    [
        ["intro n m"],
        ["intro n m h", "symm"],
        ["intro n m h", "have := trivial"],
        ["intro n m h", "clear h"],
        ["intro m n h", "exfalso"],
        ["intro n m _"],
        ["intro n n h"],
        ["intro n m h", "have k : n = m := h"],
    ],
    ids=" / ".join,
)
def test_all_else_does(engine, tactics):
    assert after(engine, *tactics) != after(engine, "intro n m h")


def test_what_lean_does_not_print_counts(engine):
    """The two goals print alike."""
    as_nat, as_int = (
        after(engine, goal=f"(fun _ : {kind} => True) = (fun _ => True)") for kind in ("Nat", "Int")
    )
    assert as_nat != as_int
    shown, hidden = (
        after(engine, goal=f"∀ x : Nat, @HEq {kind} {value} Nat x → True")
        for kind, value in (("Nat", "1"), ("Int", "1"))
    )
    assert shown != hidden


def test_goals_that_share_a_metavariable_are_told_from_those_that_do_not(engine):
    first = after(engine, "intro n m h", "apply Eq.trans")
    assert len(first.goals) == len(set(first.goals)) == 3
    assert first == after(engine, "intro a b c", "apply Eq.trans")


@pytest.mark.slow
def test_a_state_of_an_engine_that_is_gone_is_said_so(fresh_engine):
    state = fresh_engine.goal_start(GOAL)
    fresh_engine.restart()
    with pytest.raises(StaleStateError):
        state_digest(fresh_engine, state)
