"""Definitions compile and run as in any Lean: library functions, loops, deriving, metaprograms."""

from __future__ import annotations

from typing import Any

import pytest

BOTH_HOSTS = True

PROGRAMS = {
    "a library function": ("#eval [1, 2, 3].map (· + 1)", "[2, 3, 4]"),
    "a function of the file that calls one": (
        "def rev : List α → List α\n  | [] => []\n  | x :: xs => rev xs ++ [x]\n#eval rev [1, 2, 3]",
        "[3, 2, 1]",
    ),
    "a loop": (
        (
            "def sum (n : Nat) : Nat := Id.run do\n  let mut s := 0\n"
            "  for i in [0:n] do\n    s := s + i\n  return s\n#eval sum 5"
        ),
        "10",
    ),
    "an instance of a structure": (
        (
            "class Mon (α : Type) where\n  one : α\n  mul : α → α → α\n"
            "instance : Mon Nat := ⟨1, Nat.mul⟩\n#eval Mon.mul 2 (3 : Nat)"
        ),
        "6",
    ),
    "deriving through a list": (
        "inductive T where\n  | node (cs : List T)\n  deriving Repr\n#eval T.node [T.node []]",
        "T.node [T.node []]",
    ),
    "a macro with a loop": (
        (
            'macro "sum! " xs:term:max* : term => do\n  let mut r ← `(0)\n'
            "  for x in xs do\n    r ← `($r + $x)\n  return r\n#eval sum! 1 2 3"
        ),
        "6",
    ),
    "strings": ('#eval ("a,b".splitOn ",").length + "xyz".length', "5"),
    "arrays": ("#eval #[3, 1, 2].foldl (· + ·) 0", "6"),
    "exceptions": (
        (
            'def half (n : Nat) : Except String Nat :=\n  if n % 2 = 0 then pure (n / 2) else throw "odd"\n'
            "#eval (half 4 >>= half : Except String Nat)"
        ),
        "Except.ok 1",
    ),
    "a metaprogram": (
        (
            "import Lean\nopen Lean Elab Command\n"
            'elab "hail " n:ident : command => do\n  for m in [n.getId] do\n    logInfo m!"hail {m}"\n'
            "hail you"
        ),
        "hail you",
    ),
}


QUICK = {"a function of the file that calls one", "a macro with a loop", "exceptions"}


@pytest.mark.parametrize(
    "what", [w if w in QUICK else pytest.param(w, marks=pytest.mark.slow) for w in PROGRAMS]
)
def test_programs_compile_and_run(lean: Any, what: str) -> None:
    text, printed = PROGRAMS[what]
    units = lean("frontend.process", file=text, readHeader=True)["units"]
    said = [(m["severity"], m["data"].strip()) for unit in units for m in unit["messages"]]
    assert said == [("information", printed)]


def test_definitions_that_call_the_library_unfold(lean: Any) -> None:
    text = (
        "def f (l : List Nat) := l.length + 1\n"
        "theorem a : f [] = 1 := by\n  simp [f]\n"
        "theorem b : f [1] = 2 := by\n  unfold f\n  rfl\n"
        "theorem c : f [1] = 2 := by\n  decide\n"
    )
    found = lean("dojo.check", file=text, names=["a", "b", "c"])
    assert found["messages"] == []
    assert all(found["declarations"][name]["kind"] == "theorem" for name in "abc")


def test_what_cannot_be_computed_is_still_refused(lean: Any) -> None:
    (unit,) = lean(
        "frontend.process", file="def f (p : Nat → Prop) (h : ∃ n, p n) : Nat := Classical.choose h"
    )["units"]
    assert "consider marking it as 'noncomputable'" in unit["messages"][0]["data"]


AXIOMS = {
    "theorem t : 1 = 1 := rfl": "'t' does not depend on any axioms",
    "theorem t (p : Prop) (h : p) : p := by\n  exact h\naxiom a : False": (
        "'t' does not depend on any axioms"
    ),
    "theorem t : 1 = 2 := sorry": "'t' depends on axioms: [sorryAx]",
    "theorem t (a b : Nat) : a + b = b + a := Nat.add_comm a b": (
        "'t' does not depend on any axioms, besides those of a theorem of Lean's library: "
        "the embedded engine has no proofs of these"
    ),
    "theorem t : (fun n : Nat => 0 + n) = id := funext Nat.zero_add": (
        "'t' does not depend on any axioms, besides those of 2 theorems of Lean's library: "
        "the embedded engine has no proofs of these"
    ),
    "theorem t (p q : Prop) (h : p ↔ q) : p = q := propext h": "'t' depends on axioms: [propext]",
}


@pytest.mark.parametrize("text", AXIOMS)
def test_theorems_of_the_library_are_no_axioms(lean: Any, text: str) -> None:
    units = lean("frontend.process", file=f"{text}\n#print axioms t\n")["units"]
    assert units[-1]["messages"][0]["data"] == AXIOMS[text]


def test_axioms_of_the_library_are_told_from_its_theorems(lean: Any) -> None:
    said = "\n".join(f"#print axioms {name}" for name in ("Nat.add_comm", "Nat.repr", "Quot.sound"))
    units = lean("frontend.process", file=said)["units"]
    first, second, third = (unit["messages"][0]["data"] for unit in units)
    assert "a theorem of Lean's library" in first
    assert second == "'Nat.repr' does not depend on any axioms"
    assert third == "'Quot.sound' depends on axioms: [Quot.sound]"
