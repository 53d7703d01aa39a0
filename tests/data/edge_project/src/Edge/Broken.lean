import Edge.Private

namespace Edge

theorem before_the_error (n : Nat) : n = n := by
  rfl

theorem wrong (n : Nat) : n = n + 1 := by
  intro x
  simp

theorem uses_wrong : 1 = 2 := wrong 1

theorem not_even_lean : := by

theorem after_the_error (a b : Nat) : a + b = b + a := by
  rw [Nat.add_comm]

end Edge
