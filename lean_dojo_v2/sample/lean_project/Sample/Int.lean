import Sample.Nat

/-!
# Integers

Distance, absolute value, sign, minimum and maximum, defined by cases. Once the definitions are
unfolded, `omega` knows what to do with the cases.
-/

namespace Sample

/-- The distance of two integers. -/
def dist (a b : Int) : Int := if a ≤ b then b - a else a - b

/-- The absolute value. -/
def absI (a : Int) : Int := if 0 ≤ a then a else -a

/-- The larger of two integers. -/
def larger (a b : Int) : Int := if a ≤ b then b else a

/-- The smaller of two integers. -/
def smaller (a b : Int) : Int := if a ≤ b then a else b

/-- The sign: `-1`, `0` or `1`. -/
def sign (a : Int) : Int := if 0 < a then 1 else if a < 0 then -1 else 0

theorem dist_self (a : Int) : dist a a = 0 := by
  unfold dist
  omega

theorem dist_comm (a b : Int) : dist a b = dist b a := by
  unfold dist
  omega

theorem dist_nonneg (a b : Int) : 0 ≤ dist a b := by
  unfold dist
  omega

theorem dist_triangle (a b c : Int) : dist a c ≤ dist a b + dist b c := by
  unfold dist
  omega

theorem dist_shift (a b c : Int) : dist (a + c) (b + c) = dist a b := by
  unfold dist
  omega

theorem dist_neg (a b : Int) : dist (-a) (-b) = dist a b := by
  unfold dist
  omega

theorem eq_of_dist_zero {a b : Int} (h : dist a b = 0) : a = b := by
  unfold dist at h
  omega

theorem dist_zero (a : Int) : dist a 0 = absI a := by
  unfold dist absI
  omega

theorem absI_nonneg (a : Int) : 0 ≤ absI a := by
  unfold absI
  omega

theorem absI_neg (a : Int) : absI (-a) = absI a := by
  unfold absI
  omega

theorem absI_add (a b : Int) : absI (a + b) ≤ absI a + absI b := by
  unfold absI
  omega

theorem le_absI (a : Int) : a ≤ absI a := by
  unfold absI
  omega

theorem neg_le_absI (a : Int) : -a ≤ absI a := by
  sorry

theorem absI_absI (a : Int) : absI (absI a) = absI a := by
  have h := absI_nonneg a
  rw [absI, if_pos h]

theorem eq_zero_of_absI {a : Int} (h : absI a = 0) : a = 0 := by
  unfold absI at h
  omega

theorem larger_self (a : Int) : larger a a = a := by
  unfold larger
  omega

theorem smaller_self (a : Int) : smaller a a = a := by
  unfold smaller
  omega

theorem larger_comm (a b : Int) : larger a b = larger b a := by
  unfold larger
  omega

theorem smaller_comm (a b : Int) : smaller a b = smaller b a := by
  sorry

theorem le_larger_left (a b : Int) : a ≤ larger a b := by
  unfold larger
  omega

theorem le_larger_right (a b : Int) : b ≤ larger a b := by
  unfold larger
  omega

theorem smaller_le_left (a b : Int) : smaller a b ≤ a := by
  unfold smaller
  omega

theorem smaller_le_right (a b : Int) : smaller a b ≤ b := by
  unfold smaller
  omega

theorem smaller_le_larger (a b : Int) : smaller a b ≤ larger a b := by
  unfold smaller larger
  omega

theorem larger_add_smaller (a b : Int) : larger a b + smaller a b = a + b := by
  unfold larger smaller
  omega

theorem larger_sub_smaller (a b : Int) : larger a b - smaller a b = dist a b := by
  unfold larger smaller dist
  omega

theorem larger_le {a b c : Int} (ha : a ≤ c) (hb : b ≤ c) : larger a b ≤ c := by
  unfold larger
  omega

theorem le_smaller {a b c : Int} (ha : c ≤ a) (hb : c ≤ b) : c ≤ smaller a b := by
  unfold smaller
  omega

theorem neg_larger (a b : Int) : -larger a b = smaller (-a) (-b) := by
  unfold larger smaller
  omega

theorem neg_smaller (a b : Int) : -smaller a b = larger (-a) (-b) := by
  unfold smaller larger
  omega

theorem larger_neg_self (a : Int) : larger a (-a) = absI a := by
  unfold larger absI
  omega

theorem sign_neg (a : Int) : sign (-a) = -sign a := by
  unfold sign
  omega

theorem sign_le_one (a : Int) : sign a ≤ 1 := by
  unfold sign
  omega

theorem neg_one_le_sign (a : Int) : -1 ≤ sign a := by
  unfold sign
  omega

end Sample
