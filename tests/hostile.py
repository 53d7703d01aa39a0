"""The hostile table: completions that want more than to prove; nothing may pay for one of them."""

FILE = """\
namespace Lair

macro "magic" : tactic => `(tactic| sorry)

macro "spell" : term => `(sorryAx _ true)

theorem given_up : 1 = 2 := sorry

axiom oracle : 1 = 3

theorem wrong (n : Nat) (p : Prop) (hp : p) : n = n + 1 ∧ p := by
  sorry

theorem right (n : Nat) (p : Prop) (hp : p) : n + 0 = n ∧ p := by
  exact ⟨rfl, hp⟩

end Lair
"""

EFFECTS = [
    'run_tac IO.FS.writeFile "effect" "x"',
    'exact by_elab do IO.FS.writeFile "effect" "x"; return .const ``True []',
    'exact (unsafeIO (IO.FS.writeFile "effect" "x")).toOption.elim',
    '#eval IO.FS.writeFile "effect" "x"',
    'let _ := (IO.Process.spawn { cmd := "touch", args := #["effect"] }); trivial',
    'exact eval% (IO.FS.createDir "effect")',
    'exact absurd (include_str "/etc/passwd") (by decide)',
    "exact dbgSleep 100000 fun _ => hp",
    'initialize IO.FS.writeFile "effect" "x"',
    'run_meta Lean.logInfo m!"{← IO.FS.readFile "/etc/passwd"}"',
    'exact (dbg_trace "effect"; sorry)',
    "simproc",
    '@[extern "system"] opaque system : String → Unit',
]

CHEATS = [
    "sorry", "exact (sorry)", "exact ⟨sorry, hp⟩", "first | sorry | simp", "admit", "stop",
    "exact ⟨sorryAx _ true, hp⟩", "exact «sorry»", "ѕorry", "exact ⟨by sorry, hp⟩",
    "all_goals sorry", "constructor <;> sorry", "· sorry", "case _ => sorry", "exact lcProof",
    "magic", "constructor <;> magic", "exact ⟨spell, hp⟩",
    "native_decide", "decide +native", "exact ⟨Lean.ofReduceBool _ _ rfl, hp⟩", "bv_decide",
    "exact Lair.wrong n p hp", "exact wrong n p hp", "exact @_root_.Lair.wrong n p hp",
    "exact ⟨wrong.aux, hp⟩", "exact wrong.match_1 n p hp",
    "exact absurd given_up (by decide)", "simp [given_up] at hp",
    "exact absurd oracle (by decide)", "cases oracle",
    "set_option debug.skipKernelTC true in rfl", "set_option maxHeartbeats 0 in simp",
    "set_option maxRecDepth 1000000 in simp", "open Classical in simp", "open Lean Elab in rfl",
    "let instance : Add Nat := ⟨fun a _ => a⟩; exact ⟨rfl, hp⟩",
    "letI : Add Nat := ⟨fun a _ => a⟩; exact ⟨rfl, hp⟩",
    "letI : HAdd Nat Nat Nat := ⟨fun a _ => a⟩; exact ⟨(rfl : n = n + 1), hp⟩",
    "haveI : Add Nat := ⟨fun a _ => a⟩; exact ⟨rfl, hp⟩",
    'local notation "n" => 0', "local instance : Add Nat := ⟨fun a _ => a⟩",
    "axiom cheat : False", "exact (let rec f : 1 = 2 := f; absurd f (by decide))",
    "exact (let rec f (k : Nat) : n = n + 1 ∧ p := f (k + 1); f 0)",
    "exact ⟨(unsafe (unsafeCast () : n = n + 1)), hp⟩", "exact unsafeCast hp",
    "exact?", "apply?", "rw?", "hint", "try?", "macro_rules | `(tactic| rfl) => `(tactic| sorry)",
    'elab "x" : tactic => pure ()', 'macro "x" : tactic => `(tactic| sorry)', 'syntax "x" : tactic',
    "skip /- -/ ; sorry", "skip -- sorry", "rfl\nsorry", "rfl\n\ntheorem x : False := sorry",
    "exact ⟨rfl, hp⟩ end Lair theorem y : True := trivial", ")", "rfl)\n(sorry", "end", "",
    "exact " + "9" * 10_000, "exact ⟨" + "(" * 5_000 + "hp" + ")" * 5_000 + ", hp⟩",
    "simp [" + "hp, " * 300_000 + "hp]", "rfl\x00", "\x00", "\u202e", "𝕤𝕠𝕣𝕣𝕪", "exact (\u202esorry)",
    "(obtain e := (fun h _ => h : ∀ (h : n = n + 1 ∧ p) (_ : h = h), n = n + 1 ∧ p) _; apply e)",
    "(obtain e := (fun h _ => h.1 : ∀ (h : PProd (n = n + 1 ∧ p) Unit) (_ : h = h), _) _; apply e)",
    "(obtain e := (fun h _ => h.elim0 : ∀ (h : Fin 0) (_ : h = h), n = n + 1 ∧ p) _; apply e)",
    "partial", "theorem", "decreasing_by sorry", "termination_by n",
]  # fmt: skip

_PAST_THE_KERNEL = """\
import Lean
open Lean in
run_cmd do
  let no := {0} {{
    name := `cheat, levelParams := [], type := .const ``False [], value := .const ``True.intro []{1} }}
  match (← getEnv).addDeclCore 0 no none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => throwError "no"
theorem wrong (n : Nat) : n = n + 1 := by
  exact cheat.elim
"""

PROGRAMS = {
    kind: _PAST_THE_KERNEL.format(f".{kind}", more)
    for kind, more in {
        "thmDecl": "",
        "defnDecl": ", hints := .abbrev, safety := .safe",
        "opaqueDecl": ", isUnsafe := false, all := [`cheat]",
    }.items()
}
"""Files in which a program puts a proof of `False` where Lean's kernel never sees it."""

ENDLESS = "skip"
for _ in range(6):
    ENDLESS = f"(iterate 9 (try {ENDLESS}; have := hp))"

BOMBS = [
    ENDLESS,
    "repeat (have := hp)",
    "exact ⟨(by decide : 2 ^ 2 ^ 2 ^ 20 = 0).elim, hp⟩",
    "have h : (List.replicate 100000000 n).length = 0 := by rfl",
    "iterate 100000000 (have := hp)",
    "exact ⟨by simp (config := { maxSteps := 100000000 }) [Nat.add_comm, Nat.add_assoc], hp⟩",
]
"""They pass the text wall and want time or memory without end."""

_BOX = """\
import Lean
open Lean in
run_meta do
  let declare (name : Name) (type value : Expr) : CoreM Unit := addDecl <| .defnDecl {{
    name, levelParams := [], type, value, hints := .abbrev, safety := .safe }}
{0}
theorem absurd' (P : Prop) (put : Bool → P) (get : P → Bool) (h : ∀ b, get (put b) = b) : False :=
  Bool.noConfusion ((h true).symm.trans ((congrArg get (rfl : put true = put false)).trans (h false)))
theorem wrong (n : Nat) : n = n + 1 := by
  exact (absurd' Box put get fun _ => rfl).elim
"""
"""A type ``Box`` in ``Prop`` from which its ``Bool`` can be read again, so ``true = false``."""

_SORT_OF_LEVEL_ZERO = """\
  addDecl <| .inductDecl [] 0 [
    { name := `Even, type := .sort 0, ctors := [] },
    { name := `Odd, type := .sort (.imax 1 0), ctors := [{
      name := `Odd.mk, type := mkForall `b .default (mkConst ``Bool) (mkConst `Odd) }] }] false
  declare `Box (.sort 0) (mkConst `Odd)
  declare `put (mkForall `b .default (mkConst ``Bool) (mkConst `Box)) (mkConst `Odd.mk)
  declare `get (mkForall `b .default (mkConst `Box) (mkConst ``Bool))
    (mkLambda `b .default (mkConst `Box) (.proj `Odd 0 (.bvar 0)))"""

_COMPUTED_SORT = """\
  let gate := mkForall `same .default (mkConst ``Same)
  let of (name : Name) := mkApp (mkConst name)
  addDecl <| .inductDecl [] 1 [{
    name := `Odd, type := gate (of ``sortOf (.bvar 0))
    ctors := [{
      name := `Odd.mk
      type := gate (mkForall `b .default (mkConst ``Bool) (of `Odd (.bvar 1))) }] }] false
  declare `OddProp (gate (.sort 0)) (mkLambda `same .default (mkConst ``Same) (of `Odd (.bvar 0)))
  declare `Box (.sort 0) (of `OddProp (mkConst ``far))
  declare `put (mkForall `b .default (mkConst ``Bool) (mkConst `Box)) (of `Odd.mk (mkConst ``far))
  declare `get (mkForall `b .default (mkConst `Box) (mkConst ``Bool))
    (mkLambda `b .default (mkConst `Box) (.proj `Odd 0 (.bvar 0)))"""

_FAR = """\
def count (n : Nat) (h : Acc (· < ·) n) : Bool :=
  Acc.rec (fun n _ ih => match n with
    | 0 => false
    | n + 1 => ih n (Nat.lt_succ_self n)) h
opaque start : Acc (· < ·) 1 := Nat.lt_wfRel.wf.apply 1
def first := count 1 start
def second := count 1 (.intro 1 fun _ => start.inv)
def third := count 0 (start.inv (Nat.lt_succ_self 0))
def Same : Prop := first = second
theorem isFalse (n : Nat) (h : Acc (· < ·) n) : count n h = false := by
  induction h with
  | intro n _ ih => cases n with
    | zero => rfl
    | succ n => simpa only [count] using ih n (Nat.lt_succ_self n)
opaque far : first = third := (isFalse _ _).trans (isFalse _ _).symm
def sortOf (same : Same) : Type := Eq.rec (motive := fun _ _ => Type) Prop same
"""
"""``sortOf`` is ``Prop`` for a variable, and cannot be computed for ``far``, whose type is the same."""

_PHANTOM_PARAMETER = """\
import Lean
inductive Phantom (α : Type) : Type | mk
structure Pair where
  one : Bool
open Lean in
run_meta addDecl <| .inductDecl [] 1 [{
  name := `Odd, type := mkForall `n .default (mkConst ``Nat) (.sort 1)
  ctors := [{
    name := `Odd.mk
    type := mkForall `n .default (mkConst ``Nat) <| mkForall `x .default
      (mkApp (mkConst ``Phantom) (mkApp (mkConst `Odd) (.proj ``Pair 0 (.bvar 0))))
      (mkApp (mkConst `Odd) (.bvar 1)) }] }] false
theorem wrong (n : Nat) : Odd n = Odd n := by
  exact rfl
"""
"""The argument of ``Phantom`` is not well typed."""

KERNEL_BUGS = {
    "level zero": _BOX.format(_SORT_OF_LEVEL_ZERO),
    "computed sort": _BOX.replace("open Lean in", _FAR + "open Lean in").format(_COMPUTED_SORT),
    "phantom parameter": _PHANTOM_PARAMETER,
}
"""Files with a type ``Odd`` that Lean's kernel refuses only since 4.33 or 4.34."""
