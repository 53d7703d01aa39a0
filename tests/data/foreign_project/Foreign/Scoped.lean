/-! What holds for one declaration alone: `… in`, once or several times, before a theorem, and macros that write so. -/

namespace Foreign.Scoped

def gap (a b : Nat) : Nat := b - a

theorem gap_self (a : Nat) : gap a a = 0 := Nat.sub_self a

attribute [local simp] gap_self in
theorem gap_twice (a b : Nat) : gap a a + gap b b = 0 := by
  simp

attribute [local simp] gap in
/-- With a docstring. -/
theorem gap_zero (b : Nat) : gap 0 b = b := by
  simp

open Nat in
theorem with_open (a b : Nat) (h : a ≤ b) : succ a ≤ succ b := by
  exact succ_le_succ h

namespace Hidden
scoped notation "gap₀" => gap 0
@[scoped simp] theorem gap_refl (a : Nat) : gap a a = 0 := gap_self a
end Hidden

open scoped Hidden in
theorem with_scoped (a : Nat) : gap a a = 0 ∧ gap₀ a = a := by
  constructor
  · simp
  · show gap₀ a = a
    rfl

local notation "⟦" a "⟧" => gap 0 a

theorem with_notation (a : Nat) : ⟦a⟧ = a := by
  show ⟦a⟧ = a
  rfl

variable (n : Nat) in
theorem with_variable : n + 0 = n := by
  rfl

section
variable {α : Type} [Inhabited α] (xs : List α)
omit [Inhabited α] in
theorem with_omit : xs ++ [] = xs := by
  simp
include xs in
theorem with_include (n : Nat) : n = n := by
  rfl
end

attribute [local instance] Classical.propDecidable in
theorem decides (p : Prop) : (if p then 1 else 2) ≤ 2 := by
  split
  · decide
  · decide

set_option maxRecDepth 1000 in
open Nat in
attribute [local simp] gap_self in
theorem stacked (a : Nat) : gap a a = zero := by
  simp

attribute [local simp] gap_self in
mutual
theorem left_gap (a : Nat) : gap a a = 0 := by
  simp
theorem right_gap (a : Nat) : 0 = gap a a := by
  simp
end

macro "simply " "theorem " name:ident " : " type:term " := " proof:term : command =>
  `(attribute [local simp] gap_self in theorem $name : $type := $proof)

simply theorem by_macro : ∀ a, gap a a = 0 := by
  intro a
  simp

end Foreign.Scoped
