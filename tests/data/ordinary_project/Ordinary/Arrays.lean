/-! Arrays, loops and indices that are known to be in bounds. -/

namespace Arrays

def sum (xs : Array Nat) : Nat := Id.run do
  let mut s := 0
  for x in xs do
    s := s + x
  return s

theorem sum_empty : sum #[] = 0 := by
  rfl

theorem sum_one (n : Nat) : sum #[n] = n := by
  simp [sum]

def first (xs : Array α) (h : 0 < xs.size) : α := xs[0]

theorem first_push (xs : Array α) (x : α) (h : 0 < xs.size) :
    first (xs.push x) (by simp) = first xs h := by
  unfold first
  exact Array.getElem_push_lt h

def swapEnds (xs : Array α) (h : 0 < xs.size) : Array α :=
  xs.swap 0 (xs.size - 1)

theorem size_swapEnds (xs : Array α) (h : 0 < xs.size) : (swapEnds xs h).size = xs.size := by
  simp [swapEnds]

def indexOf (p : α → Bool) (xs : Array α) : Option Nat := go 0
where
  go (i : Nat) : Option Nat :=
    if h : i < xs.size then
      if p xs[i] then some i else go (i + 1)
    else none
  termination_by xs.size - i

theorem indexOf_empty (p : α → Bool) : indexOf p #[] = none := by
  rw [indexOf, indexOf.go]
  simp

theorem go_bound (p : α → Bool) (xs : Array α) (i : Nat) (h : indexOf.go p xs i = some j) :
    j < xs.size := by
  unfold indexOf.go at h
  split at h
  · next hi =>
    split at h
    · cases h
      exact hi
    · exact go_bound p xs (i + 1) h
  · contradiction
  termination_by xs.size - i

def countUp (n : Nat) : Array Nat := Id.run do
  let mut out := #[]
  for i in [0:n] do
    out := out.push i
  return out

theorem map_size (f : α → β) (xs : Array α) : (xs.map f).size = xs.size := by
  exact Array.size_map

#guard sum #[1, 2, 3] = 6
#guard indexOf (· > 2) #[1, 2, 3, 4] = some 2
#guard countUp 3 = #[0, 1, 2]

end Arrays
