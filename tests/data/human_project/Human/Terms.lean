/-! Tactics inside terms. -/

namespace Human.Terms

theorem pair (n : Nat) (h : 0 < n) : n ≠ 0 ∧ 0 < n + 1 := ⟨by omega, by simp⟩

theorem nested (n : Nat) (h : 0 < n) : (n ≠ 0 ∧ 0 < n + 1) ∧ n = n ∧ True :=
  ⟨⟨by omega, by
    have h' := h
    omega⟩, by rfl, by trivial⟩

theorem viaFun : ∀ p q : Prop, p → q → p ∧ q := fun p q hp hq => by
  constructor
  · exact hp
  · exact hq

theorem viaFunOneLine : ∀ n m : Nat, n = m → m = n := fun n m h => by rw [h]

theorem showFrom (p q : Prop) (hp : p) (hq : q) : q ∧ p :=
  have h1 : q := hq
  show q ∧ p from by
    constructor
    · exact h1
    · exact hp

theorem showBy (a b : Nat) (h : a = b) : b + 0 = a := by
  show b = a
  exact h.symm

theorem haveTerm (a b c : Nat) (h₁ : a ≤ b) (h₂ : b ≤ c) : a ≤ c + 1 :=
  have h : a ≤ c := by
    exact Nat.le_trans h₁ h₂
  have h' : c ≤ c + 1 := by simp
  Nat.le_trans h h'

theorem sufficesTerm (a b : Nat) (h : a < b) : a ≤ b :=
  suffices h' : a < b from by exact Nat.le_of_lt h'
  by assumption

theorem letTerm (n : Nat) : ∃ m, m > n :=
  let m := n + 1
  ⟨m, by simp [m]⟩

theorem ifTerm (n : Nat) : (if n = 0 then 0 else n) = n :=
  if h : n = 0 then by simp [h] else by simp [h]

theorem ifTermLines (n m : Nat) (hm : 0 < m) : n % m < m :=
  if h : n < m then by
    rw [Nat.mod_eq_of_lt h]
    exact h
  else by
    exact Nat.mod_lt n hm

theorem matchTerm (n : Nat) : n = 0 ∨ 0 < n :=
  match n with
  | 0 => by left; rfl
  | k + 1 => by
    right
    exact Nat.succ_pos k

theorem calcTerm (a b c d : Nat) (h₁ : a = b) (h₂ : b ≤ c) (h₃ : c < d) : a < d :=
  calc
    a = b := by rw [h₁]
    _ ≤ c := by
      exact h₂
    _ < d := by first | omega | exact h₃

theorem structure_eta (p : Nat × Nat) : ∃ q : Nat × Nat, q.1 = p.2 ∧ q.2 = p.1 :=
  ⟨{ fst := p.2, snd := p.1 }, by simp⟩

structure Pos where
  val : Nat
  pos : 0 < val

theorem structureInstance (n : Nat) (h : 0 < n) : ∃ p : Pos, p.val = n + 1 :=
  ⟨{ val := n + 1
     pos := by
      have := h
      omega }, by rfl⟩

theorem whereInstance : Nonempty Pos :=
  ⟨{ val := 2, pos := by decide }⟩

theorem pipe (a b : Nat) (h : a = b) : b = a := Eq.symm <| by
  exact h

theorem dollar (a b : Nat) (h : a = b) : b = a :=
  Eq.symm $ by assumption

theorem arg (f : Nat → Nat) (hf : ∀ n, 0 < n → f n = n) : f 3 = 3 :=
  hf 3 (by decide)

theorem argLines (f : Nat → Nat) (hf : ∀ n, 0 < n → n < 10 → f n = n) : f 3 = 3 :=
  hf 3
    (by decide)
    (by
      decide)

theorem orElim (p q r : Prop) (h : p ∨ q) (hp : p → r) (hq : q → r) : r :=
  h.elim (fun h => by exact hp h) (fun h => by
    apply hq
    exact h)

theorem anonymous (p q r : Prop) (hp : p) (hq : q) (hr : r) : (p ∧ q) ∧ r ∧ p :=
  ⟨⟨by assumption, by
      exact hq⟩, by
    refine ⟨?_, ?_⟩
    · exact hr
    · exact hp⟩

theorem inStatement (a : Array Nat) (i : Nat) (h : i < a.size) :
    (a.push 1)[i]'(by simp; omega) = a[i] := by
  grind

theorem inStatement₂ (n : Nat) (h : 0 < n) : (⟨0, by omega⟩ : Fin n).val = 0 := by
  have h' := h
  rfl

theorem inStatement₃ (xs : List Nat) (h : xs.length = 2) : xs[0]'(by omega) = xs[0]'(by omega) ∧ True := by
  constructor
  · rfl
  · trivial

theorem defaultBinder (n : Nat) (h : n < 10 := by decide) : n < 11 := by
  exact Nat.lt_succ_of_lt h

theorem letStatement (n : Nat) : let m := n + 1; n < m := by
  intro m
  show n < n + 1
  exact Nat.lt_succ_self n

theorem subst (a b c : Nat) (h : a = b) (h' : b = c) : a = c := h ▸ (by exact h')

theorem exists_pair : ∃ p : Nat × Nat, p.1 + p.2 = 5 ∧ p.1 < p.2 := ⟨(2, 3), by decide, by decide⟩

end Human.Terms
