"""The kernel checks every declaration, and the judge describes the one that the file means."""

from __future__ import annotations

from typing import Any

import pytest
from judged import judged

BOTH_HOSTS = True

UNSAFE_PROOF = "unsafe def loop : False := loop\ntheorem bad : False := loop\n"
"""The elaborator takes it; only the kernel refuses a theorem that uses something unsafe."""

refused = "(kernel) invalid declaration, it uses unsafe declaration 'loop'"


def errors(answer: Any) -> list[str]:
    return [m["data"] for m in answer["messages"] if m["severity"] == "error"]


@pytest.mark.parametrize(
    "text",
    [
        UNSAFE_PROOF,
        f"set_option debug.skipKernelTC true\n{UNSAFE_PROOF}",
        UNSAFE_PROOF.replace("theorem", "set_option debug.skipKernelTC true in\ntheorem"),
        f"section\nset_option debug.skipKernelTC true\nnamespace A\nend A\n{UNSAFE_PROOF}end\n",
    ],
    ids=["plain", "file", "command", "section"],
)
def test_no_text_switches_the_kernel_off(lean: Any, text: str) -> None:
    answer = lean("dojo.check", file=text, names=["bad"])
    assert errors(answer) == [refused]


def test_no_request_switches_the_kernel_off(lean: Any) -> None:
    answer = lean("dojo.check", file=UNSAFE_PROOF, options={"debug.skipKernelTC": True})
    assert refused in str(answer)


def test_the_option_stays_off_behind_a_kept_beginning(lean: Any) -> None:
    first = "set_option debug.skipKernelTC true\n"
    for _ in range(2):
        answer = lean("dojo.check", file=first + UNSAFE_PROOF, prefix=len(first))
        assert errors(answer) == [refused]


def test_the_judges_kernel_may_be_the_only_one_that_looks(lean: Any) -> None:
    text = UNSAFE_PROOF + UNSAFE_PROOF.replace("bad", "worse").split("\n", 1)[1]
    prefix = len(UNSAFE_PROOF)
    for kernel, said in ((True, [refused, refused]), (False, [])):
        answer = judged(lean, file=text, prefix=prefix, names=["bad", "worse"], kernel=kernel)
        assert errors(answer) == said
        found = answer["declarations"]
        assert [found[name]["exists"] for name in ("bad", "worse")] == [False, False]


def test_a_private_theorem_is_described_and_not_another_of_its_name(lean: Any) -> None:
    text = "private theorem twice : 1 + 1 = 2 := rfl\nnamespace A\ntheorem twice : 2 = 2 := rfl\n"
    answer = judged(lean, file=text, names=["twice", "A.twice"])
    own, other = answer["declarations"]["twice"], answer["declarations"]["A.twice"]
    assert own["lean_name"].startswith("_private.")
    assert other["lean_name"] == "A.twice"
    assert own["statement"] != other["statement"]


def test_lean_lets_no_private_theorem_take_a_public_name(lean: Any) -> None:
    answer = lean("dojo.check", file="private theorem Nat.add_comm : 1 = 2 := sorry\n")
    assert errors(answer) == ["a non-private declaration `Nat.add_comm` has already been declared"]


def test_what_the_kernel_refused_is_missing_from_what_cites_it(lean: Any) -> None:
    text = f"{UNSAFE_PROOF}theorem next : 1 = 2 := bad.elim\ntheorem good : 1 = 1 := by simp\n"
    found = judged(lean, file=text, names=["bad", "next", "good"])["declarations"]
    assert [found[name]["exists"] for name in ("bad", "next", "good")] == [False, False, True]
    assert "bad" in found["next"]["kernel"]["constant"]
    text += "theorem last : 1 = 2 := by\n  exact bad.elim\n"
    opened = lean("dojo.state_at", file=text, position=text.index("exact"))
    tactics = [
        "exact next",
        "exact absurd rfl (fun _ : good = good => bad)",
        "(have := good; skip)",
    ]
    answers = [
        lean("goal.tactic", stateId=opened["stateId"], tactic=tactic, axioms=True)
        for tactic in tactics
    ]
    assert [answer["axioms"] for answer in answers] == [["bad"], ["bad"], []]


ORDINARY = """\
mutual
inductive Tree (α : Type u) : Type u where
  | node : α → Forest α → Tree α
inductive Forest (α : Type u) : Type u where
  | nil : Forest α
  | cons : Tree α → Forest α → Forest α
end
inductive Rose where
  | node : List Rose → Rose
structure Point where
  x : Nat
  y : Nat := 0
  deriving DecidableEq
class Sized (α : Type) where
  size : α → Nat
instance : Sized Point := ⟨fun p => p.x + p.y⟩
def Rose.count : Rose → Nat
  | .node [] => 1
  | .node (r :: rs) => r.count + (Rose.node rs).count
def Same : Setoid Nat := ⟨fun a b => a % 2 = b % 2, fun _ => rfl, Eq.symm, Eq.trans⟩
def Parity := Quotient Same
opaque secret : Nat
partial def forever (n : Nat) : Nat := forever (n + 1)
theorem forest (f : Forest Nat) : f = .nil ∨ ∃ t g, f = .cons t g := by
  cases f with
  | nil => exact .inl rfl
  | cons t g => exact .inr ⟨t, g, rfl⟩
theorem rose (r : Rose) : 0 < r.count := by
  fun_induction Rose.count r <;> omega
theorem point (p : Point) : Sized.size p = p.x + p.y := rfl
theorem parity : (Quotient.mk Same 3 : Parity) = Quotient.mk Same 5 := Quotient.sound rfl
theorem opaque_ : secret = secret ∧ forever 0 = forever 0 := ⟨rfl, rfl⟩
"""


@pytest.mark.slow
def test_the_kernel_takes_ordinary_constants_again(lean: Any) -> None:
    for prefix in (0, ORDINARY.index("theorem opaque_")):
        answer = judged(lean, file=ORDINARY, all=True, prefix=prefix)
        found = answer["declarations"]
        assert errors(answer) == []
        assert {name: one["kernel"] for name, one in found.items() if one["kernel"]} == {}
    assert "opaque_" in found


def test_a_text_may_bring_its_own_beginnings(lean: Any) -> None:
    text = (
        "prelude\ninductive Eq {α : Sort u} : α → α → Prop where\n  | refl (a : α) : Eq a a\n"
        "init_quot\ntheorem t {α : Sort u} (r : α → α → Prop) (a b : α) (h : r a b) : "
        "Eq (Quot.mk r a) (Quot.mk r a) := Eq.refl (Quot.mk r a)\n"
    )
    found = judged(lean, file=text, names=["t"])["declarations"]["t"]
    assert found["exists"]
    assert found["kernel"] is None


REPLACED = """\
import Lean
def two := 2
theorem two_is : two = 2 := rfl
open Lean in
run_cmd do setEnv (← importModules #[{ module := `Init }] {} (loadExts := true))
def two := 3
theorem two_is : two = 3 := rfl
"""


def test_a_constant_that_a_program_replaced_is_the_one_that_counts(lean: Any) -> None:
    prefix = REPLACED.index("open Lean")
    before = judged(lean, file=REPLACED[:prefix], prefix=prefix, names=["two_is"])
    after = judged(lean, file=REPLACED, prefix=prefix, names=["two_is"])
    old, new = (answer["declarations"]["two_is"] for answer in (before, after))
    assert errors(after) == []
    assert (old["kernel"], new["kernel"]) == (None, None)
    assert old["statement"] != new["statement"]


def test_names_that_print_alike_are_told_apart(lean: Any) -> None:
    text = (
        "import Lean\nopen Lean in\nrun_cmd do\n"
        '  let a := Name.mkSimple "x».y»"\n  let b := Name.str (.mkSimple "x»") "y»"\n'
        "  let type := .const ``True []\n"
        "  Elab.Command.liftCoreM do\n"
        "    addDecl <| .thmDecl { name := a, levelParams := [], type, value := .const ``trivial [] }\n"
        "    addDecl <| .axiomDecl {\n"
        "      name := b, levelParams := [], type := .const ``False [], isUnsafe := false }\n"
        "    addDecl <| .thmDecl {\n"
        "      name := `t, levelParams := [], type := .const ``False [],\n"
        "      value := .app (.lam `h type (.const b []) .default) (.const a []) }\n"
    )
    found = judged(lean, file=text, names=["t"])["declarations"]["t"]
    assert found["axioms"] == [{"name": "x».y»", "library": False}]


def test_what_a_program_put_past_the_kernel_is_not_what_was_stated(clean_lean: Any) -> None:
    text = (
        "open Lean in\nrun_cmd do\n"
        "  let no := .thmDecl {\n"
        "    name := `t, levelParams := [], type := .const ``False [], value := .const ``True.intro [] }\n"
        "  match (← getEnv).addDeclCore 0 no none (doCheck := false) with\n"
        '  | .ok env => setEnv env\n  | .error _ => throwError "no"\n'
    )
    assert (
        clean_lean("frontend.process", file="import Lean", readHeader=True, inheritEnv=True)[
            "units"
        ]
        == []
    )
    answer = clean_lean("frontend.track", src="theorem t : False := sorry", dst=text)
    assert answer["failure"].startswith("the kernel refuses t: (kernel) declaration type mismatch")
