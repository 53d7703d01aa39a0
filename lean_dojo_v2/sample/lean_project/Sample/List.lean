import Sample.Bool
import Sample.Nat

/-!
# Lists

Functions on lists by structural recursion, and how they commute with one another. The pattern is
always the same: induction, compute, use the induction hypothesis; finding the right lemmas is the
game.
-/

namespace Sample

variable {α : Type}

/-- The number of elements. -/
def len : List α → Nat
  | [] => 0
  | _ :: xs => len xs + 1

/-- Two lists one after the other. -/
def join : List α → List α → List α
  | [], ys => ys
  | x :: xs, ys => x :: join xs ys

/-- The list with one more element at its end. -/
def snoc : List α → α → List α
  | [], a => [a]
  | x :: xs, a => x :: snoc xs a

/-- The list from its end to its beginning. -/
def rev : List α → List α
  | [] => []
  | x :: xs => snoc (rev xs) x

/-- Every element twice. -/
def stutter : List α → List α
  | [] => []
  | x :: xs => x :: x :: stutter xs

/-- The sum of the elements. -/
def total : List Nat → Nat
  | [] => 0
  | x :: xs => total xs + x

/-- One more than every element. -/
def incAll : List Nat → List Nat
  | [] => []
  | x :: xs => (x + 1) :: incAll xs

/-- Twice every element. -/
def doubleAll : List Nat → List Nat
  | [] => []
  | x :: xs => (2 * x) :: doubleAll xs

/-- Three times every element. -/
def tripleAll : List Nat → List Nat
  | [] => []
  | x :: xs => (3 * x) :: tripleAll xs

/-- The negation of every element. -/
def notAll : List Bool → List Bool
  | [] => []
  | b :: bs => (!b) :: notAll bs

/-- Whether every element is true. -/
def every : List Bool → Bool
  | [] => true
  | b :: bs => b && every bs

/-- Whether some element is true. -/
def some' : List Bool → Bool
  | [] => false
  | b :: bs => b || some' bs

/-- The list of `n` copies of `a`. -/
def copies (a : α) : Nat → List α
  | 0 => []
  | n + 1 => a :: copies a n

/-! ## The empty list and associativity -/

theorem join_nil (xs : List α) : join xs [] = xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [join, ih]

theorem join_assoc (xs ys zs : List α) : join (join xs ys) zs = join xs (join ys zs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [join, ih]

theorem snoc_join (xs ys : List α) (a : α) : snoc (join xs ys) a = join xs (snoc ys a) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [join, snoc, ih]

theorem join_snoc (xs ys : List α) (a : α) : join (snoc xs a) ys = join xs (a :: ys) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [snoc, join, ih]

theorem snoc_eq_join (xs : List α) (a : α) : snoc xs a = join xs [a] := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [snoc, join, ih]

theorem snoc_ne_nil (xs : List α) (a : α) : snoc xs a ≠ [] := by
  cases xs <;> simp [snoc]

/-! ## Length -/

theorem len_join (xs ys : List α) : len (join xs ys) = len xs + len ys := by
  induction xs
  case nil => simp only [join, len]; omega
  case cons x xs ih => simp only [join, len]; omega

theorem len_snoc (xs : List α) (a : α) : len (snoc xs a) = len xs + 1 := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [snoc, len, ih]

theorem len_rev (xs : List α) : len (rev xs) = len xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [rev, len, len_snoc, ih]

theorem len_stutter (xs : List α) : len (stutter xs) = 2 * len xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp only [stutter, len]; omega

theorem len_incAll (xs : List Nat) : len (incAll xs) = len xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [incAll, len, ih]

theorem len_doubleAll (xs : List Nat) : len (doubleAll xs) = len xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [doubleAll, len, ih]

theorem len_tripleAll (xs : List Nat) : len (tripleAll xs) = len xs := by
  sorry

theorem len_notAll (bs : List Bool) : len (notAll bs) = len bs := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [notAll, len, ih]

theorem len_copies (a : α) (n : Nat) : len (copies a n) = n := by
  induction n
  case zero => rfl
  case succ n ih => simp [copies, len, ih]

theorem len_stutter_double (xs : List α) : len (stutter xs) = double (len xs) := by
  rw [len_stutter, double_eq]

theorem even_len_stutter (xs : List α) : Even (len (stutter xs)) := by
  exact ⟨len xs, len_stutter xs⟩

theorem len_join_comm (xs ys : List α) : len (join xs ys) = len (join ys xs) := by
  rw [len_join, len_join, Nat.add_comm]

theorem len_rev_join (xs ys : List α) : len (rev (join xs ys)) = len xs + len ys := by
  rw [len_rev, len_join]

theorem len_snoc_rev (xs : List α) (a : α) : len (snoc (rev xs) a) = len xs + 1 := by
  rw [len_snoc, len_rev]

theorem len_incAll_rev (xs : List Nat) : len (incAll (rev xs)) = len xs := by
  rw [len_incAll, len_rev]

theorem len_doubleAll_rev (xs : List Nat) : len (doubleAll (rev xs)) = len xs := by
  rw [len_doubleAll, len_rev]

theorem len_rev_stutter (xs : List α) : len (rev (stutter xs)) = 2 * len xs := by
  rw [len_rev, len_stutter]

theorem len_stutter_rev (xs : List α) : len (stutter (rev xs)) = 2 * len xs := sorry

theorem len_incAll_join (xs ys : List Nat) : len (incAll (join xs ys)) = len xs + len ys := by
  rw [len_incAll, len_join]

theorem len_doubleAll_join (xs ys : List Nat) :
    len (doubleAll (join xs ys)) = len xs + len ys := by
  rw [len_doubleAll, len_join]

theorem len_notAll_rev (bs : List Bool) : len (notAll (rev bs)) = len bs := by
  rw [len_notAll, len_rev]

/-! ## Maps over `join` and `snoc` -/

theorem stutter_join (xs ys : List α) : stutter (join xs ys) = join (stutter xs) (stutter ys) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [join, stutter, ih]

theorem incAll_join (xs ys : List Nat) : incAll (join xs ys) = join (incAll xs) (incAll ys) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [join, incAll, ih]

theorem doubleAll_join (xs ys : List Nat) :
    doubleAll (join xs ys) = join (doubleAll xs) (doubleAll ys) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [join, doubleAll, ih]

theorem tripleAll_join (xs ys : List Nat) :
    tripleAll (join xs ys) = join (tripleAll xs) (tripleAll ys) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [join, tripleAll, ih]

theorem notAll_join (bs cs : List Bool) : notAll (join bs cs) = join (notAll bs) (notAll cs) := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [join, notAll, ih]

theorem incAll_snoc (xs : List Nat) (a : Nat) : incAll (snoc xs a) = snoc (incAll xs) (a + 1) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [snoc, incAll, ih]

theorem doubleAll_snoc (xs : List Nat) (a : Nat) :
    doubleAll (snoc xs a) = snoc (doubleAll xs) (2 * a) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [snoc, doubleAll, ih]

theorem tripleAll_snoc (xs : List Nat) (a : Nat) :
    tripleAll (snoc xs a) = snoc (tripleAll xs) (3 * a) := by
  sorry

theorem notAll_snoc (bs : List Bool) (a : Bool) : notAll (snoc bs a) = snoc (notAll bs) (!a) := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [snoc, notAll, ih]

theorem stutter_snoc (xs : List α) (a : α) :
    stutter (snoc xs a) = snoc (snoc (stutter xs) a) a := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [snoc, stutter, ih]

/-! ## Reversal -/

theorem rev_snoc (xs : List α) (a : α) : rev (snoc xs a) = a :: rev xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [snoc, rev, ih]

theorem rev_rev (xs : List α) : rev (rev xs) = xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [rev, rev_snoc, ih]

theorem rev_join (xs ys : List α) : rev (join xs ys) = join (rev ys) (rev xs) := by
  induction xs
  case nil => simp [join, rev, join_nil]
  case cons x xs ih => simp [join, rev, snoc_join, ih]

theorem rev_stutter (xs : List α) : rev (stutter xs) = stutter (rev xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [stutter, rev, stutter_snoc, ih]

theorem rev_incAll (xs : List Nat) : rev (incAll xs) = incAll (rev xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [incAll, rev, incAll_snoc, ih]

theorem rev_doubleAll (xs : List Nat) : rev (doubleAll xs) = doubleAll (rev xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [doubleAll, rev, doubleAll_snoc, ih]

theorem rev_notAll (bs : List Bool) : rev (notAll bs) = notAll (rev bs) := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [notAll, rev, notAll_snoc, ih]

theorem rev_inj {xs ys : List α} (h : rev xs = rev ys) : xs = ys := by
  have hr : rev (rev xs) = rev (rev ys) := by rw [h]
  rw [rev_rev, rev_rev] at hr
  exact hr

/-! ## Maps after maps -/

theorem stutter_incAll (xs : List Nat) : stutter (incAll xs) = incAll (stutter xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [incAll, stutter, ih]

theorem stutter_doubleAll (xs : List Nat) : stutter (doubleAll xs) = doubleAll (stutter xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [doubleAll, stutter, ih]

theorem stutter_tripleAll (xs : List Nat) : stutter (tripleAll xs) = tripleAll (stutter xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [tripleAll, stutter, ih]

theorem stutter_notAll (bs : List Bool) : stutter (notAll bs) = notAll (stutter bs) := by
  sorry

theorem notAll_notAll (bs : List Bool) : notAll (notAll bs) = bs := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [notAll, ih]

theorem doubleAll_tripleAll (xs : List Nat) : doubleAll (tripleAll xs) = tripleAll (doubleAll xs) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [tripleAll, doubleAll, ih]; omega

theorem doubleAll_incAll (xs : List Nat) : doubleAll (incAll xs) = incAll (incAll (doubleAll xs)) := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [incAll, doubleAll, ih]; omega

/-! ## Sums -/

theorem total_join (xs ys : List Nat) : total (join xs ys) = total xs + total ys := by
  induction xs
  case nil => simp only [join, total]; omega
  case cons x xs ih => simp only [join, total]; omega

theorem total_snoc (xs : List Nat) (a : Nat) : total (snoc xs a) = total xs + a := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp only [snoc, total]; omega

theorem total_rev (xs : List Nat) : total (rev xs) = total xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp [rev, total, total_snoc, ih]

theorem total_incAll (xs : List Nat) : total (incAll xs) = total xs + len xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp only [incAll, total, len]; omega

theorem total_doubleAll (xs : List Nat) : total (doubleAll xs) = 2 * total xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp only [doubleAll, total]; omega

theorem total_tripleAll (xs : List Nat) : total (tripleAll xs) = 3 * total xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp only [tripleAll, total]; omega

theorem total_stutter (xs : List Nat) : total (stutter xs) = 2 * total xs := by
  induction xs
  case nil => rfl
  case cons x xs ih => simp only [stutter, total]; omega

theorem total_le_doubleAll (xs : List Nat) : total xs ≤ total (doubleAll xs) := by
  rw [total_doubleAll]
  omega

theorem total_le_incAll (xs : List Nat) : total xs ≤ total (incAll xs) := by
  rw [total_incAll]
  omega

theorem total_le_stutter (xs : List Nat) : total xs ≤ total (stutter xs) := by
  rw [total_stutter]
  omega

theorem len_le_total_incAll (xs : List Nat) : len xs ≤ total (incAll xs) := by
  sorry

theorem total_doubleAll_eq_stutter (xs : List Nat) : total (doubleAll xs) = total (stutter xs) := by
  rw [total_doubleAll, total_stutter]

theorem total_doubleAll_rev (xs : List Nat) : total (doubleAll (rev xs)) = 2 * total xs := by
  rw [total_doubleAll, total_rev]

theorem total_tripleAll_rev (xs : List Nat) : total (tripleAll (rev xs)) = 3 * total xs := by
  rw [total_tripleAll, total_rev]

theorem total_rev_join (xs ys : List Nat) : total (rev (join xs ys)) = total xs + total ys := by
  rw [total_rev, total_join]

theorem total_snoc_rev (xs : List Nat) (a : Nat) : total (snoc (rev xs) a) = total xs + a := by
  rw [total_snoc, total_rev]

/-! ## Lists of booleans -/

theorem every_join (bs cs : List Bool) : every (join bs cs) = (every bs && every cs) := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [join, every, ih, Bool.and_assoc]

theorem some_join (bs cs : List Bool) : some' (join bs cs) = (some' bs || some' cs) := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [join, some', ih, Bool.or_assoc]

theorem not_every (bs : List Bool) : (!every bs) = some' (notAll bs) := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [every, notAll, some', ih]

theorem not_some (bs : List Bool) : (!some' bs) = every (notAll bs) := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [some', notAll, every, ih]

theorem every_stutter (bs : List Bool) : every (stutter bs) = every bs := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [stutter, every, ih]

theorem some_stutter (bs : List Bool) : some' (stutter bs) = some' bs := by
  induction bs
  case nil => rfl
  case cons b bs ih => simp [stutter, some', ih]

theorem every_copies_true (n : Nat) : every (copies true n) = true := by
  induction n
  case zero => rfl
  case succ n ih => simp [copies, every, ih]

theorem some_copies_false (n : Nat) : some' (copies false n) = false := by
  induction n
  case zero => rfl
  case succ n ih => simp [copies, some', ih]

theorem total_copies_zero (n : Nat) : total (copies 0 n) = 0 := by
  induction n
  case zero => rfl
  case succ n ih => simp [copies, total, ih]

theorem total_copies_one (n : Nat) : total (copies 1 n) = n := by
  induction n
  case zero => rfl
  case succ n ih => simp [copies, total, ih]

theorem notAll_copies (a : Bool) (n : Nat) : notAll (copies a n) = copies (!a) n := by
  induction n
  case zero => rfl
  case succ n ih => simp [copies, notAll, ih]

theorem incAll_copies (a n : Nat) : incAll (copies a n) = copies (a + 1) n := by
  induction n
  case zero => rfl
  case succ n ih => simp [copies, incAll, ih]

theorem doubleAll_copies (a n : Nat) : doubleAll (copies a n) = copies (2 * a) n := by
  induction n
  case zero => rfl
  case succ n ih => simp [copies, doubleAll, ih]

theorem tripleAll_copies (a n : Nat) : tripleAll (copies a n) = copies (3 * a) n := by
  sorry

end Sample
