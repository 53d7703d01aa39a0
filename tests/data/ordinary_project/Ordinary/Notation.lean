/-! Notation, infix operators, scoped syntax. -/

namespace Notations

def xor (p q : Prop) : Prop := (p ∧ ¬ q) ∨ (¬ p ∧ q)

infixl:35 " ⊻ " => xor

theorem xor_comm (p q : Prop) : p ⊻ q ↔ q ⊻ p := by
  constructor
  · intro h
    cases h with
    | inl h => exact .inr ⟨h.2, h.1⟩
    | inr h => exact .inl ⟨h.2, h.1⟩
  · intro h
    cases h with
    | inl h => exact .inr ⟨h.2, h.1⟩
    | inr h => exact .inl ⟨h.2, h.1⟩

theorem xor_self (p : Prop) : ¬ (p ⊻ p) := by
  intro h
  rcases h with ⟨h₁, h₂⟩ | ⟨h₁, h₂⟩
  · exact h₂ h₁
  · exact h₁ h₂

notation "‖" xs "‖" => List.length xs

theorem length_two (a b : α) : ‖[a, b]‖ = 2 := rfl

theorem length_le (xs ys : List α) : ‖xs‖ ≤ ‖xs ++ ys‖ := by
  rw [List.length_append]
  exact Nat.le_add_right _ _

postfix:max "²" => fun (n : Nat) => n * n

theorem square_succ (n : Nat) : (n + 1)² = n² + 2 * n + 1 := by
  show (n + 1) * (n + 1) = n * n + 2 * n + 1
  rw [Nat.add_mul, Nat.mul_add]
  omega

structure Mod7 where
  val : Fin 7

instance : Add Mod7 := ⟨fun a b => ⟨a.val + b.val⟩⟩

scoped infix:50 " ≡₇ " => fun (a b : Nat) => a % 7 = b % 7

theorem ten_three : 10 ≡₇ 3 := by
  decide

theorem add_seven (n : Nat) : (n + 7) ≡₇ n := by
  exact Nat.add_mod_right n 7

end Notations
