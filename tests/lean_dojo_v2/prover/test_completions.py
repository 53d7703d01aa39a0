"""What models write is read as they meant it; that Lean takes it is tested with the checks."""

from __future__ import annotations

import pytest

from lean_dojo_v2.prover.completions import first_tactic, proof_of, unfenced

T = "theorem t (n : Nat) : n + 0 = n := by\n  simp"
SORRY = T.replace("simp", "sorry")


def fence(code: str, language: str = "lean4") -> str:
    return f"```{language}\n{code}\n```\n"


TACTICS = {
    "simp": "simp",
    "by simp": "simp",
    ":= by simp": "simp",
    "<think>try `rfl`</think>\nsimp": "simp",
    f"<think>\nfirst idea:\n{fence('rfl')}</think>\n{fence('simp')}": "simp",
    "</think>\n\nsimp": "simp",
    "hm, perhaps rfl\n</think>\nsimp": "simp",
    "<think>it goes on and on": "",
    "`simp`": "simp",
    "``simp``": "simp",
    "Use `simp [foo]`.": "simp [foo]",
    "The next tactic is: `by simp`": "simp",
    "exact `foo": "exact `foo",
    "simp -- done": "simp",
    "1. simp": "simp",
    "1) `simp`\n2) `rfl`": "`simp`",
    "- simp": "simp",
    "* exact foo": "exact foo",
    "have h : 1 = 1 := by\n  rfl\nsimp": "have h : 1 = 1 := by rfl",
    "have h : p := by\n  intro x\n  simp\nrfl": "have h : p := by (intro x; simp)",
    "cases h with\n| inl a => exact a\n| inr b =>\n  exact b": "cases h with",
    "cases h with\n  | inl a => exact a\n  | inr b =>\n    exact b": (
        "cases h with | inl a => ?_ | inr b => ?_"
    ),
    fence("theorem t : 1 = 1 := by\n  simp"): "simp",
    "": "",
}


@pytest.mark.parametrize("text", TACTICS)
def test_the_first_tactic(text: str) -> None:
    assert first_tactic(text) == TACTICS[text]


PROOFS = {
    T: "simp",
    fence(f"import Mathlib\nopen Nat\n\n{T}"): "simp",
    f"<think>\nmaybe\n{fence(SORRY)}</think>\n{fence(T)}": "simp",
    f"<think>\nmaybe\n{fence(SORRY)}": "",
    f"### Plan\n{fence(SORRY)}### Proof\n{fence(T)}": "simp",
    f"{fence(T)}It prints:\n{fence('t : ∀ (n : Nat), n + 0 = n', 'text')}": "simp",
    f"{fence(T)}For example:\n{fence('#eval 1 + 0')}": "simp",
    "by simp": "simp",
    ":= by simp": "simp",
    ":=\n  by\n    intro n\n    simp": "intro n\nsimp",
    ":= rfl": "exact rfl",
    "simp": "simp",
    "`simp`": "simp",
    "by\n  intro n\n  simp": "intro n\nsimp",
    fence("theorem t (n : Nat) : n + 0 = n :=\n  rfl"): "exact rfl",
    fence("theorem t : p :=\n  have h := q\n  h"): "exact\n  have h := q\n  h",
    fence("  theorem t (n : Nat) (h : n = (by exact n)) : n + 0 = n := by simp"): "simp",
    fence("@[simp] theorem t : p := by\n  simp\n\n#print axioms t"): "simp",
    f"Here it is:\n\n{T}\n\nIt holds by computation.": "simp",
    fence(f"lemma aux : 1 = 1 := rfl\n{T}"): "have aux : 1 = 1 := rfl\nsimp",
    fence(f"@[simp]\nprivate theorem aux (n : Nat) :\n    n = n := by\n  rfl\n\n{T}"): (
        "@[simp]\nprivate theorem aux (n : Nat) :\n    n = n := by\n  rfl\nsimp"
    ),
    fence("def two := 2\nlemma aux : two = 2 := rfl\n\ntheorem t : 2 = 2 := aux"): (
        "def two := 2\ntheorem aux : two = 2 := rfl\nexact aux"
    ),
    fence("theorem t : ∀ n, n = n\n| 0 => rfl\n| n + 1 => by\n  rfl"): (
        "exact fun\n  | 0 => rfl\n  | n + 1 => by\n    rfl"
    ),
    fence("theorem t.{u} (α : Type u) : α = α := by\n  rfl"): "rfl",
    fence("theorem «t» : p := by\n  simp"): "simp",
    fence("theorem\n  t : p := by\n  simp"): "simp",
    fence("theorem t : p := by\nhave h := q\nexact h"): "have h := q\nexact h",
    fence("theorem t : p := by {\n  simp\n}"): "{\n  simp\n}",
    fence(f"theorem aux.{{u}} (α : Type u) : α = α := rfl\n{T}"): (
        "theorem aux.{u} (α : Type u) : α = α := rfl\nsimp"
    ),
    fence(
        "theorem t (n : Nat) : p := by\n  cases n with\n  | zero => a\n  | succ n => exact t n"
    ): (
        "theorem itself_by_recursion (n : Nat) : p := by\n  cases n with\n  | zero => a\n"
        "  | succ n => exact itself_by_recursion n\napply itself_by_recursion <;> assumption"
    ),
    fence("theorem t : x = y := by\n  t\n  · exact h"): "t\n· exact h",  # a tactic's name
    fence(f"{T}\n}}"): "simp",
    fence("theorem t : p := by\nsimp\n#print axioms t\nend Foo"): "simp",
    fence("theorem t : p ∧ q := by\n  exact ⟨a, b⟩\nwhere\n  a : p := h\n  b : q :=\n    g"): (
        "let rec a : p := h\nlet rec b : q :=\n  g\nexact ⟨a, b⟩"
    ),
    "example : 1 = 1 := rfl": "exact rfl",
    fence("theorem u : 1 = 1 := rfl\nexample : 1 = 1 := u"): "have u : 1 = 1 := rfl\nexact u",
    fence("theorem t : ∀ n, n = n\n  | 0 => rfl\n  | n + 1 => t.x ▸ t n\n"): (
        "theorem itself_by_recursion : ∀ n, n = n\n  | 0 => rfl\n"
        "  | n + 1 => t.x ▸ itself_by_recursion n\napply itself_by_recursion <;> assumption"
    ),
    fence("instance : Add Nat := ⟨fun a _ => a⟩\nopen Nat\n#eval 1\n" + T): (
        "instance : Add Nat := ⟨fun a _ => a⟩\nsimp"
    ),
    "1. simp": "simp",
    "1. `intro n`\n2. `rfl`": "intro n\nrfl",
    "1) intro n\n   intro m\n2) rfl": "intro n\n   intro m\nrfl",
    "- intro n\n- rfl": "intro n\nrfl",
    "theorem other : 1 = 1 := by rfl": "theorem other : 1 = 1 := by rfl",
    "intro n\nexact by rfl": "intro n\nexact by rfl",
}


@pytest.mark.parametrize("text", PROOFS)
def test_the_proof(text: str) -> None:
    assert proof_of(text, "t") == PROOFS[text]


def test_the_last_fence_that_states_the_theorem() -> None:
    text = f"{fence(T)}{fence('theorem u : 1 = 1 := rfl')}"
    assert unfenced(text, "t") == T
    assert unfenced(text) == "theorem u : 1 = 1 := rfl"


def test_lean_takes_what_is_read(engine) -> None:
    from lean_dojo_v2.prover.judging import judge_proof
    from lean_dojo_v2.prover.problem import GoalProblem

    problem = GoalProblem("∀ n : Nat, n + 0 = n")
    helper = "lemma aux (n : Nat) : n + 0 = n := by\n  rfl\n"
    stated = f"{helper}theorem {problem.name} : ∀ n : Nat, n + 0 = n := fun n => by\n  exact aux n"
    for text in ("by simp", ":= by\n  intro n\n  rfl", f"</think>{fence(stated)}", "`simp`"):
        assert judge_proof(engine, problem, text, 60)["valid"], text
    assert not judge_proof(engine, problem, "by sorry", 60)["valid"]
