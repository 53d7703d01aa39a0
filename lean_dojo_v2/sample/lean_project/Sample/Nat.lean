import Sample.Logic

/-!
# Natural numbers

Recursive functions on `Nat`, their closed forms by induction, and what follows from the
closed forms by linear arithmetic. The last sections are about even, odd and divisible numbers.
-/

namespace Sample

/-- Twice a number, by recursion. -/
def double : Nat → Nat
  | 0 => 0
  | n + 1 => double n + 2

/-- Three times a number, by recursion. -/
def triple : Nat → Nat
  | 0 => 0
  | n + 1 => triple n + 3

/-- Four times a number, by recursion. -/
def quadruple : Nat → Nat
  | 0 => 0
  | n + 1 => quadruple n + 4

/-- Addition by recursion on the first argument. -/
def plus : Nat → Nat → Nat
  | 0, m => m
  | n + 1, m => plus n m + 1

/-- The sum `1 + 2 + … + n`. -/
def sumTo : Nat → Nat
  | 0 => 0
  | n + 1 => sumTo n + (n + 1)

/-- The sum `2 + 4 + … + 2n`. -/
def sumEven : Nat → Nat
  | 0 => 0
  | n + 1 => sumEven n + 2 * (n + 1)

/-- The sum `1 + 3 + …` of the first `n` odd numbers. -/
def sumOdd : Nat → Nat
  | 0 => 0
  | n + 1 => sumOdd n + (2 * n + 1)

/-- Two to the power `n`. -/
def pow2 : Nat → Nat
  | 0 => 1
  | n + 1 => pow2 n + pow2 n

/-! ## Closed forms -/

theorem double_eq (n : Nat) : double n = 2 * n := by
  induction n
  case zero => rfl
  case succ n ih => simp only [double]; omega

theorem triple_eq (n : Nat) : triple n = 3 * n := by
  induction n
  case zero => rfl
  case succ n ih => simp only [triple]; omega

theorem quadruple_eq (n : Nat) : quadruple n = 4 * n := by
  induction n
  case zero => rfl
  case succ n ih => simp only [quadruple]; omega

theorem plus_eq (n m : Nat) : plus n m = n + m := by
  induction n
  case zero => simp only [plus]; omega
  case succ n ih => simp only [plus]; omega

theorem sumEven_eq (n : Nat) : sumEven n = 2 * sumTo n := by
  induction n
  case zero => rfl
  case succ n ih => simp only [sumEven, sumTo]; omega

theorem sumOdd_eq (n : Nat) : sumOdd n + n = 2 * sumTo n := by
  induction n
  case zero => rfl
  case succ n ih => simp only [sumOdd, sumTo]; omega

theorem sumEven_eq_sumOdd (n : Nat) : sumEven n = sumOdd n + n := by
  induction n
  case zero => rfl
  case succ n ih => simp only [sumEven, sumOdd]; omega

theorem sumOdd_le_sumEven (n : Nat) : sumOdd n ≤ sumEven n := by
  induction n
  case zero => simp only [sumOdd, sumEven]; omega
  case succ n ih => simp only [sumOdd, sumEven]; omega

theorem sumTo_le_sumEven (n : Nat) : sumTo n ≤ sumEven n := by
  sorry

theorem sumTo_ge (n : Nat) : n ≤ sumTo n := by
  induction n
  case zero => simp only [sumTo]; omega
  case succ n ih => simp only [sumTo]; omega

theorem sumEven_ge (n : Nat) : n ≤ sumEven n := by
  induction n
  case zero => simp only [sumEven]; omega
  case succ n ih => simp only [sumEven]; omega

theorem sumOdd_ge (n : Nat) : n ≤ sumOdd n := by
  induction n
  case zero => simp only [sumOdd]; omega
  case succ n ih => simp only [sumOdd]; omega

theorem pow2_pos (n : Nat) : 0 < pow2 n := by
  induction n
  case zero => simp only [pow2]; omega
  case succ n ih => simp only [pow2]; omega

theorem pow2_gt (n : Nat) : n < pow2 n := by
  induction n
  case zero => simp only [pow2]; omega
  case succ n ih => simp only [pow2]; omega

theorem sumTo_square (n : Nat) : 2 * sumTo n = n * (n + 1) := by
  induction n with
  | zero => rfl
  | succ n ih =>
    have expand : (n + 1) * (n + 1 + 1) = n * (n + 1) + 2 * (n + 1) := by
      rw [Nat.mul_comm (n + 1), ← Nat.add_mul]
    rw [sumTo, Nat.mul_add, ih, expand]

theorem sumOdd_square (n : Nat) : sumOdd n = n * n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    simp only [sumOdd, ih, Nat.mul_add, Nat.add_mul]
    omega

/-! ## Consequences of the closed forms -/

theorem double_add (m n : Nat) : double (m + n) = double m + double n := by
  simp only [double_eq]
  omega

theorem triple_add (m n : Nat) : triple (m + n) = triple m + triple n := by
  simp only [triple_eq]
  omega

theorem quadruple_add (m n : Nat) : quadruple (m + n) = quadruple m + quadruple n := by
  simp only [quadruple_eq]
  omega

theorem double_double (n : Nat) : double (double n) = quadruple n := by
  simp only [double_eq, quadruple_eq]
  omega

theorem double_triple (n : Nat) : double (triple n) = triple (double n) := by
  simp only [double_eq, triple_eq]
  omega

theorem triple_quadruple (n : Nat) : triple (quadruple n) = quadruple (triple n) := by
  simp only [triple_eq, quadruple_eq]
  omega

theorem double_quadruple (n : Nat) : double (quadruple n) = quadruple (double n) := by
  simp only [double_eq, quadruple_eq]
  omega

theorem double_add_self (n : Nat) : double n + n = triple n := by
  simp only [double_eq, triple_eq]
  omega

theorem triple_add_self (n : Nat) : triple n + n = quadruple n := by
  simp only [triple_eq, quadruple_eq]
  omega

theorem double_add_double (n : Nat) : double n + double n = quadruple n := by
  sorry

theorem double_le_triple (n : Nat) : double n ≤ triple n := by
  simp only [double_eq, triple_eq]
  omega

theorem triple_le_quadruple (n : Nat) : triple n ≤ quadruple n := by
  simp only [triple_eq, quadruple_eq]
  omega

theorem double_le_quadruple (n : Nat) : double n ≤ quadruple n := by
  simp only [double_eq, quadruple_eq]
  omega

theorem le_double (n : Nat) : n ≤ double n := by
  simp only [double_eq]
  omega

theorem le_triple (n : Nat) : n ≤ triple n := by
  simp only [triple_eq]
  omega

theorem double_mono {m n : Nat} (h : m ≤ n) : double m ≤ double n := by
  simp only [double_eq]
  omega

theorem triple_mono {m n : Nat} (h : m ≤ n) : triple m ≤ triple n := by
  simp only [triple_eq]
  omega

theorem quadruple_mono {m n : Nat} (h : m ≤ n) : quadruple m ≤ quadruple n := by
  simp only [quadruple_eq]
  omega

theorem double_lt {m n : Nat} (h : m < n) : double m < double n := by
  simp only [double_eq]
  omega

theorem triple_lt {m n : Nat} (h : m < n) : triple m < triple n := sorry

theorem double_inj {m n : Nat} (h : double m = double n) : m = n := by
  simp only [double_eq] at h
  omega

theorem triple_inj {m n : Nat} (h : triple m = triple n) : m = n := by
  simp only [triple_eq] at h
  omega

theorem quadruple_inj {m n : Nat} (h : quadruple m = quadruple n) : m = n := by
  simp only [quadruple_eq] at h
  omega

theorem double_pos {n : Nat} (h : 0 < double n) : 0 < n := by
  simp only [double_eq] at h
  omega

theorem triple_pos {n : Nat} (h : 0 < triple n) : 0 < n := by
  simp only [triple_eq] at h
  omega

theorem plus_comm (m n : Nat) : plus m n = plus n m := by
  simp only [plus_eq]
  omega

theorem plus_assoc (m n k : Nat) : plus (plus m n) k = plus m (plus n k) := by
  simp only [plus_eq]
  omega

theorem plus_left_comm (m n k : Nat) : plus m (plus n k) = plus n (plus m k) := by
  simp only [plus_eq]
  omega

theorem plus_self (n : Nat) : plus n n = double n := by
  simp only [plus_eq, double_eq]
  omega

theorem plus_double_self (n : Nat) : plus (double n) n = triple n := by
  simp only [plus_eq, double_eq, triple_eq]
  omega

theorem double_plus (m n : Nat) : double (plus m n) = plus (double m) (double n) := by
  simp only [double_eq, plus_eq]
  omega

theorem triple_plus (m n : Nat) : triple (plus m n) = plus (triple m) (triple n) := by
  simp only [triple_eq, plus_eq]
  omega

theorem quadruple_plus (m n : Nat) :
    quadruple (plus m n) = plus (quadruple m) (quadruple n) := by
  simp only [quadruple_eq, plus_eq]
  omega

theorem plus_cancel {m n k : Nat} (h : plus m k = plus n k) : m = n := by
  simp only [plus_eq] at h
  omega

theorem plus_cancel_left {m n k : Nat} (h : plus k m = plus k n) : m = n := by
  sorry

theorem double_succ_ne_zero (n : Nat) : double (n + 1) ≠ 0 := by
  simp only [double_eq]
  omega

theorem triple_succ_ne_zero (n : Nat) : triple (n + 1) ≠ 0 := by
  simp only [triple_eq]
  omega

theorem double_ne_odd (m n : Nat) : double m ≠ double n + 1 := by
  simp only [double_eq]
  omega

theorem double_eq_calc (n : Nat) : double n = n + n :=
  calc
    double n = 2 * n := double_eq n
    _ = n + n := Nat.two_mul n

/-! ## Even and odd, by mutual recursion -/

mutual

/-- Whether a number is even. -/
def isEven : Nat → Bool
  | 0 => true
  | n + 1 => isOdd n

/-- Whether a number is odd. -/
def isOdd : Nat → Bool
  | 0 => false
  | n + 1 => isEven n

end

mutual

theorem isEven_double : ∀ n, isEven (double n) = true
  | 0 => by simp [double, isEven]
  | n + 1 => by
    simp only [double, isEven]
    exact isOdd_double_succ n

theorem isOdd_double_succ : ∀ n, isOdd (double n + 1) = true
  | n => by
    simp only [isOdd]
    exact isEven_double n

end

theorem isOdd_eq_not_isEven (n : Nat) : isOdd n = !isEven n := by
  induction n
  case zero => simp [isOdd, isEven]
  case succ n ih => simp [isOdd, isEven, ih]

/-! ## Even, odd and divisible numbers -/

/-- A number of the form `2k`. -/
def Even (n : Nat) : Prop := ∃ k, n = 2 * k

/-- A number of the form `2k + 1`. -/
def Odd (n : Nat) : Prop := ∃ k, n = 2 * k + 1

/-- A number of the form `3k`. -/
def Threefold (n : Nat) : Prop := ∃ k, n = 3 * k

theorem even_add {m n : Nat} (hm : Even m) (hn : Even n) : Even (m + n) := by
  obtain ⟨a, ha⟩ := hm
  obtain ⟨b, hb⟩ := hn
  exact ⟨a + b, by omega⟩

theorem threefold_add {m n : Nat} (hm : Threefold m) (hn : Threefold n) :
    Threefold (m + n) := by
  obtain ⟨a, ha⟩ := hm
  obtain ⟨b, hb⟩ := hn
  exact ⟨a + b, by omega⟩

theorem odd_add_odd {m n : Nat} (hm : Odd m) (hn : Odd n) : Even (m + n) := by
  obtain ⟨a, ha⟩ := hm
  obtain ⟨b, hb⟩ := hn
  exact ⟨a + b + 1, by omega⟩

theorem odd_add_even {m n : Nat} (hm : Odd m) (hn : Even n) : Odd (m + n) := by
  obtain ⟨a, ha⟩ := hm
  obtain ⟨b, hb⟩ := hn
  exact ⟨a + b, by omega⟩

theorem even_add_odd {m n : Nat} (hm : Even m) (hn : Odd n) : Odd (m + n) := by
  sorry

theorem odd_succ_of_even {n : Nat} (hn : Even n) : Odd (n + 1) := by
  obtain ⟨a, ha⟩ := hn
  exact ⟨a, by omega⟩

theorem even_succ_of_odd {n : Nat} (hn : Odd n) : Even (n + 1) := by
  obtain ⟨a, ha⟩ := hn
  exact ⟨a + 1, by omega⟩

theorem even_add_two {n : Nat} (hn : Even n) : Even (n + 2) := by
  obtain ⟨a, ha⟩ := hn
  exact ⟨a + 1, by omega⟩

theorem odd_add_two {n : Nat} (hn : Odd n) : Odd (n + 2) := by
  obtain ⟨a, ha⟩ := hn
  exact ⟨a + 1, by omega⟩

theorem threefold_add_three {n : Nat} (hn : Threefold n) : Threefold (n + 3) := by
  obtain ⟨a, ha⟩ := hn
  exact ⟨a + 1, by omega⟩

theorem even_double (n : Nat) : Even (double n) := by
  exact ⟨n, double_eq n⟩

theorem threefold_triple (n : Nat) : Threefold (triple n) := by
  exact ⟨n, triple_eq n⟩

theorem even_add_self (n : Nat) : Even (n + n) := by
  exact ⟨n, by omega⟩

theorem even_double_add {m n : Nat} (hm : Even m) : Even (m + double n) :=
  even_add hm (even_double n)

private theorem even_or_odd_aux (n : Nat) : Even n ∨ Odd n := by
  induction n with
  | zero => exact Or.inl ⟨0, rfl⟩
  | succ n ih =>
    rcases ih with he | ho
    · exact Or.inr (odd_succ_of_even he)
    · exact Or.inl (even_succ_of_odd ho)

theorem odd_or_even (n : Nat) : Odd n ∨ Even n := or_swap (even_or_odd_aux n)

theorem not_odd_of_even {n : Nat} (hn : Even n) : ¬Odd n := by
  obtain ⟨a, ha⟩ := hn
  intro ⟨b, hb⟩
  omega

theorem not_even_of_odd {n : Nat} (hn : Odd n) : ¬Even n := by
  obtain ⟨a, ha⟩ := hn
  intro ⟨b, hb⟩
  omega

end Sample
