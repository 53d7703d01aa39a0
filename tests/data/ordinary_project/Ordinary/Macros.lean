import Lean

/-! Macros, syntax, elaborators and simprocs, and theorems proved with them. -/

namespace Macros

macro "easy" : tactic => `(tactic| first | rfl | assumption | simp_all | omega)

theorem by_rfl : 2 + 2 = 4 := by
  easy

theorem by_assumption (p : Prop) (h : p) : p := by
  easy

theorem by_omega (a b : Nat) (h : a < b) : a + 1 ≤ b := by
  easy

syntax "sum! " "[" term,* "]" : term

macro_rules
  | `(sum! []) => `(0)
  | `(sum! [$x]) => `($x)
  | `(sum! [$x, $xs,*]) => `($x + sum! [$xs,*])

theorem sum_three (a b c : Nat) : sum! [a, b, c] = c + b + a := by
  show a + (b + c) = c + b + a
  omega

macro "conj! " xs:term:max* : term => do
  let mut all ← `(True)
  for x in xs.reverse do
    all ← `($x ∧ $all)
  return all

theorem conj_two (p q : Prop) (hp : p) (hq : q) : conj! p q := by
  exact ⟨hp, hq, trivial⟩

syntax "splits" : tactic

macro_rules
  | `(tactic| splits) => `(tactic| repeat' constructor)

theorem splits_three (p q r : Prop) (hp : p) (hq : q) (hr : r) : p ∧ q ∧ r := by
  splits
  · exact hp
  · exact hq
  · exact hr

open Lean Elab Tactic Meta in
elab "exact_any" : tactic => withMainContext do
  let target ← getMainTarget
  for decl in ← getLCtx do
    if decl.isImplementationDetail then continue
    if ← isDefEq decl.type target then
      closeMainGoal `exact_any decl.toExpr
      return
  throwError "nothing fits"

theorem found_it (p q : Prop) (_hp : p) (hq : q) : q := by
  exact_any

open Lean Elab Term Meta in
elab "how_many! " xs:term:max* : term => do
  let values ← xs.mapM fun x => elabTerm x none
  return toExpr values.size

theorem how_many_three : how_many! 1 "two" 'c' = 3 := by
  rfl

def twice (n : Nat) : Nat := n + n

open Lean Meta in
simproc twiceLit (twice _) := fun e => do
  let some n ← Nat.fromExpr? e.appArg! | return .continue
  return .done { expr := toExpr (n + n), proof? := none }

theorem twice_21 : twice 21 = 42 := by
  simp

macro "theorem_pair " n:ident m:ident " : " t:term " := " proof:term : command => do
  `(theorem $n : $t := $proof
    theorem $m : $t := $proof)

theorem_pair pair_one pair_two : 1 + 1 = 2 := rfl

theorem both : 1 + 1 = 2 ∧ 1 + 1 = 2 := by
  exact ⟨pair_one, pair_two⟩

run_meta do
  let env ← Lean.getEnv
  unless env.contains `Macros.both do
    throwError "lost"

end Macros
