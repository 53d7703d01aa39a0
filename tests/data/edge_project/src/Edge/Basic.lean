import Std.Data.HashSet

/-!
# Declarations of every kind

`theorem not_a_theorem : False := sorry` stands in a comment, and so does "a string".
-/

namespace Edge

universe u

variable {α : Type u} (xs : List α)

/-- A pair of numbers. /- nested -/ theorem inside_doc : False := sorry -/
structure Pair where
  /-- Its left part. -/
  left : Nat
  right : Nat := 0
  deriving Repr, BEq

/-- A tree. -/
inductive Tree (α : Type u) where
  | leaf : Tree α
  | node (left : Tree α) (value : α) (right : Tree α) : Tree α

namespace Tree

def size : Tree α → Nat
  | leaf => 0
  | node l _ r => l.size + 1 + r.size

def mirror : Tree α → Tree α
  | leaf => leaf
  | node l v r => node r.mirror v l.mirror

/-- Mirroring keeps the size.

Two paragraphs, with `code` and a `:=`. -/
@[simp, grind =]
protected theorem size_mirror (t : Tree α) : t.mirror.size = t.size := by
  induction t with
  | leaf => rfl
  | node l v r ihl ihr =>
    simp only [mirror, size, ihl, ihr]
    omega

end Tree

def double (n : Nat) : Nat := n + n

infixl:65 " ⊕⊕ " => fun (a b : Nat) => a + b

abbrev Even (n : Nat) : Prop := ∃ k, n = double k

instance : Inhabited Pair := ⟨⟨1, 2⟩⟩

instance (priority := low) namedInstance : Inhabited (Tree α) := ⟨.leaf⟩

class Magic (β : Type u) where
  trick : β → β
  trick_twice : ∀ b, trick (trick b) = b

axiom choice_of_mine : ∃ n : Nat, n = n

opaque secret : Nat

theorem «a weird name!» (n : Nat) : double n = n + n := rfl

theorem double_zero : double 0 = 0 := by decide

theorem term_mode (p q : Prop) : p ∧ q → q ∧ p := fun ⟨hp, hq⟩ => ⟨hq, hp⟩

theorem term_with_by (p q : Prop) (h : p ∧ q) : q ∧ p :=
  ⟨by exact h.2, by
    have hp := h.1
    exact hp⟩

theorem by_patterns : ∀ n : Nat, n = 0 ∨ 0 < n
  | 0 => .inl rfl
  | n + 1 => by
    right
    exact Nat.succ_pos n

theorem with_where (n : Nat) : n < n + 1 := by
  exact helper n
where
  helper (m : Nat) : m < m + 1 := by
    exact Nat.lt_succ_self m

theorem with_let (n : Nat) : let m := n + 1; n < m := by
  intro m
  exact Nat.lt_succ_self n

theorem default_argument (n : Nat) (m : Nat := 3) (h : n = m) :
    -- a comment with := in it
    m = n := by
  exact h.symm

set_option maxRecDepth 1000 in
/-- With an option. -/
theorem with_option (n : Nat) : n = n := by
  rfl

open Nat in
theorem opened (n : Nat) : 0 < n + 1 := by
  exact succ_pos n

mutual
/-- The first of two. -/
theorem first_of_two : (n : Nat) → double n = n + n
  | 0 => rfl
  | n + 1 => by
    have := second_of_two n
    rfl

private theorem second_of_two : (n : Nat) → n ≤ double n
  | 0 => by decide
  | n + 1 => by
    have h := first_of_two n
    simp only [double]
    omega
end

section Unicode

/-- Characters outside of the Basic Multilingual Plane: 𝔽 𝟙 😀. -/
theorem «𝔽₂» (𝔞 𝔟 : Nat) (h₁ : 𝔞 = 𝔟) (h₂ : 𝔟 = double 1) : 𝔞 = double 1 := by /- 😀 -/ rw [h₁, h₂]

theorem ε_δ {ε δ : Nat} (hε : 0 < ε) (hδ : ε ≤ δ) : 0 < δ := Nat.lt_of_lt_of_le hε hδ

end Unicode

example : double 1 = 2 := by decide

end Edge

theorem Edge.outside_namespace : Edge.double 2 = 4 := by
  simp [Edge.double]

@[simp] theorem _root_.edge_root (n : Nat) : n + 0 = n := by simp
