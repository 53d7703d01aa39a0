import Edge.Basic

namespace Edge.Tactics

theorem bullets {p q : Prop} (hp : p) (hq : q) : p ∧ q ∧ p := by
  constructor
  · exact hp
  · constructor
    · exact hq
    · exact hp

theorem combinator {p q : Prop} (hp : p) (hq : q) : p ∧ q := by
  constructor <;> assumption

theorem cases_by_name {p q : Prop} (h : p ∨ q) : q ∨ p := by
  cases h with
  | inl hp => exact Or.inr hp
  | inr hq =>
    left
    exact hq

theorem case_tactic {p q : Prop} (hp : p) (hq : q) : p ∧ q := by
  constructor
  case right => exact hq
  case left =>
    exact hp

theorem rewrites (a b c : Nat) : a + b + c = c + (b + a) := by
  rw [Nat.add_comm a b, Nat.add_comm]

theorem rewrite_at (a b : Nat) (h : a = b) : b = a := by
  rw [← h] at *

theorem calculation (a b c : Nat) (h : a = b) (g : b = c) : c = a := by
  calc
    c = b := by rw [g]
    _ = a := by
      rw [h]

theorem nested_have (a b : Nat) (h : a = b) : b = a := by
  have swapped : b = a := by
    rw [h]
  have other := swapped
  exact other

theorem alternatives {p q : Prop} (hq : q) : p ∨ q := by
  first
    | left; assumption
    | right; assumption

theorem everywhere {p q : Prop} (hp : p) (hq : q) : (p ∧ q) ∧ p := by
  refine ⟨⟨?_, ?_⟩, ?_⟩
  all_goals assumption

theorem repeated {p : Prop} (hp : p) : p ∧ p ∧ p ∧ p := by
  repeat (constructor; exact hp)
  exact hp

theorem matched : ∀ n : Nat, n = 0 ∨ 0 < n := by
  intro n
  match n with
  | 0 => left; rfl
  | k + 1 =>
    right
    exact Nat.succ_pos k

theorem one_line {p q : Prop} (hp : p) (hq : q) : p ∧ q := by constructor; exact hp; exact hq

theorem braces {p q : Prop} (hp : p) (hq : q) : p ∧ q := by
  constructor
  { exact hp }
  { exact hq }

theorem conversion (a b : Nat) (h : a = b) : a + a = b + a := by
  conv =>
    lhs
    arg 1
    rw [h]

theorem structured (xs : List Nat) : (xs ++ []).length = xs.length := by
  induction xs
  case nil => rfl
  case cons x xs ih =>
    simp

theorem next_and_rename {p q : Prop} : p → q → p := by
  intros
  rename_i hp hq
  exact hp

theorem existential (n : Nat) : ∃ m, n < m := by
  exists n + 1
  show n < n + 1
  exact Nat.lt_succ_self n

theorem in_term (n : Nat) (h : 0 < n) : ∃ m, m < n ∧ m = 0 :=
  ⟨0, by
    constructor
    · exact h
    · rfl⟩

theorem with_tree (t : Tree Nat) : t.mirror.size = t.size := by
  exact Tree.size_mirror t

theorem uses_own (n : Nat) : double n = n + n := by
  exact first_of_two n

theorem uses_axiom : ∃ n : Nat, n = n := by
  have ⟨n, h⟩ := choice_of_mine
  exact ⟨n, h⟩

theorem let_and_string (s : String) (h : s = "rw [nothing] := by") : s.length = 18 := by
  let n := 18
  subst h
  decide

theorem wide (aVeryLongNameOfAProposition anotherVeryLongNameOfAProposition : Prop)
    (aHypothesis : aVeryLongNameOfAProposition ∧ anotherVeryLongNameOfAProposition ∧ aVeryLongNameOfAProposition) :
    anotherVeryLongNameOfAProposition := by
  exact aHypothesis.2.1

theorem later_by_tactic (p : Prop) (hp : p) : p := by
  sorry

theorem later_by_term (p : Prop) (hp : p) : p := sorry

theorem later_in_part (p q : Prop) (hp : p) : p ∧ q := by
  constructor
  · exact hp
  · exact sorry

theorem later_admitted (p : Prop) : p := by
  admit

theorem says_sorry_only (sorry_count : Nat) : sorry_count = sorry_count := by
  rfl -- no sorry here

end Edge.Tactics
