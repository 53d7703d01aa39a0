/-! Mutual and nested recursion. -/

namespace Mutual

mutual
  def isEven : Nat → Bool
    | 0 => true
    | n + 1 => isOdd n
  def isOdd : Nat → Bool
    | 0 => false
    | n + 1 => isEven n
end

theorem isEven_double (n : Nat) : isEven (2 * n) = true := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show isEven (2 * n + 2) = true
    simpa [isEven, isOdd] using ih

mutual
  theorem even_spec : (n : Nat) → isEven n = decide (n % 2 = 0)
    | 0 => by rfl
    | n + 1 => by
      rw [isEven, odd_spec n]
      rw [decide_eq_decide]
      omega
  theorem odd_spec : (n : Nat) → isOdd n = decide (n % 2 = 1)
    | 0 => by rfl
    | n + 1 => by
      rw [isOdd, even_spec n]
      rw [decide_eq_decide]
      omega
end

mutual
  inductive Forest where
    | empty
    | plant (t : Timber) (rest : Forest)
  inductive Timber where
    | stem (branches : Forest)
end

mutual
  def Forest.count : Forest → Nat
    | .empty => 0
    | .plant t rest => t.count + rest.count
  def Timber.count : Timber → Nat
    | .stem branches => branches.count + 1
end

theorem Timber.count_pos (t : Timber) : 0 < t.count := by
  cases t
  simp [Timber.count]

inductive Json where
  | null
  | num (n : Int)
  | arr (items : List Json)

def Json.depth : Json → Nat
  | null => 0
  | num _ => 0
  | arr items => 1 + (items.attach.map fun ⟨item, _⟩ => item.depth).foldr max 0

theorem Json.depth_null : Json.null.depth = 0 := by
  simp [Json.depth]

theorem Json.depth_arr_pos (items : List Json) : 0 < (Json.arr items).depth := by
  rw [Json.depth]
  omega

#guard isEven 10 && isOdd 7
#guard (Json.arr [.num 1, .arr [.null]]).depth = 2

end Mutual
