/-!
# Insertion sort

Insertion sort on lists of numbers: the result is sorted and has the same elements, counted with
their multiplicity.
-/

namespace Extra

/-- A number put before the first element that is not smaller. -/
def insert (a : Nat) : List Nat → List Nat
  | [] => [a]
  | x :: xs => if a ≤ x then a :: x :: xs else x :: insert a xs

/-- Insertion sort. -/
def sort : List Nat → List Nat
  | [] => []
  | x :: xs => insert x (sort xs)

/-- Every element is at least `a`. -/
def AtLeast (a : Nat) (xs : List Nat) : Prop := ∀ x, x ∈ xs → a ≤ x

/-- Every element is at most the ones after it. -/
inductive Sorted : List Nat → Prop where
  | nil : Sorted []
  | cons {x xs} : AtLeast x xs → Sorted xs → Sorted (x :: xs)

/-- How often a number occurs. -/
def count (a : Nat) : List Nat → Nat
  | [] => 0
  | x :: xs => if a = x then count a xs + 1 else count a xs

theorem length_insert (a : Nat) (xs : List Nat) : (insert a xs).length = xs.length + 1 := by
  induction xs with
  | nil => rfl
  | cons x xs ih =>
    unfold insert
    split
    · rfl
    · simp [ih]

theorem length_sort (xs : List Nat) : (sort xs).length = xs.length := by
  induction xs
  case nil => rfl
  case cons x xs ih => rw [sort, length_insert, ih, List.length_cons]

theorem count_insert_self (a : Nat) (xs : List Nat) : count a (insert a xs) = count a xs + 1 := by
  induction xs with
  | nil => simp [insert, count]
  | cons x xs ih =>
    unfold insert
    split
    · simp [count]
    · simp only [count, ih]
      split <;> rfl

theorem count_insert_other {a b : Nat} (h : b ≠ a) (xs : List Nat) :
    count b (insert a xs) = count b xs := by
  induction xs with
  | nil => simp [insert, count, h]
  | cons x xs ih =>
    unfold insert
    split
    · simp [count, h]
    · simp only [count, ih]

theorem count_sort (a : Nat) (xs : List Nat) : count a (sort xs) = count a xs := by
  induction xs with
  | nil => rfl
  | cons x xs ih =>
    rw [sort]
    by_cases h : a = x
    · subst h
      rw [count_insert_self, ih]
      simp [count]
    · rw [count_insert_other h, ih]
      simp [count, h]

theorem mem_insert {a b : Nat} {xs : List Nat} (h : b ∈ insert a xs) : b = a ∨ b ∈ xs := by
  induction xs with
  | nil =>
    simp [insert] at h
    exact Or.inl h
  | cons x xs ih =>
    unfold insert at h
    split at h
    · cases h with
      | head => exact Or.inl rfl
      | tail _ h => exact Or.inr h
    · cases h with
      | head => exact Or.inr (List.Mem.head xs)
      | tail _ h =>
        rcases ih h with hb | hb
        · exact Or.inl hb
        · exact Or.inr (List.Mem.tail x hb)

theorem atLeast_nil (a : Nat) : AtLeast a [] := by
  intro x hx
  cases hx

theorem atLeast_cons {a x : Nat} {xs : List Nat} (hx : a ≤ x) (h : AtLeast a xs) :
    AtLeast a (x :: xs) := by
  intro y hy
  cases hy with
  | head => exact hx
  | tail _ hy => exact h y hy

theorem atLeast_trans {a b : Nat} {xs : List Nat} (hab : a ≤ b) (h : AtLeast b xs) :
    AtLeast a xs := by
  intro x hx
  exact Nat.le_trans hab (h x hx)

theorem atLeast_insert {a b : Nat} {xs : List Nat} (hab : a ≤ b) (h : AtLeast a xs) :
    AtLeast a (insert b xs) := by
  intro x hx
  rcases mem_insert hx with hb | hm
  · rw [hb]
    exact hab
  · exact h x hm

theorem sorted_tail {x : Nat} {xs : List Nat} (h : Sorted (x :: xs)) : Sorted xs := by
  cases h with
  | cons _ hs => exact hs

theorem atLeast_of_sorted {x : Nat} {xs : List Nat} (h : Sorted (x :: xs)) : AtLeast x xs := by
  sorry

theorem sorted_insert (a : Nat) {xs : List Nat} (h : Sorted xs) : Sorted (insert a xs) := by
  induction h with
  | nil => exact Sorted.cons (atLeast_nil a) Sorted.nil
  | @cons x xs hx hs ih =>
    unfold insert
    split
    case isTrue hax => exact Sorted.cons (atLeast_cons hax (atLeast_trans hax hx)) (Sorted.cons hx hs)
    case isFalse hax => exact Sorted.cons (atLeast_insert (by omega) hx) ih

theorem sorted_sort (xs : List Nat) : Sorted (sort xs) := by
  induction xs
  case nil => exact Sorted.nil
  case cons x xs ih => exact sorted_insert x ih

theorem sorted_pair {a b : Nat} (h : a ≤ b) : Sorted [a, b] := by
  apply Sorted.cons
  · exact atLeast_cons h (atLeast_nil a)
  · exact Sorted.cons (atLeast_nil b) Sorted.nil

theorem sorted_single (a : Nat) : Sorted [a] := by
  exact Sorted.cons (atLeast_nil a) Sorted.nil

theorem atLeast_zero (xs : List Nat) : AtLeast 0 xs := by
  intro x hx
  exact Nat.zero_le x

theorem atLeast_pair {a b c : Nat} (hab : a ≤ b) (hac : a ≤ c) : AtLeast a [b, c] := by
  apply atLeast_cons hab
  exact atLeast_cons hac (atLeast_nil a)

theorem atLeast_append {a : Nat} {xs ys : List Nat} (h : AtLeast a xs) (k : AtLeast a ys) :
    AtLeast a (xs ++ ys) := by
  intro x hx
  rw [List.mem_append] at hx
  rcases hx with hx | hx
  · exact h x hx
  · exact k x hx

theorem sorted_triple {a b c : Nat} (hab : a ≤ b) (hbc : b ≤ c) : Sorted [a, b, c] := by
  apply Sorted.cons
  · exact atLeast_pair hab (Nat.le_trans hab hbc)
  · exact sorted_pair hbc

theorem sorted_cons_cons {x y : Nat} {xs : List Nat} (hxy : x ≤ y) (h : Sorted (y :: xs)) :
    Sorted (x :: y :: xs) := by
  cases h with
  | cons hy hs => exact Sorted.cons (atLeast_cons hxy (atLeast_trans hxy hy)) (Sorted.cons hy hs)

theorem atLeast_head {a x : Nat} {xs : List Nat} (h : AtLeast a (x :: xs)) : a ≤ x := by
  exact h x (List.Mem.head xs)

theorem atLeast_tail {a x : Nat} {xs : List Nat} (h : AtLeast a (x :: xs)) : AtLeast a xs := by
  intro y hy
  exact h y (List.Mem.tail x hy)

theorem atLeast_sort {a : Nat} {xs : List Nat} (h : AtLeast a xs) : AtLeast a (sort xs) := by
  induction xs
  case nil => exact atLeast_nil a
  case cons x xs ih => exact atLeast_insert (atLeast_head h) (ih (atLeast_tail h))

theorem length_insert_sort (a : Nat) (xs : List Nat) :
    (insert a (sort xs)).length = xs.length + 1 := by
  rw [length_insert, length_sort]

theorem count_sort_sort (a : Nat) (xs : List Nat) : count a (sort (sort xs)) = count a xs := by
  sorry

theorem count_insert_sort (a : Nat) (xs : List Nat) :
    count a (insert a (sort xs)) = count a xs + 1 := by
  rw [count_insert_self, count_sort]

theorem count_append (a : Nat) (xs ys : List Nat) :
    count a (xs ++ ys) = count a xs + count a ys := by
  induction xs with
  | nil => simp [count]
  | cons x xs ih =>
    simp only [List.cons_append, count, ih]
    split
    · omega
    · rfl

theorem count_le_length (a : Nat) (xs : List Nat) : count a xs ≤ xs.length := by
  induction xs with
  | nil => exact Nat.le_refl 0
  | cons x xs ih =>
    simp only [count, List.length_cons]
    split
    · omega
    · omega

end Extra
