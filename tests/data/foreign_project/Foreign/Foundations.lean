/-! Exercises of a textbook, chapter by chapter: own inductive types, functions on them, relations, a small language. -/

namespace Foreign.Foundations

/-! ## Basics -/

inductive Day where
  | monday | tuesday | wednesday | thursday | friday | saturday | sunday
  deriving Repr

open Day

def nextWeekday (d : Day) : Day :=
  match d with
  | monday => tuesday
  | tuesday => wednesday
  | wednesday => thursday
  | thursday => friday
  | _ => monday

#eval nextWeekday friday

theorem test_next : nextWeekday (nextWeekday saturday) = tuesday := by rfl

example : nextWeekday sunday = monday := by rfl

theorem plus_O_n : ∀ n : Nat, 0 + n = n := by
  intro n
  simp

theorem plus_id : ∀ n m o : Nat, n = m → m = o → n + m = m + o := by
  intro n m o h₁ h₂
  rw [h₁, h₂]

def negb : Bool → Bool
  | true => false
  | false => true

theorem negb_involutive : ∀ b, negb (negb b) = b := by
  intro b
  cases b <;> rfl

inductive Bin where
  | z
  | b0 (n : Bin)
  | b1 (n : Bin)

def Bin.incr : Bin → Bin
  | z => b1 z
  | b0 n => b1 n
  | b1 n => b0 n.incr

def Bin.toNat : Bin → Nat
  | z => 0
  | b0 n => 2 * n.toNat
  | b1 n => 2 * n.toNat + 1

theorem toNat_incr (b : Bin) : b.incr.toNat = b.toNat + 1 := by
  induction b with
  | z => rfl
  | b0 n _ => rfl
  | b1 n ih =>
    simp only [Bin.incr, Bin.toNat]
    rw [ih]
    omega

/-! ## Lists -/

inductive NatList where
  | nil
  | cons (n : Nat) (l : NatList)

namespace NatList

infixr:67 " :: " => cons
notation "[]ₙ" => nil

def app : NatList → NatList → NatList
  | []ₙ, l => l
  | n :: l₁, l₂ => n :: app l₁ l₂

infixr:65 " ++ " => app

def length : NatList → Nat
  | []ₙ => 0
  | _ :: l => length l + 1

theorem app_assoc (l₁ l₂ l₃ : NatList) : (l₁ ++ l₂) ++ l₃ = l₁ ++ (l₂ ++ l₃) := by
  induction l₁ with
  | nil => rfl
  | cons n l ih =>
    simp [app]
    exact ih

theorem app_length : ∀ l₁ l₂ : NatList, length (l₁ ++ l₂) = length l₁ + length l₂ := by
  intro l₁ l₂
  induction l₁ with
  | nil => simp [app, length]
  | cons n l ih =>
    simp only [app, length]
    rw [ih, Nat.add_right_comm]

end NatList

/-! ## Logic and relations -/

theorem excluded_middle_irrefutable (P : Prop) : ¬¬(P ∨ ¬P) := by
  intro h
  apply h
  right
  intro p
  apply h
  left
  exact p

theorem dist_exists_or {X : Type} (P Q : X → Prop) :
    (∃ x, P x ∨ Q x) ↔ (∃ x, P x) ∨ (∃ x, Q x) := by
  constructor
  · intro ⟨x, h⟩
    cases h with
    | inl p => exact Or.inl ⟨x, p⟩
    | inr q => exact Or.inr ⟨x, q⟩
  · intro h
    rcases h with ⟨x, p⟩ | ⟨x, q⟩
    · exact ⟨x, Or.inl p⟩
    · exact ⟨x, Or.inr q⟩

inductive Ev : Nat → Prop where
  | zero : Ev 0
  | step (n : Nat) (h : Ev n) : Ev (n + 2)

theorem ev_four : Ev 4 := by
  apply Ev.step
  apply Ev.step
  exact Ev.zero

theorem ev_double (n : Nat) : Ev (n + n) := by
  induction n with
  | zero => exact Ev.zero
  | succ n ih =>
    rw [show n + 1 + (n + 1) = n + n + 2 by omega]
    exact Ev.step _ ih

theorem ev_minus_two (n : Nat) (h : Ev (n + 2)) : Ev n := by
  cases h with
  | step _ h => exact h

theorem one_not_even : ¬Ev 1 := by
  intro h
  cases h

theorem ev_sum {n m : Nat} (hn : Ev n) (hm : Ev m) : Ev (n + m) := by
  induction hn with
  | zero => simpa using hm
  | step k _ ih =>
    have : k + 2 + m = k + m + 2 := by omega
    rw [this]
    exact Ev.step _ ih

/-! ## A small language -/

inductive AExp where
  | num (n : Nat)
  | plus (a₁ a₂ : AExp)
  | mult (a₁ a₂ : AExp)

open AExp

def aeval : AExp → Nat
  | num n => n
  | plus a₁ a₂ => aeval a₁ + aeval a₂
  | mult a₁ a₂ => aeval a₁ * aeval a₂

def optimize : AExp → AExp
  | num n => num n
  | plus (num 0) a => optimize a
  | plus a₁ a₂ => plus (optimize a₁) (optimize a₂)
  | mult a₁ a₂ => mult (optimize a₁) (optimize a₂)

theorem optimize_sound (a : AExp) : aeval (optimize a) = aeval a := by
  fun_induction optimize a <;> simp_all [aeval]

inductive Evaluates : AExp → Nat → Prop where
  | num (n : Nat) : Evaluates (num n) n
  | plus {a₁ a₂ n₁ n₂} (h₁ : Evaluates a₁ n₁) (h₂ : Evaluates a₂ n₂) : Evaluates (plus a₁ a₂) (n₁ + n₂)
  | mult {a₁ a₂ n₁ n₂} (h₁ : Evaluates a₁ n₁) (h₂ : Evaluates a₂ n₂) : Evaluates (mult a₁ a₂) (n₁ * n₂)

notation:50 a " ⇓ " n => Evaluates a n

theorem evaluates_iff (a : AExp) (n : Nat) : (a ⇓ n) ↔ aeval a = n := by
  constructor
  · intro h
    induction h with
    | num => rfl
    | plus _ _ ih₁ ih₂ => rw [aeval, ih₁, ih₂]
    | mult _ _ ih₁ ih₂ => rw [aeval, ih₁, ih₂]
  · intro h
    subst h
    induction a with
    | num n => exact .num n
    | plus _ _ ih₁ ih₂ => exact .plus ih₁ ih₂
    | mult _ _ ih₁ ih₂ => exact .mult ih₁ ih₂

/-! ## A hypothesis of the whole chapter -/

axiom choose_one : ∀ n : Nat, n < 10 → Ev (n + n)

theorem by_axiom : Ev (3 + 3) := by
  exact choose_one 3 (by decide)

end Foreign.Foundations
