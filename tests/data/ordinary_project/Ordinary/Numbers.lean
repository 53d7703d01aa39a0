/-! Natural numbers, integers, bits, logic and sets as predicates. -/

namespace Numbers

def sumTo : Nat → Nat
  | 0 => 0
  | n + 1 => sumTo n + (n + 1)

theorem gauss (n : Nat) : 2 * sumTo n = n * (n + 1) := by
  induction n with
  | zero => rfl
  | succ n ih =>
    calc 2 * sumTo (n + 1) = 2 * sumTo n + 2 * (n + 1) := by rw [sumTo, Nat.mul_add]
      _ = n * (n + 1) + 2 * (n + 1) := by rw [ih]
      _ = (n + 1) * (n + 1 + 1) := by
        rw [← Nat.add_mul, Nat.mul_comm]

def power (b : Nat) : Nat → Nat
  | 0 => 1
  | n + 1 => b * power b n

theorem power_add (b n m : Nat) : power b (n + m) = power b n * power b m := by
  induction n with
  | zero => simp [power]
  | succ n ih =>
    rw [Nat.succ_add]
    show b * power b (n + m) = _
    rw [ih, power, Nat.mul_assoc]

theorem power_pos (h : 0 < b) (n : Nat) : 0 < power b n := by
  induction n with
  | zero => exact Nat.zero_lt_one
  | succ n ih => exact Nat.mul_pos h ih

inductive Divides (a b : Nat) : Prop where
  | intro (k : Nat) (h : b = a * k)

theorem Divides.trans (h₁ : Divides a b) (h₂ : Divides b c) : Divides a c := by
  cases h₁ with
  | intro k hk =>
    cases h₂ with
    | intro l hl => exact ⟨k * l, by rw [hl, hk, Nat.mul_assoc]⟩

inductive EvenP : Nat → Prop where
  | zero : EvenP 0
  | step : EvenP n → EvenP (n + 2)

theorem EvenP.add (hn : EvenP n) (hm : EvenP m) : EvenP (n + m) := by
  induction hm with
  | zero => exact hn
  | step _ ih => exact .step ih

theorem not_evenP_one : ¬ EvenP 1 := by
  intro h
  cases h

def toBits : Nat → List Bool
  | 0 => []
  | n + 1 => decide ((n + 1) % 2 = 1) :: toBits ((n + 1) / 2)

def ofBits : List Bool → Nat
  | [] => 0
  | b :: bs => b.toNat + 2 * ofBits bs

theorem ofBits_toBits (n : Nat) : ofBits (toBits n) = n := by
  match n with
  | 0 => simp [toBits, ofBits]
  | n + 1 =>
    rw [toBits, ofBits, ofBits_toBits ((n + 1) / 2)]
    cases h : decide ((n + 1) % 2 = 1) with
    | true =>
      have := of_decide_eq_true h
      simp only [Bool.toNat_true]
      omega
    | false =>
      have := of_decide_eq_false h
      simp only [Bool.toNat_false]
      omega

theorem int_sq_nonneg (a : Int) : 0 ≤ a * a := by
  cases Int.le_total 0 a with
  | inl h => exact Int.mul_nonneg h h
  | inr h => exact Int.mul_nonneg_of_nonpos_of_nonpos h h

theorem fin_lt (i : Fin n) : i.val < n := i.isLt

theorem xor_cancel (a b : BitVec 8) : (a ^^^ b) ^^^ b = a := by
  simp [BitVec.xor_assoc]

def subset (s t : α → Prop) : Prop := ∀ x, s x → t x

theorem subset_trans (h₁ : subset s t) (h₂ : subset t u) : subset s u := by
  intro x hx
  apply h₂
  apply h₁
  assumption

theorem not_forall (p : α → Prop) (h : ∃ x, ¬ p x) : ¬ ∀ x, p x := by
  obtain ⟨x, hx⟩ := h
  intro all
  exact hx (all x)

theorem exists_or (p q : α → Prop) : (∃ x, p x ∨ q x) ↔ (∃ x, p x) ∨ ∃ x, q x := by
  constructor
  · rintro ⟨x, h | h⟩
    · exact .inl ⟨x, h⟩
    · exact .inr ⟨x, h⟩
  · rintro (⟨x, h⟩ | ⟨x, h⟩)
    · exact ⟨x, .inl h⟩
    · exact ⟨x, .inr h⟩

noncomputable def choose (p : Nat → Prop) (h : ∃ n, p n) : Nat := Classical.choose h

theorem choose_spec (p : Nat → Prop) (h : ∃ n, p n) : p (choose p h) := by
  exact Classical.choose_spec h

#guard sumTo 10 = 55
#guard ofBits (toBits 37) = 37
#guard power 2 10 = 1024

end Numbers
