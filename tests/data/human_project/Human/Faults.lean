/-! One proof for each kind of step that once was lost or judged wrongly. -/

namespace Human.Faults

def Good (n : Nat) : Prop := ∃ k, n = k + k

theorem good_two : Good 2 := ⟨1, rfl⟩

theorem good_add (a b : Nat) (ha : Good a) (hb : Good b) : Good (a + b) := by
  obtain ⟨x, hx⟩ := ha
  obtain ⟨y, hy⟩ := hb
  exact ⟨x + y, by omega⟩

theorem four_a : Good 4 := by
  have h := good_two
  exact good_add 2 2 h h

theorem four_d : Good 4 := by
  have h : Good 2 := by
    exact good_two
  exact good_add 2 2 h h

theorem four_f : Good 4 := by
  let k := 2
  exact good_add k 2 good_two good_two

theorem four_h : Good 4 := by
  have ⟨x, hx⟩ := good_two
  exact ⟨x + x, by omega⟩

theorem spaced («my hyp» : 1 = 2) : False := by
  exact absurd «my hyp» (by decide)

theorem pair (n : Nat) (h : 0 < n) : n ≠ 0 ∧ 0 < n + 1 := ⟨by omega, by simp⟩

theorem alternatives (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor <;> first | exact hp | exact hq

theorem inStatement (a : Array Nat) (i : Nat) (h : i < a.size) :
    (a.push 1)[i]'(by simp; omega) = a[i] := by
  grind

theorem coerced (n : Nat) (h : 0 < n) : (⟨0, by omega⟩ : Fin n).val = 0 := by
  have h' := h
  rfl

mutual
theorem ev (n : Nat) : n < n + 1 := by
  cases n with
  | zero => decide
  | succ m => exact Nat.succ_lt_succ (od m)
theorem od (n : Nat) : n < n + 1 := by
  cases n with
  | zero => decide
  | succ m => exact Nat.succ_lt_succ (ev m)
end

theorem outer (a b : Nat) (h : a = b) : b = a := by
  exact helper h
where
  helper {x y : Nat} (h : x = y) : y = x := by
    subst h
    rfl

theorem itself (n : Nat) : n * 0 = 0 := by
  match n with
  | 0 => rfl
  | k + 1 =>
    have := itself k
    simp

theorem named (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h
  case inl h => exact Or.inr h
  next h =>
    left
    exact h

end Human.Faults
