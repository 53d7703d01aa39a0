/-! Type classes: instances, laws, coercions, outputs. -/

namespace Classes

class Monoid (α : Type) where
  one : α
  mul : α → α → α
  one_mul : ∀ a, mul one a = a
  mul_one : ∀ a, mul a one = a
  assoc : ∀ a b c, mul (mul a b) c = mul a (mul b c)

instance : Monoid Nat where
  one := 1
  mul := Nat.mul
  one_mul := Nat.one_mul
  mul_one := Nat.mul_one
  assoc := Nat.mul_assoc

instance : Monoid (List α) := ⟨[], List.append, List.nil_append, List.append_nil, List.append_assoc⟩

def product [Monoid α] (xs : List α) : α := xs.foldr Monoid.mul Monoid.one

theorem product_append [Monoid α] (xs ys : List α) :
    product (xs ++ ys) = Monoid.mul (product xs) (product ys) := by
  induction xs with
  | nil => exact (Monoid.one_mul _).symm
  | cons x xs ih =>
    show Monoid.mul x (product (xs ++ ys)) = Monoid.mul (Monoid.mul x (product xs)) (product ys)
    rw [ih, Monoid.assoc]

theorem one_unique [Monoid α] (e : α) (h : ∀ a : α, Monoid.mul e a = a) : e = Monoid.one := by
  rw [← Monoid.mul_one e]
  exact h _

class Shape (α : Type) where
  area : α → Nat
  name : String := "shape"

structure Square where
  side : Nat

instance : Shape Square where
  area s := s.side * s.side

theorem area_square (n : Nat) : Shape.area (Square.mk n) = n * n := rfl

theorem name_square : Shape.name Square = "shape" := rfl

structure Pos where
  pred : Nat
  deriving DecidableEq

namespace Pos

protected def add (a b : Pos) : Pos := ⟨a.pred + b.pred + 1⟩

instance : Add Pos := ⟨Pos.add⟩
instance : Coe Pos Nat := ⟨fun p => p.pred + 1⟩
instance (n : Nat) : OfNat Pos (n + 1) := ⟨⟨n⟩⟩
instance : ToString Pos := ⟨fun p => toString (p.pred + 1)⟩

theorem coe_add (a b : Pos) : ((a + b : Pos) : Nat) = (a : Nat) + (b : Nat) := by
  show (a.pred + b.pred + 1) + 1 = _
  omega

theorem add_comm (a b : Pos) : a + b = b + a := by
  show Pos.mk _ = Pos.mk _
  rw [Nat.add_comm a.pred]

theorem two_add_three : (2 + 3 : Pos) = 5 := by
  decide

#guard s!"{(7 : Pos)}" = "7"

end Pos

instance [Monoid α] [Monoid β] : Monoid (α × β) where
  one := (Monoid.one, Monoid.one)
  mul a b := (Monoid.mul a.1 b.1, Monoid.mul a.2 b.2)
  one_mul a := by simp [Monoid.one_mul]
  mul_one a := by simp [Monoid.mul_one]
  assoc a b c := by simp [Monoid.assoc]

#guard product [(2, ["a"]), (3, ["b"])] = (6, ["a", "b"])

end Classes
