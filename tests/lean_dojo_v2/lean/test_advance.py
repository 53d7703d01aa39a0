"""Advance or the look of it, on goals as records."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.verify.advance import advances, canonical
from lean_dojo_v2.lean.verify.goal_text import parse_state

BEFORE = "n m : Nat\nh : n = m\n⊢ m = n"


def goal(text):
    [parsed] = parse_state(text)
    return parsed.goal


@pytest.mark.parametrize(
    ("after", "advance"),
    [
        ("n m : Nat\nh : n = m\n⊢ m = n", False),
        ("case inl\nn m : Nat\nh : n = m\n⊢ m = n", False),
        ("a b : Nat\nh' : a = b\n⊢ b = a", False),
        ("n✝ m✝ : Nat\nh✝ : n✝ = m✝\n⊢ m✝ = n✝", False),
        ("n m : Nat\nh : n = m\nthis : True\n⊢ m = n", False),
        ("n m : Nat\nh : n = m\nthis : n = n\n⊢ m = n", False),
        ("n m : Nat\nh h2 : n = m\n⊢ m = n", False),
        ("n m : Nat\n⊢ m = n", False),
        ("n m k : Nat\nh : n = m\n⊢ n = m", True),
        ("n m : Nat\nh : n = m\nh2 : n ≤ m\n⊢ m = n", True),
        ("n m : Nat\nh : n = m\n⊢ n = n", True),
        ("n m : Nat\n⊢ n = m → m = n", True),
        ("m n : Nat\nh : n = m\n⊢ n = m", True),
    ],
)
def test_what_counts_as_an_advance(after, advance):
    assert advances(goal(BEFORE), [goal(after)]) is advance


@pytest.mark.parametrize(
    ("after", "advance"),
    [
        ("n m : Nat\nh : n = m\n⊢ False", False),  # exfalso
        ("n m : Nat\nh : n = m\n⊢ n = m", False),  # symm
        ("n m : Nat\n⊢ n = m → m = n", False),  # revert h
        ("⊢ ∀ (n m : Nat), n = m → m = n", False),  # revert n m
        ("n m : Nat\nh : n = m\nthis : 0 ≤ 1\n⊢ m = n", False),  # have := Nat.zero_le 1
        ("n m : Nat\nh : n = m\nthis : ∀ (a b : Nat), a + b = b + a\n⊢ m = n", False),
        ("n m : Nat\nh : n = m\nthis : n ≤ n\n⊢ m = n", False),
        ("n m : Nat\nh : n = m\nk : Nat := 7\n⊢ m = n", False),
        ("n m : Nat\nh : n = m\n⊢ (m = n) = True", False),  # refine of_eq_true ?_
        ("n m : Nat\nh : n = m\n⊢ m = n ∧ True", False),  # refine And.left (b := True) ?_
        ("n m : Nat\nh : n = m\n⊢ ¬¬m = n", False),  # refine Classical.not_not.mp ?_
        ("n m : Nat\nh : n = m\n⊢ ¬m = n → False", False),  # apply Classical.byContradiction
        ("n m : Nat\nh : n = m\nk : ¬m = n\n⊢ False", False),  # by_contra k
        ("n m : Nat\nh : n = m\nk : ¬m = n\n⊢ m = n", False),  # by_cases k : m = n
        ("n m : Nat\nh : n = m\nthis : n ≤ m\n⊢ m = n", False),
        ("n m : Nat\nh : n = m\nk : n ≠ m\n⊢ False", False),  # intro of a negation
        ("n m : Nat\nh : n = m\n⊢ n ≤ m", True),
        ("n m : Nat\nh : n = m\n⊢ m + 0 = n", True),
        ("m : Nat\n⊢ m = m", True),  # subst
        ("m : Nat\n⊢ ∀ (n : Int), m = n", True),
        ("n m : Nat\nh : n = m\nx : Nat\nhx : m < x\n⊢ m = n", False),
    ],
)
def test_what_a_strict_judge_pays_for(after, advance):
    assert advances(goal(BEFORE), [goal(after)], strict=True) is advance


@pytest.mark.parametrize(
    ("before", "after", "advance"),
    [
        ("n : Nat\nxs : List Nat\n⊢ xs.length = n",
         "⊢ ∀ (n : Nat) (xs : List Nat), xs.length = n", False),
        ("n : Nat\n⊢ ∀ (m : Nat), n = m", "⊢ ∀ (n m : Nat), n = m", False),
        ("n : Nat\n⊢ ∀ (m : Nat), n = m", "n m : Nat\n⊢ n = m", True),
        ("α : Type\nxs : List α\n⊢ xs = xs ++ []", "⊢ ∀ {α : Type} (xs : List α), xs = xs ++ []",
         False),
        ("α : Type\ninst✝ : Inhabited α\nx : α\n⊢ x = default",
         "α : Type\n⊢ ∀ [inst : Inhabited α] (x : α), x = default", False),
        ("a b c : Nat\n⊢ a = b ↔ b = c", "a b c : Nat\n⊢ b = c ↔ a = b", False),
        ("a b c : Nat\n⊢ a = b ∧ b = c", "a b c : Nat\n⊢ b = c ∧ a = b", True),
    ],
)  # fmt: skip
def test_revert_and_symm_do_not_pay_in_any_form(before, after, advance):
    assert advances(goal(before), [goal(after)], strict=True) is advance


def test_one_goal_that_is_no_easier_spoils_the_step():
    easy = goal("n m : Nat\nh : n = m\n⊢ True")
    assert advances(goal(BEFORE), [easy])
    assert not advances(goal(BEFORE), [easy, goal(BEFORE)])
    assert advances(goal(BEFORE), [])


def test_canonical_ignores_names_and_nothing_else():
    assert canonical(goal(BEFORE)) == canonical(goal("a b : Nat\nk : a = b\n⊢ b = a"))
    assert canonical(goal(BEFORE)) != canonical(goal("a b : Nat\nk : a = b\n⊢ a = b"))
    assert canonical(goal("n : Nat\n⊢ n = n")) != canonical(goal("n : Int\n⊢ n = n"))
    assert canonical(goal("x : Nat := 1\n⊢ x = 1")) != canonical(goal("x : Nat\n⊢ x = 1"))
