module

public import Init.Data.Nat.Basic
import all Init.Data.List.Basic
meta import Init.Meta

public section

namespace Edge

theorem modern (a b : Nat) : a + b = b + a := by
  exact Nat.add_comm a b

end Edge
