"""Proofs found step by step: what a goal suggests, and what Lean makes of it."""

from __future__ import annotations

import random

import pytest

from lean_dojo_v2.lean import Server
from lean_dojo_v2.lean.client.records import Goal, Variable
from lean_dojo_v2.prover.problem import GoalProblem
from mining.moves import closers, moves
from mining.play import MiningLimits, Player


def goal(target: str, **hypotheses: str) -> Goal:
    return Goal("g", [Variable(t=kind, name=name) for name, kind in hypotheses.items()], target)


def test_what_is_quantified_is_introduced_first() -> None:
    assert list(moves(goal("∀ (n m : Nat), n = m", n="Nat"))) == ["intro n1 m"]
    assert list(moves(goal("p → q → p"))) == ["intro h h1"]
    assert list(moves(goal("¬p", h="q"))) == ["intro h1"]


def test_the_look_of_a_goal_suggests_steps() -> None:
    assert next(moves(goal("p ∧ q"))) == "constructor"
    assert list(moves(goal("p ∨ q")))[:2] == ["left", "right"]
    assert "obtain ⟨h1, h2⟩ := h" in moves(goal("r", h="p ∧ q"))
    assert "rcases h with h | h" in moves(goal("r", h="p ∨ q"))
    assert "obtain ⟨x, h1⟩ := h" in moves(goal("r", h="∃ x, p x"))
    found = list(moves(goal("l.length = n", l="List α", n="Nat")))
    assert "induction l with | nil => ?_ | cons x xs ih => ?_" in found
    assert "induction n generalizing l with | zero => ?_ | succ n1 ih => ?_" in found
    assert "cases l with | nil => ?_ | cons x xs => ?_" in found


def test_what_closes_a_goal_begins_with_a_hypothesis_and_ends_with_definitions() -> None:
    found = list(closers(goal("l.length = 0", h="l.length = 0", l="List α")))
    assert found[:2] == ["exact h", "rfl"]
    assert found[-1] == "grind [List.length]"


@pytest.mark.parametrize(
    ("target", "first"),
    [
        pytest.param("∀ p q : Prop, p ∧ q → q ∧ p", "intro p q", marks=pytest.mark.slow),
        ("∀ (P : Nat → Prop), P 0 → (∀ n, P n → P (n + 1)) → ∀ n, P n", "intro P"),
    ],
)
def test_proofs_are_steps_that_lean_confirms(engine: Server, target: str, first: str) -> None:
    problem = GoalProblem(target)
    steps = Player(engine).prove(problem)
    assert steps is not None
    assert steps[0].tactic == first
    assert [step.after for step in steps[:-1]] == [step.before for step in steps[1:]]
    assert steps[-1].after == "no goals"
    assert problem.check(engine, "\n".join(step.tactic for step in steps)).valid


def test_chance_finds_other_proofs_and_the_same_ones_again(engine: Server) -> None:
    problem = GoalProblem("∀ (a b : Nat), a ≤ b → a < b + 1")
    found = [
        tuple(s.tactic for s in Player(engine, chance=random.Random(seed)).prove(problem) or ())
        for seed in (1, 2, 3, 4, 1)
    ]
    assert all(found)
    assert len(set(found)) > 1
    assert found[0] == found[-1]


def test_a_budget_ends_it(engine: Server) -> None:
    player = Player(engine, MiningLimits(calls=1))
    assert player.prove(GoalProblem("∀ p q : Prop, p ∧ q → q ∧ p")) is None
