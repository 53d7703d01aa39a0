/-!
# Peano arithmetic

The natural numbers once more, from nothing: addition and multiplication by recursion, and the laws
of a commutative semiring by induction.
-/

namespace Extra

/-- The natural numbers. -/
inductive N where
  | zero : N
  | succ : N → N

namespace N

/-- Addition, by recursion on the second argument. -/
def add : N → N → N
  | a, zero => a
  | a, succ b => succ (add a b)

/-- Multiplication, by recursion on the second argument. -/
def mul : N → N → N
  | _, zero => zero
  | a, succ b => add (mul a b) a

/-- Twice a number. -/
def dbl : N → N
  | zero => zero
  | succ a => succ (succ (dbl a))

/-- A power, by recursion on the exponent. -/
def pow : N → N → N
  | _, zero => succ zero
  | a, succ b => mul (pow a b) a

theorem add_zero (a : N) : add a zero = a := rfl

theorem add_succ (a b : N) : add a (succ b) = succ (add a b) := rfl

theorem mul_zero (a : N) : mul a zero = zero := rfl

theorem mul_succ (a b : N) : mul a (succ b) = add (mul a b) a := rfl

theorem zero_add (a : N) : add zero a = a := by
  induction a
  case zero => rfl
  case succ a ih => simp [add, ih]

theorem succ_add (a b : N) : add (succ a) b = succ (add a b) := by
  induction b
  case zero => rfl
  case succ b ih => simp [add, ih]

theorem add_comm (a b : N) : add a b = add b a := by
  induction b
  case zero => rw [add_zero, zero_add]
  case succ b ih => rw [add_succ, ih, succ_add]

theorem add_assoc (a b c : N) : add (add a b) c = add a (add b c) := by
  induction c
  case zero => rfl
  case succ c ih => simp [add, ih]

theorem add_left_comm (a b c : N) : add a (add b c) = add b (add a c) := by
  rw [← add_assoc, add_comm a b, add_assoc]

theorem add_right_comm (a b c : N) : add (add a b) c = add (add a c) b := by
  rw [add_assoc, add_comm b c, ← add_assoc]

theorem add_add_add_comm (a b c d : N) :
    add (add a b) (add c d) = add (add a c) (add b d) := by
  rw [add_assoc, add_left_comm b c d, ← add_assoc]

theorem add_cancel_right {a b c : N} (h : add a c = add b c) : a = b := by
  induction c
  case zero => exact h
  case succ c ih => simp_all [add]

theorem add_cancel_left {a b c : N} (h : add c a = add c b) : a = b := by
  rw [add_comm c a, add_comm c b] at h
  exact add_cancel_right h

theorem add_eq_zero {a b : N} (h : add a b = zero) : a = zero ∧ b = zero := by
  cases b with
  | zero =>
    constructor
    · exact h
    · rfl
  | succ b =>
    rw [add_succ] at h
    contradiction

theorem zero_mul (a : N) : mul zero a = zero := by
  induction a
  case zero => rfl
  case succ a ih => rw [mul_succ, ih, add_zero]

theorem succ_mul (a b : N) : mul (succ a) b = add (mul a b) b := by
  induction b
  case zero => rfl
  case succ b ih => rw [mul_succ, ih, mul_succ, add_succ, add_succ]; rw [add_right_comm]

theorem mul_comm (a b : N) : mul a b = mul b a := by
  induction b
  case zero => rw [mul_zero, zero_mul]
  case succ b ih => rw [mul_succ, ih, succ_mul]

theorem mul_add (a b c : N) : mul a (add b c) = add (mul a b) (mul a c) := by
  induction c
  case zero => rfl
  case succ c ih => simp [add, mul, ih, add_assoc]

theorem add_mul (a b c : N) : mul (add a b) c = add (mul a c) (mul b c) := by
  rw [mul_comm, mul_add, mul_comm c a, mul_comm c b]

theorem mul_assoc (a b c : N) : mul (mul a b) c = mul a (mul b c) := by
  induction c
  case zero => rfl
  case succ c ih => simp [mul, ih, mul_add]

theorem mul_left_comm (a b c : N) : mul a (mul b c) = mul b (mul a c) := by
  rw [← mul_assoc, mul_comm a b, mul_assoc]

theorem mul_right_comm (a b c : N) : mul (mul a b) c = mul (mul a c) b := sorry

theorem mul_one (a : N) : mul a (succ zero) = a := by
  rw [mul_succ, mul_zero, zero_add]

theorem one_mul (a : N) : mul (succ zero) a = a := by
  rw [mul_comm, mul_one]

theorem mul_two (a : N) : mul a (succ (succ zero)) = add a a := by
  rw [mul_succ, mul_one]

theorem square_add (a b : N) :
    mul (add a b) (add a b) =
      add (add (mul a a) (mul a b)) (add (mul b a) (mul b b)) := by
  rw [mul_add, add_mul, add_mul]
  exact add_add_add_comm (mul a a) (mul b a) (mul a b) (mul b b)

theorem one_add (a : N) : add (succ zero) a = succ a := by
  induction a
  case zero => rfl
  case succ a ih => simp [add, ih]

theorem add_rotate (a b c : N) : add a (add b c) = add b (add c a) := by
  rw [add_comm, add_assoc]

theorem add_reverse (a b c : N) : add a (add b c) = add c (add b a) := by
  rw [add_comm, add_comm b c, add_assoc]

theorem mul_rotate (a b c : N) : mul a (mul b c) = mul b (mul c a) := by
  rw [mul_comm, mul_assoc]

theorem mul_reverse (a b c : N) : mul a (mul b c) = mul c (mul b a) := by
  rw [mul_comm, mul_comm b c, mul_assoc]

theorem mul_mul_mul_comm (a b c d : N) :
    mul (mul a b) (mul c d) = mul (mul a c) (mul b d) := by
  rw [mul_assoc, mul_left_comm b c d, ← mul_assoc]

theorem two_mul (a : N) : mul (succ (succ zero)) a = add a a := by
  sorry

/-! ## Twice and powers -/

theorem dbl_eq (a : N) : dbl a = add a a := by
  induction a
  case zero => rfl
  case succ a ih => simp [add, dbl, ih, add_comm]

theorem dbl_add (a b : N) : dbl (add a b) = add (dbl a) (dbl b) := by
  induction b
  case zero => rfl
  case succ b ih => simp [add, dbl, ih]

theorem mul_dbl (a b : N) : mul a (dbl b) = dbl (mul a b) := by
  induction b
  case zero => rfl
  case succ b ih => rw [dbl, mul_succ, mul_succ, ih, mul_succ, dbl_add, dbl_eq a, add_assoc]

theorem dbl_mul (a b : N) : mul (dbl a) b = dbl (mul a b) := by
  induction b
  case zero => rfl
  case succ b ih => rw [mul_succ, ih, mul_succ, dbl_add]

theorem one_pow (a : N) : pow (succ zero) a = succ zero := by
  induction a
  case zero => rfl
  case succ a ih => rw [pow, ih, mul_one]

theorem pow_add (a b c : N) : pow a (add b c) = mul (pow a b) (pow a c) := by
  induction c
  case zero => rw [add_zero, pow, mul_one]
  case succ c ih => simp [add, pow, ih, mul_assoc]

theorem mul_pow (a b c : N) : pow (mul a b) c = mul (pow a c) (pow b c) := by
  induction c
  case zero => rfl
  case succ c ih => rw [pow, ih, pow, pow, mul_mul_mul_comm]

theorem pow_mul (a b c : N) : pow a (mul b c) = pow (pow a b) c := by
  induction c
  case zero => rfl
  case succ c ih => rw [mul_succ, pow_add, ih, pow]

end N

end Extra
