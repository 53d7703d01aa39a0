"""Theorems for testing formatters: ordinary ones, and ones that break naive code."""

from typing import Any

import attrs

from lean_dojo_core.records import Annotation, Theorem, TracedTactic

_PLAIN = Theorem(
    full_name="Sample.add_swap", file_path="Sample/Nat.lean", start=(3, 1), end=(6, 8),
    url="https://example.org/owner/sample", commit="0" * 40,
    theorem_statement="theorem Sample.add_swap (a b c : Nat) : a + b + c = b + a + c :=",
    traced_tactics=(
        TracedTactic(
            "rw [Nat.add_comm a b]", "a b c : Nat\n⊢ a + b + c = b + a + c", "no goals",
            annotated="rw [<a>Nat.add_comm</a> a b]",
            premises=(
                Annotation("Nat.add_comm", "Init/Data/Nat/Basic.lean", (140, 19), (140, 27)),
            ),
            start=(4, 3), end=(4, 24),
        ),
    ),
)  # fmt: skip


def _theorem(full_name: str, *steps: tuple[str, str, str], **changes: Any) -> Theorem:
    """Make a theorem like the first; a step is a tactic and the goals before and after it."""
    tactics = tuple(
        TracedTactic(*step, start=(line, 3), end=(line, 3 + len(step[0])))
        for line, step in enumerate(steps, 9)
    )
    return attrs.evolve(_PLAIN, full_name=full_name, traced_tactics=tactics, **changes)


_STEPS = _theorem(
    "Sample.and_swap",
    (
        "constructor",
        "p q : Prop\nh : p ∧ q\n⊢ q ∧ p",
        "case left\np q : Prop\nh : p ∧ q\n⊢ q\n\ncase right\np q : Prop\nh : p ∧ q\n⊢ p",
    ),
    ("exact h.2", "case left\np q : Prop\nh : p ∧ q\n⊢ q", "no goals"),
    ("exact h.1", "case right\np q : Prop\nh : p ∧ q\n⊢ p", "no goals"),
    start=(8, 1),
    end=(12, 20),
    theorem_statement="theorem Sample.and_swap (p q : Prop) (h : p ∧ q) : q ∧ p :=",
)

SAMPLE_THEOREMS: tuple[Theorem, ...] = (_PLAIN, _STEPS)
"""Ordinary theorems: one step, and several."""

ODD_THEOREMS: tuple[Theorem, ...] = (
    _theorem("term_mode"),
    attrs.evolve(_PLAIN, full_name="no_statement", theorem_statement=None),
    _theorem(
        "«sorry 𝔸»",
        ("sorry", "⊢ ∀ (x : ℕ), x = x", "no goals"),
        ("exact (by admit)", "⊢ 𝔸 = 𝔸", "no goals"),
        theorem_statement="theorem «sorry 𝔸» : (∀ x : ℕ, x = x) ∧ «a b» = «a b» := by",
        difficulty_rating=float("inf"),
    ),
    _theorem(
        "several_lines",
        ("rw [foo,\n  bar]", "h : a = b\n⊢ b = a", "⊢ a = a"),
        ("  rfl  ", "⊢ a = a", ""),
        ("simp", "", "no goals"),
        ("done", "no goals", "no goals"),
    ),
    _theorem("long_goal", ("simp_all", "h : x = 1\n" * 20_000 + "⊢ <a>x</a> = 1", "no goals")),
)
"""No proof, no statement, ``sorry``, several lines, empty states, marks in a very long goal."""

ODD_COMPLETIONS: tuple[str, ...] = (
    "", " \n\t", "rfl", "sorry", "```lean\nrfl\n```", "simp [Nat.add_comm]\n\n-- and a remark",
    "𝔸 ⊢ «a b» \x00 \ud7ff", "exact (((((((((", "simp " * 5_000,
    "end\naxiom oops : False\ntheorem t : False := oops",
)  # fmt: skip
"""Completions as models write them."""
