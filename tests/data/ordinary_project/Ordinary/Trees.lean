/-! Binary trees, expressions and trees that are nested in lists. -/

namespace Trees

inductive Tree (α : Type) where
  | leaf
  | node (left : Tree α) (value : α) (right : Tree α)
  deriving Repr, BEq, DecidableEq

namespace Tree

def size : Tree α → Nat
  | leaf => 0
  | node l _ r => l.size + 1 + r.size

def mirror : Tree α → Tree α
  | leaf => leaf
  | node l x r => node r.mirror x l.mirror

def toList : Tree α → List α
  | leaf => []
  | node l x r => l.toList ++ [x] ++ r.toList

theorem mirror_mirror (t : Tree α) : t.mirror.mirror = t := by
  induction t with
  | leaf => rfl
  | node l x r hl hr => rw [mirror, mirror, hl, hr]

theorem size_mirror (t : Tree α) : t.mirror.size = t.size := by
  induction t with
  | leaf => rfl
  | node l x r hl hr =>
    simp only [mirror, size, hl, hr]
    omega

theorem length_toList (t : Tree α) : t.toList.length = t.size := by
  induction t with
  | leaf => rfl
  | node l x r hl hr =>
    simp [toList, size, hl, hr]
    omega

theorem toList_mirror (t : Tree α) : t.mirror.toList = t.toList.reverse := by
  induction t with
  | leaf => rfl
  | node l x r hl hr =>
    simp [mirror, toList, hl, hr]

def insert [Ord α] (t : Tree α) (x : α) : Tree α :=
  match t with
  | leaf => node leaf x leaf
  | node l y r =>
    match compare x y with
    | .lt => node (l.insert x) y r
    | .gt => node l y (r.insert x)
    | .eq => node l y r

theorem size_insert [Ord α] (t : Tree α) (x : α) : (t.insert x).size ≤ t.size + 1 := by
  induction t with
  | leaf => simp [insert, size]
  | node l y r hl hr =>
    rw [insert]
    split
    · simp only [size]
      omega
    · simp only [size]
      omega
    · exact Nat.le_succ _

def fromList [Ord α] (xs : List α) : Tree α := xs.foldl insert leaf

#guard (fromList [2, 3, 1]).toList = [1, 2, 3]
#guard fromList [1, 2] != leaf

end Tree

inductive Expr where
  | num (n : Nat)
  | add (a b : Expr)
  | mul (a b : Expr)
  deriving Repr, Inhabited

namespace Expr

def eval : Expr → Nat
  | num n => n
  | add a b => a.eval + b.eval
  | mul a b => a.eval * b.eval

def folded : Expr → Expr
  | add a b =>
    match a.folded, b.folded with
    | num n, num m => num (n + m)
    | a, b => add a b
  | mul a b => mul a.folded b.folded
  | num n => num n

theorem eval_folded (e : Expr) : e.folded.eval = e.eval := by
  induction e with
  | num n => rfl
  | add a b ha hb =>
    simp only [folded, eval, ← ha, ← hb]
    split
    · next h₁ h₂ => simp [h₁, h₂, eval]
    · rfl
  | mul a b ha hb => simp [folded, eval, ha, hb]

end Expr

inductive Rose where
  | branch (children : List Rose)
  deriving Repr

def Rose.count : Rose → Nat
  | branch children => 1 + (children.map count).sum

theorem Rose.count_pos : (t : Rose) → 0 < t.count
  | branch children => by
    rw [count]
    omega

#guard (Rose.branch [.branch [], .branch []]).count = 3

end Trees
