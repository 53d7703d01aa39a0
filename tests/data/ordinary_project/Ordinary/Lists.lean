/-! Lists: recursion, library functions, accumulators. -/

namespace Lists

def reversed : List α → List α
  | [] => []
  | x :: xs => reversed xs ++ [x]

theorem reversed_append (xs ys : List α) :
    reversed (xs ++ ys) = reversed ys ++ reversed xs := by
  induction xs with
  | nil => simp [reversed]
  | cons x xs ih => simp [reversed, ih]

theorem reversed_reversed (xs : List α) : reversed (reversed xs) = xs := by
  induction xs with
  | nil => rfl
  | cons x xs ih =>
    rw [reversed, reversed_append, ih]
    rfl

def doubled (xs : List Nat) : List Nat := xs.map fun x => 2 * x

theorem doubled_length (xs : List Nat) : (doubled xs).length = xs.length := by
  simp [doubled]

theorem doubled_mem (xs : List Nat) (h : x ∈ xs) : 2 * x ∈ doubled xs := by
  unfold doubled
  exact List.mem_map_of_mem h

def total (xs : List Nat) : Nat := xs.foldl (fun sum x => sum + x) 0

theorem foldl_from (xs : List Nat) (start : Nat) :
    xs.foldl (fun sum x => sum + x) start = start + total xs := by
  unfold total
  induction xs generalizing start with
  | nil => simp
  | cons x xs ih =>
    simp only [List.foldl_cons]
    rw [ih, ih (0 + x)]
    omega

theorem total_cons (x : Nat) (xs : List Nat) : total (x :: xs) = x + total xs := by
  show List.foldl (fun sum x => sum + x) (0 + x) xs = _
  rw [foldl_from]
  omega

theorem total_append (xs ys : List Nat) : total (xs ++ ys) = total xs + total ys := by
  induction xs with
  | nil => simp [total]
  | cons x xs ih =>
    rw [List.cons_append, total_cons, total_cons, ih, Nat.add_assoc]

def keep (p : α → Bool) : List α → List α
  | [] => []
  | x :: xs => if p x then x :: keep p xs else keep p xs

theorem keep_length (p : α → Bool) (xs : List α) : (keep p xs).length ≤ xs.length := by
  induction xs with
  | nil => exact Nat.le_refl _
  | cons x xs ih =>
    rw [keep]
    split
    · exact Nat.succ_le_succ ih
    · exact Nat.le_succ_of_le ih

theorem keep_is_filter (p : α → Bool) (xs : List α) : keep p xs = xs.filter p := by
  induction xs with
  | nil => rfl
  | cons x xs ih => simp [keep, List.filter_cons, ih]

def pairs (xs : List α) (ys : List β) : List (α × β) :=
  match xs, ys with
  | x :: xs, y :: ys => (x, y) :: pairs xs ys
  | _, _ => []

theorem pairs_length : (xs : List α) → (ys : List β) →
    (pairs xs ys).length = min xs.length ys.length
  | [], _ => by simp [pairs]
  | _ :: _, [] => by simp [pairs]
  | _ :: xs, _ :: ys => by simp [pairs, pairs_length xs ys]

#guard reversed [1, 2, 3] = [3, 2, 1]
#guard total (doubled [1, 2, 3]) = 12
#guard pairs [1, 2] ["a", "b", "c"] = [(1, "a"), (2, "b")]

end Lists
