"""Tactics of several lines as one: the texts; that Lean takes them is tested with the traces."""

from __future__ import annotations

import pytest

from lean_dojo_v2.data.lines import one_line

LINES = {
    "rfl": "rfl",
    'exact f "a  b"': 'exact f "a  b"',
    "rw [a, -- first\n  b] at h\n  ⊢": "rw [a, b] at h ⊢",
    "induction xs generalizing ys with\n| nil => rfl\n| cons x xs ih =>\n  cases h with\n  | inl h => exact h\n  | inr h => exact h": (
        "induction xs generalizing ys with | nil => ?_ | cons x xs ih => ?_"
    ),
    "cases h with\n| inl h\n| inr h => exact f fun x => g x": "cases h with | inl h | inr h => ?_",
    "match n, h with\n| 0, _ => rfl\n| n + 1, (h : p) => exact h": (
        "match n, h with | 0, _ => ?_ | n + 1, (h : p) => ?_"
    ),
    "have h : p ∧\n    q := by\n  constructor\n  · exact a\n  · exact b": "have h : p ∧ q := ?_",
    "if h : a = b then\n  rw [h]\nelse\n  exact g h": "if h : a = b then ?_ else ?_",
    "next x h =>\n  rw [h]\n  rfl": "rename_i x h",
    "simp only [apply (f · a),\n  b]": "simp only [apply (f · a), b]",
    "obtain ⟨x, h⟩ : ∃ x, p x := by\n  exact e": "obtain ⟨x, h⟩ : ∃ x, p x",
    "fun_induction f n with\n| case1 => rfl\n| case2 n ih =>\n  rw [ih]\n  rfl": (
        "fun_induction f n with | case1 => ?_ | case2 n ih => ?_"
    ),
    "exact foo fun\n  | 0 => a\n  | n + 1 => b": "exact foo fun | 0 => a | n + 1 => b",
    "exact ⟨{ x := 1,\n  y := 2 }, rfl⟩": "exact ⟨{ x := 1, y := 2 }, rfl⟩",
    "rw [a, /- why -/ b]": "rw [a,  b]",
    'exact f "--"': 'exact f "--"',
}


@pytest.mark.parametrize("tactic", LINES)
def test_one_line(tactic: str) -> None:
    assert one_line(tactic) == LINES[tactic]


@pytest.mark.parametrize(
    "tactic",
    [
        "· rfl\n  done",
        "{ rfl\n  done }",
        "(rfl\n done)",
        "case inl h =>\n  exact h",
        "all_goals\n  rfl",
        "next =>\n  rw [h]\n  rfl",
        "calc a = b := h\n  _ = c := g",
        "have ⟨x, h⟩ : ∃ x, p x := by\n  exact e",
        "exact foo (by\n  simp\n  rfl)",
        "exact calc\n  a = b := h",
        "induction h\ncase inl => rfl",
        "exact ⟨{ x := 1\n  y := 2 }, rfl⟩",
        "exact\n  let x := 1\n  f x",
        "obtain ⟨x, h⟩ := by\n  exact e",
        "conv_lhs =>\n  rw [a]\n  rfl",
        'exact "two\nlines"',
    ],
)
def test_no_line(tactic: str) -> None:
    assert one_line(tactic) is None
