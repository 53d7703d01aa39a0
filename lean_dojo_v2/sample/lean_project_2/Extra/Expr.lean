import Extra.Sort

/-!
# A small compiler

Arithmetic expressions, their value, a machine with a stack, and a proof that the compiled program
computes the value. Exchanging the sides of every operation changes nothing; changing the numerals
changes what depends on them, and nothing else.
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

/-- The expression with one more in place of every numeral. -/
def bump : Expr → Expr
  | num n => num (n + 1)
  | add a b => add (bump a) (bump b)
  | mul a b => mul (bump a) (bump b)

/-- The expression with zero in place of every numeral. -/
def zeroed : Expr → Expr
  | num _ => num 0
  | add a b => add (zeroed a) (zeroed b)
  | mul a b => mul (zeroed a) (zeroed b)

/-- The sum of the numerals. -/
def total : Expr → Nat
  | num n => n
  | add a b => total a + total b
  | mul a b => total a + total b

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
  induction e generalizing k s
  case num n => rfl
  case add a b iha ihb => rw [compile, ihb, iha]; rfl
  case mul a b iha ihb => rw [compile, ihb, iha]; rfl

theorem run_compile_nil (e : Expr) (s : List Nat) : run (compile e []) s = eval e :: s := by
  rw [run_compile]
  rfl

theorem run_compile_two (a b : Expr) (s : List Nat) :
    run (compile a (compile b [])) s = eval b :: eval a :: s := by
  rw [run_compile, run_compile_nil]

theorem swap_swap (e : Expr) : swap (swap e) = e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swap, iha, ihb]
  case mul a b iha ihb => simp [swap, iha, ihb]

theorem size_swap (e : Expr) : size (swap e) = size e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp only [size, swap]; omega
  case mul a b iha ihb => simp only [size, swap]; omega

theorem eval_swap (e : Expr) : eval (swap e) = eval e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp only [eval, swap]; omega
  case mul a b iha ihb => simp [eval, swap, iha, ihb, Nat.mul_comm]

theorem size_pos (e : Expr) : 0 < size e := by
  induction e
  case num n => simp [size]
  case add a b iha ihb => simp only [size]; omega
  case mul a b iha ihb => simp only [size]; omega

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
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swapAdd, iha, ihb]
  case mul a b iha ihb => simp [swapAdd, iha, ihb]

theorem swap_swapAdd (e : Expr) : swap (swapAdd e) = swapAdd (swap e) := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swap, swapAdd, iha, ihb]
  case mul a b iha ihb => simp [swap, swapAdd, iha, ihb]

theorem size_swapAdd (e : Expr) : size (swapAdd e) = size e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp only [size, swapAdd]; omega
  case mul a b iha ihb => simp [size, swapAdd, iha, ihb]

theorem ops_swap (e : Expr) : ops (swap e) = ops e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp only [swap, ops]; omega
  case mul a b iha ihb => simp only [swap, ops]; omega

theorem ops_swapAdd (e : Expr) : ops (swapAdd e) = ops e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp only [ops, swapAdd]; omega
  case mul a b iha ihb => simp [ops, swapAdd, iha, ihb]

theorem eval_swapAdd (e : Expr) : eval (swapAdd e) = eval e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp only [eval, swapAdd]; omega
  case mul a b iha ihb => simp [eval, swapAdd, iha, ihb]

theorem swapMul_swapMul (e : Expr) : swapMul (swapMul e) = e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swapMul, iha, ihb]
  case mul a b iha ihb => simp [swapMul, iha, ihb]

theorem swapMul_swapAdd (e : Expr) : swapMul (swapAdd e) = swap e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swap, swapAdd, swapMul, iha, ihb]
  case mul a b iha ihb => simp [swap, swapAdd, swapMul, iha, ihb]

theorem size_swapMul (e : Expr) : size (swapMul e) = size e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [size, swapMul, iha, ihb]
  case mul a b iha ihb => simp only [size, swapMul]; omega

theorem eval_swapMul (e : Expr) : eval (swapMul e) = eval e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [eval, swapMul, iha, ihb]
  case mul a b iha ihb => simp [eval, swapMul, iha, ihb, Nat.mul_comm]

theorem ops_lt_size (e : Expr) : ops e < size e := by
  induction e
  case num n => simp [size, ops]
  case add a b iha ihb => simp only [size, ops]; omega
  case mul a b iha ihb => simp only [size, ops]; omega

theorem size_eq_ops (e : Expr) : size e = ops e + 1 := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp only [size, ops]; omega
  case mul a b iha ihb => simp only [size, ops]; omega

theorem run_compile_swapAdd (e : Expr) (s : List Nat) :
    run (compile (swapAdd e) []) s = eval e :: s := by
  rw [run_compile_nil, eval_swapAdd]

theorem run_compile_three (a b c : Expr) (s : List Nat) :
    run (compile a (compile b (compile c []))) s = eval c :: eval b :: eval a :: s := by
  sorry

theorem sort_run_compile_swap (e : Expr) : sort (run (compile (swap e) []) []) = [eval e] := by
  rw [run_compile_swap]
  rfl

/-! ## Numerals changed -/

theorem size_bump (e : Expr) : size (bump e) = size e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [bump, size, iha, ihb]
  case mul a b iha ihb => simp [bump, size, iha, ihb]

theorem ops_bump (e : Expr) : ops (bump e) = ops e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [bump, ops, iha, ihb]
  case mul a b iha ihb => simp [bump, ops, iha, ihb]

theorem size_zeroed (e : Expr) : size (zeroed e) = size e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [zeroed, size, iha, ihb]
  case mul a b iha ihb => simp [zeroed, size, iha, ihb]

theorem ops_zeroed (e : Expr) : ops (zeroed e) = ops e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [zeroed, ops, iha, ihb]
  case mul a b iha ihb => simp [zeroed, ops, iha, ihb]

theorem total_swap (e : Expr) : total (swap e) = total e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swap, total, iha, ihb, Nat.add_comm]
  case mul a b iha ihb => simp [swap, total, iha, ihb, Nat.add_comm]

theorem total_swapAdd (e : Expr) : total (swapAdd e) = total e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swapAdd, total, iha, ihb, Nat.add_comm]
  case mul a b iha ihb => simp [swapAdd, total, iha, ihb]

theorem total_swapMul (e : Expr) : total (swapMul e) = total e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swapMul, total, iha, ihb]
  case mul a b iha ihb => simp [swapMul, total, iha, ihb, Nat.add_comm]

theorem ops_swapMul (e : Expr) : ops (swapMul e) = ops e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swapMul, ops, iha, ihb]
  case mul a b iha ihb => simp [swapMul, ops, iha, ihb, Nat.add_comm]

theorem swap_bump (e : Expr) : swap (bump e) = bump (swap e) := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [bump, swap, iha, ihb]
  case mul a b iha ihb => simp [bump, swap, iha, ihb]

theorem swap_zeroed (e : Expr) : swap (zeroed e) = zeroed (swap e) := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [zeroed, swap, iha, ihb]
  case mul a b iha ihb => simp [zeroed, swap, iha, ihb]

theorem swapAdd_bump (e : Expr) : swapAdd (bump e) = bump (swapAdd e) := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [bump, swapAdd, iha, ihb]
  case mul a b iha ihb => simp [bump, swapAdd, iha, ihb]

theorem swapAdd_zeroed (e : Expr) : swapAdd (zeroed e) = zeroed (swapAdd e) := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [zeroed, swapAdd, iha, ihb]
  case mul a b iha ihb => simp [zeroed, swapAdd, iha, ihb]

theorem swapMul_bump (e : Expr) : swapMul (bump e) = bump (swapMul e) := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [bump, swapMul, iha, ihb]
  case mul a b iha ihb => simp [bump, swapMul, iha, ihb]

theorem swapMul_zeroed (e : Expr) : swapMul (zeroed e) = zeroed (swapMul e) := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [zeroed, swapMul, iha, ihb]
  case mul a b iha ihb => simp [zeroed, swapMul, iha, ihb]

theorem swap_swapMul (e : Expr) : swap (swapMul e) = swapMul (swap e) := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swapMul, swap, iha, ihb]
  case mul a b iha ihb => simp [swapMul, swap, iha, ihb]

theorem swapAdd_swapMul (e : Expr) : swapAdd (swapMul e) = swapMul (swapAdd e) := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swapMul, swapAdd, iha, ihb]
  case mul a b iha ihb => simp [swapMul, swapAdd, iha, ihb]

theorem zeroed_zeroed (e : Expr) : zeroed (zeroed e) = zeroed e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [zeroed, iha, ihb]
  case mul a b iha ihb => simp [zeroed, iha, ihb]

theorem zeroed_bump (e : Expr) : zeroed (bump e) = zeroed e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [bump, zeroed, iha, ihb]
  case mul a b iha ihb => simp [bump, zeroed, iha, ihb]

theorem eval_zeroed (e : Expr) : eval (zeroed e) = 0 := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [zeroed, eval, iha, ihb]
  case mul a b iha ihb => simp [zeroed, eval, iha, ihb]

theorem total_zeroed (e : Expr) : total (zeroed e) = 0 := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [zeroed, total, iha, ihb]
  case mul a b iha ihb => simp [zeroed, total, iha, ihb]

theorem total_bump (e : Expr) : total (bump e) = total e + size e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp only [bump, total, size]; omega
  case mul a b iha ihb => simp only [bump, total, size]; omega

theorem swapAdd_swap (e : Expr) : swapAdd (swap e) = swapMul e := by
  induction e
  case num n => rfl
  case add a b iha ihb => simp [swap, swapAdd, swapMul, iha, ihb]
  case mul a b iha ihb => simp [swap, swapAdd, swapMul, iha, ihb]

theorem total_le_total_bump (e : Expr) : total e ≤ total (bump e) := by
  induction e
  case num n => simp [bump, total]
  case add a b iha ihb => simp only [bump, total]; omega
  case mul a b iha ihb => simp only [bump, total]; omega

theorem size_le_total_bump (e : Expr) : size e ≤ total (bump e) := by
  induction e
  case num n => simp [bump, total, size]
  case add a b iha ihb => simp only [bump, total, size]; omega
  case mul a b iha ihb => simp only [bump, total, size]; omega

theorem size_bump_swap (e : Expr) : size (bump (swap e)) = size e := by
  rw [size_bump, size_swap]

theorem ops_zeroed_swap (e : Expr) : ops (zeroed (swap e)) = ops e := by
  rw [ops_zeroed, ops_swap]

theorem total_swap_bump (e : Expr) : total (swap (bump e)) = total (bump e) := by
  rw [total_swap]

theorem size_swap_zeroed (e : Expr) : size (swap (zeroed e)) = size e := by
  rw [size_swap, size_zeroed]

theorem eval_swap_zeroed (e : Expr) : eval (swap (zeroed e)) = 0 := by
  rw [eval_swap, eval_zeroed]

theorem run_compile_zeroed (e : Expr) (s : List Nat) :
    run (compile (zeroed e) []) s = 0 :: s := by
  rw [run_compile_nil, eval_zeroed]

theorem ops_swapMul_swap (e : Expr) : ops (swapMul (swap e)) = ops e := by
  sorry

end Extra
