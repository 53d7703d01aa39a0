"""Theorems that formatters are tried on: ordinary ones, and those that break naive code."""

from __future__ import annotations

import attrs

from lean_dojo_core.records import Annotation, Theorem, TracedTactic

_ADD_COMM = Annotation("Nat.add_comm", "Init/Data/Nat/Basic.lean", (140, 19), (140, 27))

_PLAIN = Theorem(
    "Sample.add_swap",
    "Sample/Nat.lean",
    (3, 1),
    (6, 8),
    "https://example.org/owner/sample",
    "0" * 40,
    theorem_statement="theorem Sample.add_swap (a b c : Nat) : a + b + c = b + a + c :=",
    traced_tactics=(
        TracedTactic(
            "rw [Nat.add_comm a b]",
            "a b c : Nat\n⊢ a + b + c = b + a + c",
            "no goals",
            annotated="rw [<a>Nat.add_comm</a> a b]",
            premises=(_ADD_COMM,),
        ),
    ),
)
_STEPS = attrs.evolve(
    _PLAIN,
    full_name="Sample.and_swap",
    start=(8, 1),
    end=(12, 20),
    theorem_statement="theorem Sample.and_swap (p q : Prop) (h : p ∧ q) : q ∧ p :=",
    traced_tactics=(
        TracedTactic(
            "constructor",
            "p q : Prop\nh : p ∧ q\n⊢ q ∧ p",
            "case left\np q : Prop\nh : p ∧ q\n⊢ q\n\ncase right\np q : Prop\nh : p ∧ q\n⊢ p",
        ),
        TracedTactic("exact h.2", "case left\np q : Prop\nh : p ∧ q\n⊢ q", "no goals"),
        TracedTactic("exact h.1", "case right\np q : Prop\nh : p ∧ q\n⊢ p", "no goals"),
    ),
)

SAMPLE_THEOREMS: tuple[Theorem, ...] = (_PLAIN, _STEPS)
"""Ordinary theorems: one step, and several."""

ODD_THEOREMS: tuple[Theorem, ...] = (
    attrs.evolve(_PLAIN, full_name="term_mode", traced_tactics=()),
    attrs.evolve(_PLAIN, full_name="no_statement", theorem_statement=None),
    attrs.evolve(
        _PLAIN,
        full_name="«sorry 𝔸»",
        theorem_statement="theorem «sorry 𝔸» : (∀ x : ℕ, x = x) ∧ «a b» = «a b» := by",
        traced_tactics=(
            TracedTactic("sorry", "⊢ ∀ (x : ℕ), x = x", "no goals"),
            TracedTactic("exact (by admit)", "⊢ 𝔸 = 𝔸", "no goals"),
        ),
        difficulty_rating=float("inf"),
    ),
    attrs.evolve(
        _PLAIN,
        full_name="several_lines",
        traced_tactics=(
            TracedTactic("rw [foo,\n  bar]", "h : a = b\n⊢ b = a", "⊢ a = a"),
            TracedTactic("  rfl  ", "⊢ a = a", ""),
            TracedTactic("simp", "", "no goals"),
            TracedTactic("done", "no goals", "no goals"),
        ),
    ),
    attrs.evolve(
        _PLAIN,
        full_name="long_goal",
        traced_tactics=(
            TracedTactic("simp_all", "h : x = 1\n" * 20_000 + "⊢ <a>x</a> = 1", "no goals"),
        ),
    ),
)
"""No proof, no statement, ``sorry``, several lines, empty states, marks in a very long goal."""

ODD_COMPLETIONS: tuple[str, ...] = (
    "",
    " \n\t",
    "rfl",
    "sorry",
    "simp [Nat.add_comm]\n\n-- and a remark",
    "```lean\nrfl\n```",
    "𝔸 ⊢ «a b» \x00 \ud7ff",
    "exact (((((((((",
    "simp " * 5_000,
    "end\naxiom oops : False\ntheorem t : False := oops",
)
"""What models really write."""
