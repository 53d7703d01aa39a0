"""Printed goals: read, and opened again in real Lean."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.errors import RequestError
from lean_dojo_v2.lean.verify.goal_text import GoalTextError, open_goal, parse_state, statement
from lean_dojo_v2.prover.problem import GoalProblem


def test_all_parts_of_a_state_are_read():
    text = (
        "case succ\nα : Type u_1\ninst✝ : DecidableEq α\nn m : Nat\nx : Nat := n +\n    m\n"
        "ih : ∀ (k : Nat),\n    k = k\n⊢ x =\n  n + m\n\ncase zero\n⊢ True"
    )
    succ, zero = parse_state(text)
    assert succ.name == "succ"
    assert [v.name for v in succ.variables] == ["α", "inst✝", "n", "m", "x", "ih"]
    assert succ.variables[4].v == "n + m"
    assert succ.variables[5].t == "∀ (k : Nat), k = k"
    assert succ.target == "x = n + m"
    assert (zero.name, zero.variables, zero.target) == ("zero", [], "True")
    assert parse_state("no goals") == []


def test_marks_are_stripped():
    [goal] = parse_state("⊢ <a>Nat.succ</a> 0 = 1")
    assert goal.target == "Nat.succ 0 = 1"


@pytest.mark.parametrize("text", ["hello", "n Nat\n⊢ True", "n : Nat"])
def test_what_is_no_state_is_an_error(text):
    with pytest.raises(GoalTextError):
        parse_state(text)


@pytest.mark.parametrize("text", ["h : ⋯ = 1\n⊢ True", "⊢ f ⋯ = 1", "⊢ ?m.12 = 1"])
def test_what_hides_something_is_not_guessed(text):
    with pytest.raises(GoalTextError, match="hides"):
        statement(parse_state(text)[0])


@pytest.mark.parametrize(
    "text",
    [
        "⊢ True",
        "n : Nat\n⊢ n + 0 = n",
        "p q : Prop\nhp : p\nhq : q\n⊢ p ∧ q",
        "α : Type u_1\nxs ys : List α\n⊢ (xs ++ ys).length = xs.length + ys.length",
        "α : Type u_1\ninst✝ : DecidableEq α\na b : α\nh : a = b\n⊢ b = a",
        "α : Sort u_1\na✝ b : α\nh✝ : a✝ = b\n⊢ b = a✝",
        "n : Nat\nx : Nat := n + 1\n⊢ x = n + 1",
        "case inl\np q : Prop\nh✝ : p\n⊢ p ∨ q",
        "f : Nat → Nat\nhf : ∀ (x y : Nat), f x = f y → x = y\n⊢ ∃ y, f y = f 0",
    ],
)
def test_a_printed_goal_opens_as_itself(engine, text):
    state = open_goal(engine, text)
    from lean_dojo_v2.lean.verify.goal_text import canonical

    assert [canonical(goal) for goal in state.goals] == [canonical(parse_state(text)[0])]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("⊢ thisIsNoConstant = 1", "cannot read"),
        ("⊢ True\n\n⊢ True", "2 goals"),
        ("no goals", "no goals"),
        ("x : NoSuchType\n⊢ True", "cannot read"),
    ],
)
def test_what_cannot_be_read_again_is_said_so(engine, text, complaint):
    with pytest.raises(GoalTextError, match=complaint):
        open_goal(engine, text)


def test_the_first_of_several_goals_opens_if_asked(engine):
    state = open_goal(engine, "⊢ True\n\n⊢ 1 = 1", first_only=True)
    assert [goal.target for goal in state.goals] == ["True"]


def test_a_goal_may_name_universe_levels(engine):
    goal = GoalProblem("∀ (α : Type u) (β : Type v) (p : α × β), p = p")
    assert [str(one.target) for one in goal.open(engine).goals] == [goal.expression]
    assert goal.check(engine, "intro α β p\nrfl").valid
    assert not goal.check(engine, "intro α β p\nexact sorry").valid


def test_what_is_no_universe_level_is_refused_as_before(engine):
    with pytest.raises(RequestError, match="nosuch"):
        GoalProblem("nosuch = nosuch").open(engine)
