/-! A first project: short theorems, one beside the other, without a namespace. -/

theorem hello_world (a b c : Nat) : a + b + c = a + c + b := by
  rw [Nat.add_assoc, Nat.add_comm b, ← Nat.add_assoc]

theorem one_more (a : Nat) : a + 1 = Nat.succ a := by rfl

theorem and_swap' (p q : Prop) (h : p ∧ q) : q ∧ p := by
  have hp := h.left
  have hq := h.right
  exact ⟨hq, hp⟩

theorem or_swap' (p q : Prop) : p ∨ q → q ∨ p := by
  intro h
  cases h with
  | inl hp => exact Or.inr hp
  | inr hq => exact Or.inl hq

theorem zero_mul' (n : Nat) : 0 * n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih => rw [Nat.mul_succ, ih]

theorem max_comm' (a b : Nat) : max a b = max b a := by
  by_cases h : a ≤ b
  · omega
  · simp [Nat.max_comm]

theorem squeeze (a b : Nat) (h₁ : a ≤ b) (h₂ : b ≤ a) : a = b := by
  apply Nat.le_antisymm
  · assumption
  · assumption

theorem chain (a b c : Nat) (h₁ : a = b) (h₂ : b = c) : a = c := by
  calc a = b := by exact h₁
    _ = c := by exact h₂
