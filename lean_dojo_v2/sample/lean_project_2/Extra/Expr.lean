import Extra.Sort

/-!
# A small compiler

Arithmetic expressions, their value, a machine with a stack, and a proof that the compiled program
computes the value. Exchanging the sides of every operation changes nothing.
-/

namespace Extra

/-- Arithmetic expressions. -/
inductive Expr where
  | num : Nat → Expr
  | add : Expr → Expr → Expr
  | mul : Expr → Expr → Expr

/-- The instructions of the machine. -/
inductive Instr where
  | push : Nat → Instr
  | plus : Instr
  | times : Instr

namespace Expr

/-- The value of an expression. -/
def eval : Expr → Nat
  | num n => n
  | add a b => eval a + eval b
  | mul a b => eval a * eval b

/-- The number of numerals. -/
def size : Expr → Nat
  | num _ => 1
  | add a b => size a + size b
  | mul a b => size a + size b

/-- The expression with the sides of every operation exchanged. -/
def swap : Expr → Expr
  | num n => num n
  | add a b => add (swap b) (swap a)
  | mul a b => mul (swap b) (swap a)

/-- The number of operations. -/
def ops : Expr → Nat
  | num _ => 0
  | add a b => ops a + ops b + 1
  | mul a b => ops a + ops b + 1

/-- The expression with the sides of every addition exchanged. -/
def swapAdd : Expr → Expr
  | num n => num n
  | add a b => add (swapAdd b) (swapAdd a)
  | mul a b => mul (swapAdd a) (swapAdd b)

/-- The expression with the sides of every multiplication exchanged. -/
def swapMul : Expr → Expr
  | num n => num n
  | add a b => add (swapMul a) (swapMul b)
  | mul a b => mul (swapMul b) (swapMul a)

/-- The program that puts the value on the stack and goes on with the program `k`. -/
def compile : Expr → List Instr → List Instr
  | num n, k => Instr.push n :: k
  | add a b, k => compile b (compile a (Instr.plus :: k))
  | mul a b, k => compile b (compile a (Instr.times :: k))

end Expr

open Expr

/-- One step of the machine. -/
def exec : Instr → List Nat → List Nat
  | Instr.push n, s => n :: s
  | Instr.plus, a :: b :: s => (a + b) :: s
  | Instr.times, a :: b :: s => (a * b) :: s
  | _, s => s

/-- A run of the machine. -/
def run : List Instr → List Nat → List Nat
  | [], s => s
  | i :: is, s => run is (exec i s)

theorem run_compile (e : Expr) (k : List Instr) (s : List Nat) :
    run (compile e k) s = run k (eval e :: s) := by
  induction e generalizing k s with
  | num n => rfl
  | add a b iha ihb =>
    rw [compile, ihb, iha]
    rfl
  | mul a b iha ihb =>
    rw [compile, ihb, iha]
    rfl

theorem run_compile_nil (e : Expr) (s : List Nat) : run (compile e []) s = eval e :: s := by
  rw [run_compile]
  rfl

theorem run_compile_two (a b : Expr) (s : List Nat) :
    run (compile a (compile b [])) s = eval b :: eval a :: s := by
  rw [run_compile, run_compile_nil]

theorem swap_swap (e : Expr) : swap (swap e) = e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => simp [swap, iha, ihb]
  | mul a b iha ihb => simp [swap, iha, ihb]

theorem size_swap (e : Expr) : size (swap e) = size e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => simp only [swap, size, iha, ihb, Nat.add_comm]
  | mul a b iha ihb => simp only [swap, size, iha, ihb, Nat.add_comm]

theorem eval_swap (e : Expr) : eval (swap e) = eval e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => rw [swap, eval, iha, ihb, Nat.add_comm, eval]
  | mul a b iha ihb => rw [swap, eval, iha, ihb, Nat.mul_comm, eval]

theorem size_pos (e : Expr) : 0 < size e := by
  induction e with
  | num n => exact Nat.one_pos
  | add a b iha ihb =>
    rw [size]
    omega
  | mul a b iha ihb =>
    rw [size]
    omega

theorem run_compile_swap (e : Expr) (s : List Nat) :
    run (compile (swap e) []) s = eval e :: s := by
  rw [run_compile_nil, eval_swap]

theorem length_run_compile (e : Expr) (s : List Nat) :
    (run (compile e []) s).length = s.length + 1 := by
  sorry

theorem sort_run_compile (e : Expr) : sort (run (compile e []) []) = [eval e] := by
  rw [run_compile_nil]
  rfl

theorem swapAdd_swapAdd (e : Expr) : swapAdd (swapAdd e) = e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => simp [swapAdd, iha, ihb]
  | mul a b iha ihb => simp [swapAdd, iha, ihb]

theorem swap_swapAdd (e : Expr) : swap (swapAdd e) = swapAdd (swap e) := by
  induction e with
  | num n => rfl
  | add a b iha ihb => simp [swapAdd, swap, iha, ihb]
  | mul a b iha ihb => simp [swapAdd, swap, iha, ihb]

theorem size_swapAdd (e : Expr) : size (swapAdd e) = size e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => simp only [swapAdd, size, iha, ihb, Nat.add_comm]
  | mul a b iha ihb => simp only [swapAdd, size, iha, ihb]

theorem ops_swap (e : Expr) : ops (swap e) = ops e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => simp only [swap, ops, iha, ihb, Nat.add_comm]
  | mul a b iha ihb => simp only [swap, ops, iha, ihb, Nat.add_comm]

theorem ops_swapAdd (e : Expr) : ops (swapAdd e) = ops e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => simp only [swapAdd, ops, iha, ihb, Nat.add_comm]
  | mul a b iha ihb => simp only [swapAdd, ops, iha, ihb]

theorem eval_swapAdd (e : Expr) : eval (swapAdd e) = eval e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => rw [swapAdd, eval, iha, ihb, Nat.add_comm, eval]
  | mul a b iha ihb => rw [swapAdd, eval, iha, ihb, eval]

theorem swapMul_swapMul (e : Expr) : swapMul (swapMul e) = e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => simp [swapMul, iha, ihb]
  | mul a b iha ihb => simp [swapMul, iha, ihb]

theorem swapMul_swapAdd (e : Expr) : swapMul (swapAdd e) = swap e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => simp [swapAdd, swapMul, swap, iha, ihb]
  | mul a b iha ihb => simp [swapAdd, swapMul, swap, iha, ihb]

theorem size_swapMul (e : Expr) : size (swapMul e) = size e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => simp only [swapMul, size, iha, ihb]
  | mul a b iha ihb => simp only [swapMul, size, iha, ihb, Nat.add_comm]

theorem eval_swapMul (e : Expr) : eval (swapMul e) = eval e := by
  induction e with
  | num n => rfl
  | add a b iha ihb => rw [swapMul, eval, iha, ihb, eval]
  | mul a b iha ihb => rw [swapMul, eval, iha, ihb, Nat.mul_comm, eval]

theorem ops_lt_size (e : Expr) : ops e < size e := by
  induction e with
  | num n => exact Nat.one_pos
  | add a b iha ihb =>
    rw [ops, size]
    omega
  | mul a b iha ihb =>
    rw [ops, size]
    omega

theorem size_eq_ops (e : Expr) : size e = ops e + 1 := by
  induction e with
  | num n => rfl
  | add a b iha ihb =>
    rw [size, ops]
    omega
  | mul a b iha ihb =>
    rw [size, ops]
    omega

theorem run_compile_swapAdd (e : Expr) (s : List Nat) :
    run (compile (swapAdd e) []) s = eval e :: s := by
  rw [run_compile_nil, eval_swapAdd]

theorem run_compile_three (a b c : Expr) (s : List Nat) :
    run (compile a (compile b (compile c []))) s = eval c :: eval b :: eval a :: s := by
  sorry

theorem sort_run_compile_swap (e : Expr) : sort (run (compile (swap e) []) []) = [eval e] := by
  rw [run_compile_swap]
  rfl

end Extra
