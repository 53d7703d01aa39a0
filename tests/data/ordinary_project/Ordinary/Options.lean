/-! Options and results: partial functions made total. -/

namespace Options

def head? : List α → Option α
  | [] => none
  | x :: _ => some x

theorem head?_none {xs : List α} (h : head? xs = none) : xs = [] := by
  cases xs with
  | nil => rfl
  | cons x xs => simp [head?] at h

def before (n : Nat) : Option Nat :=
  match n with
  | 0 => none
  | n + 1 => some n

theorem before_some (h : before n = some m) : n = m + 1 := by
  unfold before at h
  split at h
  · contradiction
  · cases h
    rfl

def twiceBefore (n : Nat) : Option Nat := do
  let m ← before n
  before m

theorem twiceBefore_two (n : Nat) : twiceBefore (n + 2) = some n := rfl

theorem twiceBefore_isSome (n : Nat) : (twiceBefore n).isSome = decide (2 ≤ n) := by
  match n with
  | 0 => rfl
  | 1 => rfl
  | n + 2 => simp [twiceBefore, before]

def divide (n m : Nat) : Except String Nat :=
  if m = 0 then throw "division by zero" else pure (n / m)

theorem divide_ok (n : Nat) (h : m ≠ 0) : divide n m = .ok (n / m) := by
  simp [divide, h, pure, Except.pure]

theorem divide_zero (n : Nat) : divide n 0 = .error "division by zero" := by
  rfl

def orElse (a b : Option α) : Option α :=
  match a with
  | some x => some x
  | none => b

theorem orElse_assoc (a b c : Option α) : orElse (orElse a b) c = orElse a (orElse b c) := by
  cases a <;> rfl

#guard twiceBefore 1 = none
#guard (divide 7 2).toOption = some 3

end Options
