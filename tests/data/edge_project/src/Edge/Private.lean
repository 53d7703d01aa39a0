import Edge.Basic

namespace Edge

private theorem hidden (n : Nat) : n = n := rfl

private def secretNumber : Nat := 1

theorem uses_hidden : (1 : Nat) = 1 := by
  exact hidden 1

end Edge
