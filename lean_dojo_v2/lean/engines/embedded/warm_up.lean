/-! Ordinary Lean, for V8 to see which of Lean's functions run often (`warm_up.py`). -/

namespace WarmUp

inductive Tree (α : Type) where
  | leaf
  | node (left : Tree α) (value : α) (right : Tree α)
  deriving Repr, DecidableEq

namespace Tree

variable {α : Type}

def size : Tree α → Nat
  | leaf => 0
  | node left _ right => left.size + 1 + right.size

def mirror : Tree α → Tree α
  | leaf => leaf
  | node left value right => node right.mirror value left.mirror

@[simp] theorem mirror_mirror (tree : Tree α) : tree.mirror.mirror = tree := by
  induction tree with
  | leaf => rfl
  | node left value right ihl ihr => simp [mirror, ihl, ihr]

theorem size_mirror (tree : Tree α) : tree.mirror.size = tree.size := by
  induction tree with
  | leaf => rfl
  | node left value right ihl ihr =>
    simp only [mirror, size, ihl, ihr]
    omega

end Tree

def sum : List Nat → Nat
  | [] => 0
  | n :: rest => n + sum rest

theorem sum_append (xs ys : List Nat) : sum (xs ++ ys) = sum xs + sum ys := by
  induction xs with
  | nil => simp [sum]
  | cons x xs ih => rw [List.cons_append, sum, sum, ih, Nat.add_assoc]

theorem and_swap' (p q r : Prop) : p ∧ q ∨ r ↔ (p ∨ r) ∧ (q ∨ r) := by
  constructor
  · rintro (⟨hp, hq⟩ | hr)
    · exact ⟨Or.inl hp, Or.inl hq⟩
    · exact ⟨Or.inr hr, Or.inr hr⟩
  · intro ⟨h, h'⟩
    cases h with
    | inr hr => exact Or.inr hr
    | inl hp =>
      cases h' with
      | inr hr => exact Or.inr hr
      | inl hq => exact Or.inl ⟨hp, hq⟩

theorem exists_larger (n : Nat) : ∃ m, n < m ∧ m % 2 = 0 := by
  refine ⟨2 * n + 2, ?_, ?_⟩ <;> omega

theorem square (a b : Nat) : (a + b) * (a + b) = a * a + 2 * (a * b) + b * b := by
  have h : (a + b) * (a + b) = a * (a + b) + b * (a + b) := Nat.add_mul ..
  rw [h, Nat.mul_add, Nat.mul_add, Nat.mul_comm b a]
  omega

theorem eq_of_bools (a b : Bool) : (a && b) = (b && a) := by
  cases a <;> cases b <;> decide

theorem through (f g : Nat → Nat) (h : ∀ n, f n = g n) (n : Nat) : f (g n) = g (f n) := by
  calc f (g n) = g (g n) := h _
    _ = g (f n) := by simp [h]

theorem grinds (a b c : Nat) (h : a = b) (h' : b = c) : c + a = b + b := by
  grind

theorem least (s : List Nat) (h : s ≠ []) : ∃ m ∈ s, ∀ n ∈ s, m ≤ n := by
  induction s with
  | nil => contradiction
  | cons x xs ih =>
    by_cases hx : xs = []
    · subst hx
      exact ⟨x, by simp, by simp⟩
    · obtain ⟨m, hm, hle⟩ := ih hx
      by_cases hmx : x ≤ m
      · refine ⟨x, by simp, fun n hn => ?_⟩
        simp only [List.mem_cons] at hn
        rcases hn with rfl | hn
        · exact Nat.le_refl _
        · exact Nat.le_trans hmx (hle n hn)
      · refine ⟨m, by simp [hm], fun n hn => ?_⟩
        simp only [List.mem_cons] at hn
        rcases hn with rfl | hn
        · omega
        · exact hle n hn

end WarmUp
