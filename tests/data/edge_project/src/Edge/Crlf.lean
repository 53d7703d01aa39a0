import Edge.Basic

namespace Edge

/-- A file with Windows line ends. -/
theorem windows (p q : Prop) (hp : p) (hq : q) :
    p ∧ q := by
  constructor
  · exact hp
  · exact hq

theorem windows_double (n : Nat) : double n = n + n := by
  rw [«a weird name!»]

end Edge
