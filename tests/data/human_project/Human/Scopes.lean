import Human.Blocks
/-! Names, universes, sections, options, modifiers. -/

universe u v

namespace Human
namespace Scopes

section
variable (p : Prop) {q : Prop} (hp : p) (hq : q)
include hp in
theorem incl : p := by
  exact hp
include hq
theorem inclq : q := by assumption
omit hq in
theorem om : q → q := by
  intro h
  exact h
variable (m : Nat)
theorem unused : m = m := by rfl
end

section
variable {α : Type u} [DecidableEq α] (x y : α)

theorem dec : (if x = x then 1 else 2) = 1 := by
  simp

theorem dec' : x = y ∨ x ≠ y := by
  by_cases h : x = y
  · exact .inl h
  · exact .inr h
end

theorem univ.{w} {α : Type w} {β : Type v} (x : α × β) : (x.1, x.2) = x := by
  cases x
  rfl

theorem autobound {xs : List β} : xs ++ [] = xs := by
  rw [List.append_nil]

theorem sorts (α : Sort u) (P : α → Prop) (h : ∀ a, P a) (a : α) : P a := by
  exact h a

open Nat in
theorem openIn (a b : Nat) : a + b = b + a := by
  exact Nat.add_comm a b

set_option maxRecDepth 2000 in
open Nat in
/-- doc -/
@[simp] protected theorem multi.openIn (a : Nat) : a + 0 = a := by
  simp

private theorem privThm (a b : Nat) : a + b = b + a := by
  rw [Nat.add_comm]

theorem usesPrivate (a b : Nat) : a + b = b + a := by
  have h := privThm a b
  exact h

protected theorem Nat.protThm (a : Nat) : a ≤ a := by
  exact Nat.le_refl a

theorem spaced («my hyp» : 1 = 2) : False := by
  exact absurd «my hyp» (by decide)

theorem «name with spaces» (n : Nat) : n = n := by
  rfl

theorem longUni («très long nom ∀∃» α₁ β'' : Nat) (h₁₂₃ₙ : α₁ = β'') : β'' = α₁ ∧ «très long nom ∀∃» = «très long nom ∀∃» := by
  constructor
  · rw [h₁₂₃ₙ]
  · rfl

theorem inacc : ∀ n m : Nat, n = m → m = n := by
  intros
  rename_i h
  exact h.symm

theorem inacc₂ (h : ∃ n : Nat, n > 0 ∧ n < 2) : True := by
  obtain ⟨_, _, _⟩ := h
  trivial

theorem shadow (h : 1 = 1) (n : Nat) : n = n := by
  have h : n = n := by
    exact rfl
  have h : n = n ∧ 1 = 1 := by
    refine ⟨?_, ?_⟩
    · exact h
    · rfl
  exact h.1

local notation "‖" n "‖" => n * n

theorem notation_ (n : Nat) : ‖n‖ = n * n := by
  rfl

local infixl:65 " ⊕' " => fun a b : Nat => a + b

theorem infix_ (a b : Nat) : (a ⊕' b) = a + b := by
  show a + b = a + b
  rfl

macro "finish" : tactic => `(tactic| first | rfl | assumption | omega)

theorem macro_ (a b : Nat) (h : a < b) : a ≤ b := by
  finish

syntax "both" tactic : tactic
macro_rules
  | `(tactic| both $t) => `(tactic| constructor <;> $t)

theorem macro_both (p : Prop) (hp : p) : p ∧ p := by
  both exact hp

@[simp]
theorem attribute_ (n : Nat) :
    n + 0 = n + 0 + 0 := by
  rw [Nat.add_zero
    (n + 0)]

nonrec theorem List.rfl' (xs : List Nat) : xs = xs := by
  exact rfl

theorem Foo.rfl (n : Nat) : n = n := by
  exact _root_.rfl

noncomputable section
theorem choice_ (p : Prop) : p ∨ ¬p := by
  open Classical in
  exact em p
end

class HasZero (α : Type u) where
  zero : α
  isZero : α → Bool
  ok : isZero zero = true

instance : HasZero Nat where
  zero := 0
  isZero n := n == 0
  ok := by decide

theorem class_ {α : Type u} [HasZero α] : HasZero.isZero (HasZero.zero : α) = true := by
  exact HasZero.ok

theorem coe_ (n : Fin 3) : (n : Nat) < 3 := by
  have h := n.isLt
  exact h

theorem good : Blocks.Good 4 := by
  have h := Blocks.good_two
  exact Blocks.good_add 2 2 h h

end Scopes
end Human

theorem Human.outside (a b : Nat) (h : a = b) : b = a := by
  subst h
  rfl
