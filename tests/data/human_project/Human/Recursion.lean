/-! Theorems that use themselves, each other, and helpers of their own. -/

namespace Human.Recursion

def double : Nat → Nat
  | 0 => 0
  | n + 1 => double n + 2

theorem double_eq : ∀ n : Nat, double n = n + n
  | 0 => by rfl
  | n + 1 => by
    rw [double]
    rw [double_eq n]
    omega

theorem double_eq' (n : Nat) : double n = 2 * n := by
  match n with
  | 0 => rfl
  | k + 1 =>
    have ih := double_eq' k
    simp only [double]
    omega

theorem rec_thm (n : Nat) : n * 0 = 0 := by
  match n with
  | 0 => rfl
  | k+1 =>
    have := rec_thm k
    simp
termination_by n
decreasing_by omega

theorem append_nil' {α : Type u} : (xs : List α) → xs ++ [] = xs
  | [] => rfl
  | x :: xs => by
    simp only [List.cons_append]
    exact congrArg (x :: ·) (append_nil' xs)

mutual
theorem ev (n : Nat) : n < n + 1 := by
  cases n with
  | zero => decide
  | succ m => exact Nat.succ_lt_succ (od m)
theorem od (n : Nat) : n < n + 1 := by
  cases n with
  | zero => decide
  | succ m =>
    have h := ev m
    exact Nat.succ_lt_succ h
end

theorem outer (a b : Nat) (h : a = b) : b = a := by
  exact helper h
where
  helper {x y : Nat} (h : x = y) : y = x := by
    subst h
    rfl

theorem outer₂ (a b c : Nat) (h : a ≤ b) (h' : b ≤ c) : a ≤ c := by
  have h₁ := first h
  exact second h₁ h'
where
  first {x y : Nat} (h : x ≤ y) : x ≤ y := h
  second {x y z : Nat} (h : x ≤ y) (h' : y ≤ z) : x ≤ z := by
    calc x ≤ y := h
      _ ≤ z := by exact h'

theorem withLetRec (n : Nat) : True := by
  let rec aux : (k : Nat) → True := by
    intro k
    trivial
  exact aux n

inductive Tree (α : Type u) where
  | leaf : Tree α
  | node : Tree α → α → Tree α → Tree α

namespace Tree

def size {α : Type u} : Tree α → Nat
  | leaf => 0
  | node l _ r => l.size + 1 + r.size

def mirror {α : Type u} : Tree α → Tree α
  | leaf => leaf
  | node l x r => node r.mirror x l.mirror

theorem mirror_mirror {α : Type u} (t : Tree α) : t.mirror.mirror = t := by
  induction t with
  | leaf => rfl
  | node l x r ihl ihr =>
    simp only [mirror]
    rw [ihl, ihr]

theorem size_mirror {α : Type u} : (t : Tree α) → t.mirror.size = t.size
  | leaf => by rfl
  | node l x r => by
    simp only [mirror, size]
    rw [size_mirror l, size_mirror r]
    omega

theorem size_pos {α : Type u} (l r : Tree α) (x : α) : 0 < (node l x r).size := by
  unfold size
  omega

end Tree

theorem strong (n : Nat) (P : Nat → Prop) (h : ∀ n, (∀ m, m < n → P m) → P n) : P n := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    apply h
    intro m hm
    exact ih m hm

def ack : Nat → Nat → Nat
  | 0, n => n + 1
  | m + 1, 0 => ack m 1
  | m + 1, n + 1 => ack m (ack (m + 1) n)
termination_by m n => (m, n)

theorem ack_pos (m n : Nat) : 0 < ack m n := by
  fun_induction ack m n with
  | case1 n => exact Nat.succ_pos n
  | case2 m ih =>
    have h := ih
    exact h
  | case3 m n ih₁ ih₂ =>
    exact ih₂

end Human.Recursion
