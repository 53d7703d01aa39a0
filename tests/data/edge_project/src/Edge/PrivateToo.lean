import Edge.Private

namespace Edge

/-- The same name as in another file, and another statement. -/
private theorem hidden (n : Nat) : n + 0 = n := rfl

private def secretNumber : Nat := 2

theorem uses_hidden_too : 1 + 0 = 1 := by
  exact hidden 1

end Edge
