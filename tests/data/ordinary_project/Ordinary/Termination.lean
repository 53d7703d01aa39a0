/-! Recursion that is not structural, `where`, and `termination_by`. -/

namespace Termination

def log2 (n : Nat) : Nat :=
  if h : n ≤ 1 then 0 else 1 + log2 (n / 2)
  termination_by n
  decreasing_by omega

theorem log2_one : log2 1 = 0 := by
  unfold log2
  simp

theorem log2_double (n : Nat) (h : 0 < n) : log2 (2 * n) = 1 + log2 n := by
  rw [log2]
  split
  · omega
  · rw [Nat.mul_div_cancel_left n (by decide)]

def gcd (a b : Nat) : Nat :=
  if h : b = 0 then a else gcd b (a % b)
  termination_by b
  decreasing_by exact Nat.mod_lt _ (Nat.pos_of_ne_zero h)

theorem gcd_zero (a : Nat) : gcd a 0 = a := by
  rw [gcd]
  simp

theorem gcd_dvd (a b d : Nat) (ha : d ∣ a) (hb : d ∣ b) : d ∣ gcd a b := by
  rw [gcd]
  split
  · exact ha
  · exact gcd_dvd b (a % b) d hb ((Nat.dvd_mod_iff hb).2 ha)
  termination_by b
  decreasing_by exact Nat.mod_lt _ (by omega)

def fast (n : Nat) : Nat := loop n 0 1
where
  loop : Nat → Nat → Nat → Nat
    | 0, a, _ => a
    | n + 1, a, b => loop n b (a + b)

def slow : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => slow n + slow (n + 1)

theorem loop_eq (n k : Nat) : fast.loop n (slow k) (slow (k + 1)) = slow (n + k) := by
  induction n generalizing k with
  | zero => simp [fast.loop]
  | succ n ih =>
    rw [fast.loop]
    have step := ih (k + 1)
    rw [slow] at step
    rw [step]
    congr 1
    omega

theorem fast_eq_slow (n : Nat) : fast n = slow n := by
  have h := loop_eq n 0
  simpa [fast, slow] using h

def merge : List Nat → List Nat → List Nat
  | [], ys => ys
  | xs, [] => xs
  | x :: xs, y :: ys => if x ≤ y then x :: merge xs (y :: ys) else y :: merge (x :: xs) ys

theorem merge_nil (xs : List Nat) : merge xs [] = xs := by
  cases xs <;> simp [merge]

theorem merge_length (xs ys : List Nat) : (merge xs ys).length = xs.length + ys.length := by
  induction xs, ys using merge.induct with
  | case1 ys => simp [merge]
  | case2 xs h => simp [merge_nil]
  | case3 x xs y ys h ih =>
    rw [merge]
    simp only [h, if_true, List.length_cons, ih]
    omega
  | case4 x xs y ys h ih =>
    rw [merge]
    simp only [h, if_false, List.length_cons, ih]
    omega

def collatz (fuel n : Nat) : Option Nat :=
  match fuel with
  | 0 => none
  | fuel + 1 => if n ≤ 1 then some 0 else (collatz fuel (if n % 2 = 0 then n / 2 else 3 * n + 1)).map (· + 1)

theorem collatz_one (fuel : Nat) : collatz (fuel + 1) 1 = some 0 := by
  simp [collatz]

partial def untilZero (f : Nat → Nat) (n : Nat) : Nat :=
  if n = 0 then 0 else 1 + untilZero f (f n)

#guard log2 1000 = 9
#guard gcd 48 18 = 6
#guard fast 20 = slow 20
#guard merge [1, 3] [2, 4] = [1, 2, 3, 4]
#guard untilZero (· / 2) 8 = 4

end Termination
