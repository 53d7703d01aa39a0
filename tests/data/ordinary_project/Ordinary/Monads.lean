/-! Monads: state, writing, readers, transformers, laws. -/

namespace Monads

def Counter (α : Type) : Type := Nat → α × Nat

instance : Monad Counter where
  pure x := fun n => (x, n)
  bind a f := fun n => let (x, m) := a n; f x m

def tick : Counter Nat := fun n => (n, n + 1)

def threeTicks : Counter (List Nat) := do
  let a ← tick
  let b ← tick
  let c ← tick
  return [a, b, c]

theorem threeTicks_from (n : Nat) : threeTicks n = ([n, n + 1, n + 2], n + 3) := by
  rfl

theorem counter_pure_bind (x : α) (f : α → Counter β) : (pure x >>= f) = f x := by
  rfl

def numbered (xs : List α) : List (Nat × α) :=
  (go xs).run' 0
where
  go : List α → StateM Nat (List (Nat × α))
    | [] => pure []
    | x :: xs => do
      let n ← get
      set (n + 1)
      let rest ← go xs
      return (n, x) :: rest

theorem numbered_nil : numbered ([] : List α) = [] := by
  rfl

theorem numbered_two (x y : α) : numbered [x, y] = [(0, x), (1, y)] := by
  rfl

structure Log (α : Type) where
  lines : List String
  value : α

namespace Log

protected def pure (x : α) : Log α := ⟨[], x⟩

protected def bind (a : Log α) (f : α → Log β) : Log β :=
  let b := f a.value
  ⟨a.lines ++ b.lines, b.value⟩

theorem bind_assoc (a : Log α) (f : α → Log β) (g : β → Log γ) :
    (a.bind f).bind g = a.bind fun x => (f x).bind g := by
  simp [Log.bind]

theorem bind_pure (a : Log α) : a.bind Log.pure = a := by
  cases a
  simp [Log.bind, Log.pure]

end Log

def evenOnly (xs : List Nat) : ExceptT String (StateM Nat) Unit := do
  for x in xs do
    if x % 2 = 1 then throw s!"{x} is odd"
    modify (· + x)

#guard ((evenOnly [2, 4]).run.run 0).2 = 6
#guard ((evenOnly [2, 3, 4]).run.run 0).2 = 2

def firstSquareOver (limit : Nat) : Nat := Id.run do
  let mut n := 0
  while n * n ≤ limit do
    n := n + 1
  return n

#guard firstSquareOver 30 = 6

theorem option_bind_none (a : Option α) : (a.bind fun _ => (none : Option β)) = none := by
  cases a with
  | none => rfl
  | some x => rfl

def readTwice : ReaderM Nat Nat := do
  let a ← read
  let b ← read
  return a + b

theorem readTwice_run (n : Nat) : readTwice.run n = n + n := by
  rfl

end Monads
