"""The forms in which models write proofs are paid, and their neighbours that cheat are not."""

from __future__ import annotations

import pytest

from lean_dojo_plugins.rewards.proof_verified import ProofVerified
from lean_dojo_v2.lean.verify.outcomes import Verdict

PROBLEM = "theorem t : ∀ l : List Nat, l ++ [] = l :="
STATED = "theorem t : ∀ l : List Nat, l ++ [] = l"

HONEST = {
    "alternatives": f"{STATED}\n  | [] => rfl\n  | _ :: _ => by simp",
    "alternatives at the margin": f"{STATED}\n| [] => rfl\n| _ :: _ => by\n  simp",
    "recursion": f"{STATED}\n  | [] => rfl\n  | x :: xs => congrArg (x :: ·) (t xs)",
    "recursion with its measure": (
        f"{STATED} := fun l => by\n  cases l with\n  | nil => rfl\n"
        "  | cons x xs => exact congrArg (x :: ·) (t xs)\ntermination_by l => l.length"
    ),
    "where": f"{STATED} := h\nwhere\n  h (l : List Nat) : l ++ [] = l := by simp",
    "two after where": (
        f"{STATED} := by\n  intro l\n  exact g l\nwhere\n  h (l : List Nat) : l ++ [] = l := by\n"
        "    simp\n  g (l : List Nat) : l ++ [] = l := h l"
    ),
    "example": "example : ∀ l : List Nat, l ++ [] = l := by\n  simp",
    "helper def": (
        "def same (l : List Nat) : Prop := l ++ [] = l\n"
        f"theorem same_all (l : List Nat) : same l := by\n  unfold same\n  simp\n\n{STATED} := same_all"
    ),
    "recursive def": (
        "def copy : List Nat → List Nat\n  | [] => []\n  | x :: xs => x :: copy xs\n\n"
        "theorem copy_eq (l : List Nat) : copy l = l := by\n  induction l with\n  | nil => rfl\n"
        "  | cons x xs h => simp [copy, h]\n\n"
        f"{STATED} := by\n  intro l\n  rw [← copy_eq (l ++ []), List.append_nil, copy_eq]"
    ),
    "recursive lemma": (
        "lemma aux : ∀ l : List Nat, l ++ [] = l\n  | [] => rfl\n"
        f"  | x :: xs => congrArg (x :: ·) (aux xs)\n\n{STATED} := aux"
    ),
    "simp lemma": (
        f"@[simp] private theorem mine (l : List Nat) : l ++ [] = l := by induction l <;> simp_all\n\n"
        f"{STATED} := by\n  intro l\n  simp only [mine]"
    ),
    "inductive": (
        "inductive Fine (l : List Nat) : Prop\n  | mk (h : l ++ [] = l) : Fine l\n\n"
        "theorem fine (l : List Nat) : Fine l := ⟨by simp⟩\n"
        f"{STATED} := by\n  intro l\n  cases fine l with\n  | mk h => exact h"
    ),
    "what comes first in a file": f"import Lean\nopen Nat List\nset_option maxHeartbeats 9999\n\n{STATED} := by\n  simp",
    "lemma": f"theorem aux (l : List Nat) : l ++ [] = l := by simp\n{STATED} := aux",
    "term": f"{STATED} := fun l => by simp",
}
BARE = {"numbered": "1. simp", "two numbered": "1. intro l\n2. simp", "tactics": "intro l\nsimp"}

CHANGES = {
    "instance : Append (List Nat) := ⟨fun a _ => a⟩": "scope",
    "local instance : Append (List Nat) := ⟨fun a _ => a⟩": "scope",
    "@[instance] def first : Append (List Nat) := ⟨fun a _ => a⟩": "scope",
    "@[simp, instance] def first : Append (List Nat) := ⟨fun a _ => a⟩": "scope",
    "def x := 1 instance : Append (List Nat) := ⟨fun a _ => a⟩": "scope",
    "def x := 1\n  attribute [instance] foo": "scope",
    "attribute [local simp] List.append_nil": "scope",
    'local notation a " ++ " b => a': "scope",
    'notation a " ++ " b => a': "metaprogram",
    "macro_rules | `($a ++ $b) => `($a)": "metaprogram",
    'macro "fine" : term => `(rfl)': "metaprogram",
    "axiom cheat (l : List Nat) : l ++ [] = l": "axiom",
    "unsafe def x := 1": "unsafe",
    "opaque x : Nat": "command",
    "theorem aux (l : List Nat) : l ++ [] = l := by sorry": "sorry",
    "theorem aux (l : List Nat) : l ++ [] = l := t l": "cites-itself",
    "theorem aux : 2 ^ 9 = 512 := by native_decide": "native-code",
    "def s : Lean.Syntax := .missing": "metaprogram",
    "def aux (h : autoParam True s) : True := h": "metaprogram",
    "run_cmd pure ()": "metaprogram",
}


@pytest.fixture(scope="module")
def reward():
    made = ProofVerified(engines=1)
    yield made
    made.close()


def judged(reward, texts, problem=PROBLEM, name="t", header=""):
    count = len(texts)
    columns = {"problem": [problem], "full_name": [name], "header": [header]}
    return reward.judgements(texts, **{key: value * count for key, value in columns.items()})


def test_what_models_write_is_paid(reward):
    texts = [*(f"```lean\n{code}\n```" for code in HONEST.values()), *BARE.values()]
    found = judged(reward, texts)
    told = {name: (j.verdict, j.detail) for name, j in zip([*HONEST, *BARE], found, strict=True)}
    assert {name: why for name, why in told.items() if why[0] is not Verdict.SOLVED} == {}


def test_a_helper_that_changes_the_statement_or_the_rules_is_refused_by_name(reward):
    texts = [f"```lean\n{change}\n{STATED} := fun _ => rfl\n```" for change in CHANGES]
    found = judged(reward, texts)
    told = {
        text: j.refusal and j.refusal.reason.value for text, j in zip(CHANGES, found, strict=True)
    }
    assert told == CHANGES


SHADOWED = "def double (n : Nat) := n + n\n\nnamespace Zoo\n\n"


@pytest.mark.parametrize(
    ("helper", "verdict"),
    [
        ("def double (_ : Nat) := 4", "refused"),  # Zoo.double takes the place of double
        ("def Nat.succ (_ : Nat) := 4", "solved"),  # Zoo.Nat.succ, which the statement does not use
        ("def _root_.double (_ : Nat) := 4", "failed"),
    ],
)
def test_a_definition_in_the_place_of_the_statements_own(reward, helper, verdict):
    stated = "theorem two : double 2 = 4"
    text = f"```lean\n{helper}\n{stated} := rfl\n```"
    [found] = judged(reward, [text], f"{stated} :=", "Zoo.two", SHADOWED)
    assert found.verdict.value == verdict
    if verdict == "refused":
        assert found.refusal.reason.value == "statement-changed"


def test_no_form_proves_what_is_false(reward):
    wrong = "theorem w : ∀ n : Nat, n + 1 = n"
    texts = [
        f"```lean\n{wrong}\n  | n => w n\n```",
        f"```lean\n{wrong} := h\nwhere h (n : Nat) : n + 1 = n := h n\n```",
        "```lean\nexample : ∀ n : Nat, n + 0 = n := by simp\n```",
        f"```lean\ntheorem aux : ∀ n : Nat, n + 1 = n\n  | n => aux n\n{wrong} := aux\n```",
        f"```lean\ndef aux (n : Nat) : n + 1 = n := aux n\n{wrong} := aux\n```",
        "1. simp\n2. omega",
    ]
    assert [j.verdict.value for j in judged(reward, texts, f"{wrong} :=", "w")] == ["failed"] * 6


@pytest.mark.slow
def test_no_declaration_stands_in_a_mutual_block(reward, tmp_path):
    file = "mutual\ntheorem a : True := trivial\ntheorem b : True := trivial\nend\n"
    (tmp_path / "A.lean").write_text(file)
    place = {"url": "u", "commit": "c", "file_path": "A.lean", "start": [3, 1], "end": [3, 28]}
    row = {"problem": "theorem b : True :=", "full_name": "b", **place}
    own = ProofVerified(engines=1, projects={"u": tmp_path})
    texts = ["trivial", "```lean\ndef x := 1\ntheorem b : True := trivial\n```"]
    holds, fails = own.judgements(texts, **{key: [value] * 2 for key, value in row.items()})
    own.close()
    assert (holds.verdict, fails.verdict) == (Verdict.SOLVED, Verdict.UNPARSED)
    assert "no declaration may stand before this theorem" in fails.detail
