import Sample.List

/-!
# More maps of lists

Three more functions on lists, and how they commute with those of `Sample.List`: induction, compute,
use the induction hypothesis.
-/

namespace Sample

variable {α : Type}

/-- Four times every element. -/
def quadAll : List Nat → List Nat
  | [] => []
  | x :: xs => (4 * x) :: quadAll xs

/-- Zero in place of every element. -/
def zeroAll : List Nat → List Nat
  | [] => []
  | _ :: xs => 0 :: zeroAll xs

/-- Every element three times. -/
def thrice : List α → List α
  | [] => []
  | x :: xs => x :: x :: x :: thrice xs

/-! ## Length -/

theorem len_quadAll (xs : List Nat) : len (quadAll xs) = len xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [quadAll, len, ih]

theorem len_zeroAll (xs : List Nat) : len (zeroAll xs) = len xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [zeroAll, len, ih]

theorem len_thrice (xs : List α) : len (thrice xs) = 3 * len xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp only [thrice, len]; omega

theorem len_quadAll_rev (xs : List Nat) : len (quadAll (rev xs)) = len xs := by
  rw [len_quadAll, len_rev]

theorem len_zeroAll_join (xs ys : List Nat) : len (zeroAll (join xs ys)) = len xs + len ys := by
  rw [len_zeroAll, len_join]

theorem len_thrice_rev (xs : List α) : len (thrice (rev xs)) = 3 * len xs := by
  rw [len_thrice, len_rev]

/-! ## Maps over `join` and `snoc` -/

theorem quadAll_join (xs ys : List Nat) :
    quadAll (join xs ys) = join (quadAll xs) (quadAll ys) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [join, quadAll, ih]

theorem zeroAll_join (xs ys : List Nat) :
    zeroAll (join xs ys) = join (zeroAll xs) (zeroAll ys) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [join, zeroAll, ih]

theorem thrice_join (xs ys : List α) : thrice (join xs ys) = join (thrice xs) (thrice ys) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [join, thrice, ih]

theorem quadAll_snoc (xs : List Nat) (a : Nat) :
    quadAll (snoc xs a) = snoc (quadAll xs) (4 * a) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [snoc, quadAll, ih]

theorem zeroAll_snoc (xs : List Nat) (a : Nat) : zeroAll (snoc xs a) = snoc (zeroAll xs) 0 := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [snoc, zeroAll, ih]

/-! ## Reversal -/

theorem rev_quadAll (xs : List Nat) : rev (quadAll xs) = quadAll (rev xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [quadAll, rev, quadAll_snoc, ih]

theorem rev_zeroAll (xs : List Nat) : rev (zeroAll xs) = zeroAll (rev xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [zeroAll, rev, zeroAll_snoc, ih]

/-! ## Maps after maps -/

theorem stutter_quadAll (xs : List Nat) : stutter (quadAll xs) = quadAll (stutter xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [quadAll, stutter, ih]

theorem stutter_zeroAll (xs : List Nat) : stutter (zeroAll xs) = zeroAll (stutter xs) := by
  sorry

theorem thrice_incAll (xs : List Nat) : thrice (incAll xs) = incAll (thrice xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [incAll, thrice, ih]

theorem thrice_doubleAll (xs : List Nat) : thrice (doubleAll xs) = doubleAll (thrice xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [doubleAll, thrice, ih]

theorem thrice_notAll (bs : List Bool) : thrice (notAll bs) = notAll (thrice bs) := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [notAll, thrice, ih]

theorem zeroAll_zeroAll (xs : List Nat) : zeroAll (zeroAll xs) = zeroAll xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [zeroAll, ih]

theorem zeroAll_incAll (xs : List Nat) : zeroAll (incAll xs) = zeroAll xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [incAll, zeroAll, ih]

theorem zeroAll_doubleAll (xs : List Nat) : zeroAll (doubleAll xs) = zeroAll xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [doubleAll, zeroAll, ih]

/-! ## Sums -/

theorem total_quadAll (xs : List Nat) : total (quadAll xs) = 4 * total xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp only [quadAll, total]; omega

theorem total_thrice (xs : List Nat) : total (thrice xs) = 3 * total xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp only [thrice, total]; omega

theorem total_zeroAll (xs : List Nat) : total (zeroAll xs) = 0 := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [zeroAll, total, ih]

theorem total_le_quadAll (xs : List Nat) : total xs ≤ total (quadAll xs) := by
  rw [total_quadAll]
  omega

theorem total_le_thrice (xs : List Nat) : total xs ≤ total (thrice xs) := by
  rw [total_thrice]
  omega

theorem total_quadAll_rev (xs : List Nat) : total (quadAll (rev xs)) = 4 * total xs := by
  sorry

end Sample
