import Sample.ListMaps

/-!
# Binary trees

Trees with numbers at the nodes: size, sum, mirror image and the list of the elements. Induction now
has two hypotheses, one for each side.
-/

namespace Sample

/-- A binary tree with a number at every node. -/
inductive Tree where
  | leaf : Tree
  | node : Tree → Nat → Tree → Tree

namespace Tree

/-- The number of nodes. -/
@[pp_nodot] def size : Tree → Nat
  | leaf => 0
  | node l _ r => size l + size r + 1

/-- The number of leaves. -/
@[pp_nodot] def leaves : Tree → Nat
  | leaf => 1
  | node l _ r => leaves l + leaves r

/-- The sum of the numbers at the nodes. -/
@[pp_nodot] def sum : Tree → Nat
  | leaf => 0
  | node l x r => sum l + sum r + x

/-- The tree seen in a mirror. -/
@[pp_nodot] def mirror : Tree → Tree
  | leaf => leaf
  | node l x r => node (mirror r) x (mirror l)

/-- One more than every number. -/
@[pp_nodot] def inc : Tree → Tree
  | leaf => leaf
  | node l x r => node (inc l) (x + 1) (inc r)

/-- Twice every number. -/
@[pp_nodot] def dbl : Tree → Tree
  | leaf => leaf
  | node l x r => node (dbl l) (2 * x) (dbl r)

/-- Three times every number. -/
@[pp_nodot] def trip : Tree → Tree
  | leaf => leaf
  | node l x r => node (trip l) (3 * x) (trip r)

/-- Zero in place of every number. -/
@[pp_nodot] def zeros : Tree → Tree
  | leaf => leaf
  | node l _ r => node (zeros l) 0 (zeros r)

/-- The numbers from left to right. -/
@[pp_nodot] def flat : Tree → List Nat
  | leaf => []
  | node l x r => join (flat l) (x :: flat r)

theorem mirror_mirror (t : Tree) : mirror (mirror t) = t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [mirror, ihl, ihr]

theorem mirror_inc (t : Tree) : mirror (inc t) = inc (mirror t) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [mirror, inc, ihl, ihr]

theorem mirror_dbl (t : Tree) : mirror (dbl t) = dbl (mirror t) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [mirror, dbl, ihl, ihr]

theorem size_inc (t : Tree) : size (inc t) = size t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [inc, size, ihl, ihr]

theorem size_dbl (t : Tree) : size (dbl t) = size t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [dbl, size, ihl, ihr]

theorem leaves_inc (t : Tree) : leaves (inc t) = leaves t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [inc, leaves, ihl, ihr]

theorem leaves_dbl (t : Tree) : leaves (dbl t) = leaves t := by
  sorry

theorem size_mirror (t : Tree) : size (mirror t) = size t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp only [mirror, size]; omega

theorem leaves_mirror (t : Tree) : leaves (mirror t) = leaves t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp only [mirror, leaves]; omega

theorem sum_mirror (t : Tree) : sum (mirror t) = sum t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp only [mirror, sum]; omega

theorem leaves_eq (t : Tree) : leaves t = size t + 1 := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp only [leaves, size]; omega

theorem sum_dbl (t : Tree) : sum (dbl t) = 2 * sum t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp only [dbl, sum]; omega

theorem sum_inc (t : Tree) : sum (inc t) = sum t + size t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp only [inc, sum, size]; omega

theorem len_flat (t : Tree) : len (flat t) = size t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp only [flat, size, len_join, len]; omega

theorem total_flat (t : Tree) : total (flat t) = sum t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp only [flat, sum, total_join, total]; omega

theorem flat_inc (t : Tree) : flat (inc t) = incAll (flat t) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [inc, flat, incAll_join, incAll, ihl, ihr]

theorem flat_dbl (t : Tree) : flat (dbl t) = doubleAll (flat t) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [dbl, flat, doubleAll_join, doubleAll, ihl, ihr]

theorem flat_mirror (t : Tree) : flat (mirror t) = rev (flat t) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [mirror, flat, rev_join, rev, join_snoc, ihl, ihr]

theorem size_mirror_inc (t : Tree) : size (mirror (inc t)) = size t := by
  rw [size_mirror, size_inc]

theorem size_mirror_dbl (t : Tree) : size (mirror (dbl t)) = size t := by
  rw [size_mirror, size_dbl]

theorem leaves_mirror_inc (t : Tree) : leaves (mirror (inc t)) = leaves t := by
  rw [leaves_mirror, leaves_inc]

theorem sum_mirror_dbl (t : Tree) : sum (mirror (dbl t)) = 2 * sum t := by
  rw [sum_mirror, sum_dbl]

theorem leaves_pos (t : Tree) : 0 < leaves t := by
  rw [leaves_eq]
  omega

theorem size_lt_leaves (t : Tree) : size t < leaves t := by
  rw [leaves_eq]
  omega

/-! ## Three times and zero -/

theorem mirror_trip (t : Tree) : mirror (trip t) = trip (mirror t) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [mirror, trip, ihl, ihr]

theorem mirror_zeros (t : Tree) : mirror (zeros t) = zeros (mirror t) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [mirror, zeros, ihl, ihr]

theorem size_trip (t : Tree) : size (trip t) = size t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [trip, size, ihl, ihr]

theorem size_zeros (t : Tree) : size (zeros t) = size t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [zeros, size, ihl, ihr]

theorem leaves_trip (t : Tree) : leaves (trip t) = leaves t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [trip, leaves, ihl, ihr]

theorem leaves_zeros (t : Tree) : leaves (zeros t) = leaves t := by
  sorry

theorem sum_trip (t : Tree) : sum (trip t) = 3 * sum t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp only [trip, sum]; omega

theorem sum_zeros (t : Tree) : sum (zeros t) = 0 := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [zeros, sum, ihl, ihr]

theorem flat_trip (t : Tree) : flat (trip t) = tripleAll (flat t) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [trip, flat, tripleAll_join, tripleAll, ihl, ihr]

theorem flat_zeros (t : Tree) : flat (zeros t) = zeroAll (flat t) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [zeros, flat, zeroAll_join, zeroAll, ihl, ihr]

theorem zeros_inc (t : Tree) : zeros (inc t) = zeros t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [inc, zeros, ihl, ihr]

theorem zeros_dbl (t : Tree) : zeros (dbl t) = zeros t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [dbl, zeros, ihl, ihr]

theorem zeros_trip (t : Tree) : zeros (trip t) = zeros t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [trip, zeros, ihl, ihr]

theorem zeros_zeros (t : Tree) : zeros (zeros t) = zeros t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [zeros, ihl, ihr]

theorem dbl_zeros (t : Tree) : dbl (zeros t) = zeros t := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [zeros, dbl, ihl, ihr]

theorem dbl_trip (t : Tree) : dbl (trip t) = trip (dbl t) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [trip, dbl, ihl, ihr]; omega

theorem dbl_inc (t : Tree) : dbl (inc t) = inc (inc (dbl t)) := by
  induction t
  case leaf => rfl
  case node l x r ihl ihr => simp [inc, dbl, ihl, ihr]; omega

/-! ## One after the other -/

theorem size_mirror_trip (t : Tree) : size (mirror (trip t)) = size t := by
  rw [size_mirror, size_trip]

theorem size_inc_dbl (t : Tree) : size (inc (dbl t)) = size t := by
  rw [size_inc, size_dbl]

theorem size_dbl_inc (t : Tree) : size (dbl (inc t)) = size t := by
  rw [size_dbl, size_inc]

theorem leaves_mirror_trip (t : Tree) : leaves (mirror (trip t)) = leaves t := by
  rw [leaves_mirror, leaves_trip]

theorem leaves_inc_mirror (t : Tree) : leaves (inc (mirror t)) = leaves t := by
  rw [leaves_inc, leaves_mirror]

theorem sum_mirror_trip (t : Tree) : sum (mirror (trip t)) = 3 * sum t := by
  rw [sum_mirror, sum_trip]

theorem sum_mirror_inc (t : Tree) : sum (mirror (inc t)) = sum t + size t := by
  rw [sum_mirror, sum_inc]

theorem sum_dbl_mirror (t : Tree) : sum (dbl (mirror t)) = 2 * sum t := by
  sorry

theorem mirror_inc_mirror (t : Tree) : mirror (inc (mirror t)) = inc t := by
  rw [mirror_inc, mirror_mirror]

theorem mirror_dbl_mirror (t : Tree) : mirror (dbl (mirror t)) = dbl t := by
  rw [mirror_dbl, mirror_mirror]

theorem mirror_trip_mirror (t : Tree) : mirror (trip (mirror t)) = trip t := by
  rw [mirror_trip, mirror_mirror]

theorem len_flat_mirror (t : Tree) : len (flat (mirror t)) = size t := by
  rw [len_flat, size_mirror]

theorem len_flat_inc (t : Tree) : len (flat (inc t)) = size t := by
  rw [len_flat, size_inc]

theorem total_flat_mirror (t : Tree) : total (flat (mirror t)) = sum t := by
  rw [total_flat, sum_mirror]

theorem total_flat_dbl (t : Tree) : total (flat (dbl t)) = 2 * sum t := by
  rw [total_flat, sum_dbl]

theorem sum_le_dbl (t : Tree) : sum t ≤ sum (dbl t) := by
  rw [sum_dbl]
  omega

theorem sum_le_trip (t : Tree) : sum t ≤ sum (trip t) := by
  rw [sum_trip]
  omega

theorem sum_le_inc (t : Tree) : sum t ≤ sum (inc t) := by
  rw [sum_inc]
  omega

theorem size_le_sum_inc (t : Tree) : size t ≤ sum (inc t) := by
  rw [sum_inc]
  omega

end Tree

end Sample
