/-! Ordinary blocks of tactics, in many layouts. -/

namespace Human.Blocks

variable {α : Type _} (p q r s : Prop)

def Good (n : Nat) : Prop := ∃ k, n = k + k

theorem good_two : Good 2 := ⟨1, rfl⟩

theorem good_add (a b : Nat) (ha : Good a) (hb : Good b) : Good (a + b) := by
  obtain ⟨x, hx⟩ := ha
  obtain ⟨y, hy⟩ := hb
  exact ⟨x + y, by omega⟩

theorem afterHave : Good 4 := by
  have h := good_two
  have h' : Good 2 := h
  exact good_add 2 2 h h'

theorem haveLines : Good 6 := by
  have h4 : Good 4 := by
    have h2 : Good 2 := by
      exact good_two
    exact good_add 2 2 h2 h2
  have h2 : Good 2 := by exact good_two
  exact good_add 4 2 h4 h2

theorem haveBinders (n : Nat) : ∀ m, n + m = m + n := by
  have key (k : Nat) : n + k = k + n := by
    rw [Nat.add_comm]
  have all : ∀ k : Nat, n + k = k + n := by
    intro k
    exact key k
  exact all

theorem haveAnonymous (a b : Nat) (h : a < b) : a ≤ b := by
  have : a + 1 ≤ b := by
    exact h
  omega

theorem havePattern (h : p ∧ q ∧ r) : r ∧ p := by
  have ⟨hp, _, hr⟩ := h
  exact ⟨hr, hp⟩

theorem obtainProof (n : Nat) : ∃ k, k > n := by
  obtain ⟨k, hk⟩ : ∃ k, k > n := by
    exists n + 1
    exact Nat.lt_succ_self n
  exact ⟨k, hk⟩

theorem rcasesOr (h : p ∨ q ∧ r) : p ∨ r := by
  rcases h with hp | ⟨_, hr⟩
  · left
    exact hp
  · right; exact hr

theorem rintro_like : p ∧ q → q ∧ p := by
  intro ⟨hp, hq⟩
  exact ⟨hq, hp⟩

theorem sufficesFrom : Good 4 := by
  suffices h : Good 2 from good_add 2 2 h h
  exact good_two

theorem sufficesBy (a b : Nat) (h : a = b) : b = a ∧ a = b := by
  suffices h' : b = a by
    constructor
    · exact h'
    · exact h
  exact h.symm

theorem refineHoles (hp : p) (hq : q) : p ∧ q ∧ p := by
  refine ⟨?_, ?_, ?_⟩
  · exact hp
  · exact hq
  exact hp

theorem refineBy (n : Nat) (h : 0 < n) : ∃ m, m < n ∧ m = 0 := by
  refine ⟨0, ?_, by rfl⟩
  exact h

theorem exactBy (n : Nat) (h : 0 < n) : n ≠ 0 ∧ True := by
  exact ⟨by omega, by
    trivial⟩

theorem applyBy (n m : Nat) (h : n ≤ m) : n ≤ m + 1 := by
  apply Nat.le_trans (m := m)
  · assumption
  · exact (by simp)

theorem cases_with (h : p ∨ q) : q ∨ p := by
  cases h with
  | inl hp => exact Or.inr hp
  | inr hq =>
    left
    exact hq

theorem cases_case (h : p ∨ q) : q ∨ p := by
  cases h
  case inl h => exact Or.inr h
  next h =>
    left
    exact h

theorem cases_case_lines (h : p ∨ q) : q ∨ p := by
  cases h
  case inr h =>
    apply Or.inl
    exact h
  case inl h =>
    apply Or.inr
    exact h

theorem induction_with (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [Nat.add_succ]
    rw [ih]

theorem induction_hard (xs : List α) : (xs ++ []).length = xs.length + 0 := by
  induction xs with
  | nil =>
    rfl
  | cons x xs ih =>
    rw [List.cons_append]
    rw [List.length_cons, List.length_cons]
    rw [ih]

theorem induction_generalizing (xs ys : List Nat) : (xs ++ ys).length = ys.length + xs.length := by
  induction xs generalizing ys with
  | nil => simp
  | cons x xs ih =>
    simp only [List.cons_append, List.length_cons]
    rw [ih]
    omega

theorem induction_at (n m : Nat) (h : n ≤ m) : n ≤ m + 5 := by
  induction m
  · simp at h
    subst h
    decide
  · omega

theorem match_tactic (n : Nat) : n = 0 ∨ ∃ k, n = k + 1 := by
  match n with
  | 0 =>
    left
    rfl
  | k + 1 =>
    right
    exact ⟨k, rfl⟩

theorem match_two (a b : Bool) : (a && b) = (b && a) := by
  match a, b with
  | true, true => rfl
  | true, false => rfl
  | false, b =>
    cases b
    · rfl
    · rfl

theorem by_cases_dots (n : Nat) : n = 0 ∨ n ≠ 0 := by
  by_cases h : n = 0
  · exact Or.inl h
  · exact Or.inr h

theorem if_tactic (n : Nat) : n = 0 ∨ n ≠ 0 := by
  if h : n = 0 then
    left
    exact h
  else
    right
    exact h

theorem combinators (hp : p) (hq : q) : p ∧ q := by
  constructor <;> first | exact hp | exact hq

theorem combinators_nested (hp : p) (hq : q) (hr : r) : (p ∧ q) ∧ r := by
  refine ⟨⟨?_, ?_⟩, ?_⟩ <;> (first
    | exact hp
    | exact hq
    | exact hr)

theorem all_goals_any (hp : p) (hq : q) : (p ∧ q) ∧ (q ∧ p) := by
  constructor
  all_goals constructor
  any_goals exact hp
  all_goals
    exact hq

theorem all_goals_seq (a b : Nat) (h : a = b) : (b = a ∧ a = b) ∧ a = b := by
  refine ⟨⟨?_, ?_⟩, ?_⟩
  all_goals
    first
    | exact h
    | exact h.symm

theorem repeated (n : Nat) : n + 0 + 0 + 0 = n := by
  repeat rw [Nat.add_zero]

theorem iterated : (p → p) ∧ (p → p) := by
  constructor
  iterate 2
    · intro h
      exact h

theorem try_it (a : Nat) : a + 0 = a := by
  try rw [Nat.mul_comm]
  try simp

theorem semicolons (hp : p) (hq : q) : p ∧ q ∧ p := by
  constructor; exact hp; constructor; exact hq; exact hp

theorem semicolons_dots (hp : p) (hq : q) : p ∧ q := by
  constructor; · exact hp
  · exact hq

theorem braces (hp : p) (hq : q) : p ∧ q := by
  constructor
  { exact hp }
  { have h := hq
    exact h }

theorem one_line_braces (hp : p) : p := by { exact hp }

theorem parens (hp : p) (hq : q) : p ∧ q := by
  constructor
  · (have h := hp; exact h)
  · (skip
     exact hq)

theorem calc_block (a b c : Nat) (h₁ : a = b) (h₂ : b = c) : a = c := by
  calc a = b := by rw [h₁]
    _ = c := by
      exact h₂

theorem calc_lines (a b c d : Nat) (h₁ : a ≤ b) (h₂ : b = c) (h₃ : c < d) : a < d := by
  calc
    a ≤ b := h₁
    _ = c := by
      rw [h₂]
    _ < d := by
      have h := h₃
      exact h

theorem conv_lhs' (a b : Nat) : (fun x => x + (a + b)) = (fun x => x + (b + a)) := by
  conv =>
    lhs
    ext x
    rw [Nat.add_comm a b]

theorem conv_one_line (a b c : Nat) : a + b + c = b + a + c := by
  conv => lhs; rw [Nat.add_comm a b]

theorem conv_at (a b : Nat) (h : a + b = 3) : b + a = 3 := by
  conv at h => lhs; rw [Nat.add_comm]
  exact h

theorem simp_at (a b : Nat) (h : a + 0 = b) (h' : b + 0 = 3) : a = 3 := by
  simp at h h'
  rw [h, h']

theorem rw_at (a b c : Nat) (h : a = b) (h' : b = c) : a = c := by
  rw [h'] at h
  rw [← h]

theorem rw_lines (a b c : Nat) (h : a = b) (h' : b = c) : a + 0 = c := by
  rw [
    Nat.add_zero,
    h,
    -- a comment between
    h'
  ]

theorem simp_lines (xs : List Nat) : (xs ++ []).length = xs.length := by
  simp only [List.append_nil,
    List.length]

theorem specialise (f : Nat → Nat) (h : ∀ n, f n = n) : f 2 = 2 := by
  have := h 2
  specialize h 3
  exact this

theorem exists_intro : ∃ n : Nat, n > 3 := by
  exists 4

theorem use_let (n : Nat) : n < n + 2 := by
  let m := n + 1
  have hm : m = n + 1 := rfl
  show n < m + 1
  omega

theorem set_values (n : Nat) : n + 1 > n := by
  generalize h : n + 1 = k
  omega

theorem contradiction_ (h : p) (h' : ¬p) : q := by
  exfalso
  exact h' h

theorem absurd_ (h : False) : 1 = 2 := by
  cases h

theorem rename_ : p → q → p := by
  intros
  rename_i hp hq
  exact hp

theorem revert_ (a b : Nat) (h : a = b) : b = a := by
  revert h
  intro h
  subst h
  rfl

theorem injections_ (a b : Nat) (h : a.succ = b.succ) : a = b := by
  injection h

theorem split_if (n : Nat) : (if n = 0 then 0 else n) = n := by
  split
  · rename_i h
    rw [h]
  · rfl

theorem split_match (n : Nat) : (match n with | 0 => 0 | k + 1 => k + 1) = n := by
  split
  · rfl
  · rfl

theorem funext_ (f g : Nat → Nat) (h : ∀ x, f x = g x) : f = g := by
  funext x
  exact h x

theorem ext_ (a b : Nat × Nat) (h : a.1 = b.1) (h' : a.2 = b.2) : a = b := by
  ext
  · exact h
  · exact h'

theorem congr_ (f : Nat → Nat) (a b : Nat) (h : a = b) : f a = f b := by
  congr

theorem rfl_comment (n : Nat) : n + 0 = n := by
  -- a comment: theorem x := by
  rfl -- and another

theorem block_comment (hp : p) (hq : q) : p ∧ q := by
  /- Both. -/
  constructor
  -- the first
  · exact hp /- here -/
  /- the second;
     over two lines -/
  · exact hq

theorem deep (h : p ∧ (q ∨ r)) : (p ∧ q) ∨ (p ∧ r) := by
  cases h with
  | intro hp hqr =>
    cases hqr with
    | inl hq =>
      left
      constructor
      · exact hp
      · exact hq
    | inr hr =>
      right
      exact ⟨hp, hr⟩

theorem deep_have (a b c : Nat) (h : a ≤ b) (h' : b ≤ c) : a ≤ c := by
  have step : ∀ k, k ≤ b → k ≤ c := by
    intro k hk
    have : k ≤ c := by
      calc k ≤ b := hk
        _ ≤ c := h'
    exact this
  exact step a h

theorem show_from (a b : Nat) (h : a = b) : b = a := by
  exact show b = a from by rw [h]

theorem fun_by (f : Nat → Nat) (h : ∀ x, f x = x) : ∀ x, f (f x) = x := by
  exact fun x => by
    rw [h]
    rw [h]

theorem fun_cases_ (f : Nat → Nat) (h : ∀ x, f x = x) : (fun x => f x) = id := by
  apply funext
  intro x
  simp [h]

theorem nested_dots (h : p ∧ q ∧ r) : (r ∧ q) ∧ p := by
  obtain ⟨hp, hq, hr⟩ := h
  constructor
  · constructor
    · exact hr
    · exact hq
  · exact hp

theorem iff_ : (p ∧ q) ↔ (q ∧ p) := by
  constructor
  · rintro ⟨hp, hq⟩
    exact ⟨hq, hp⟩
  · rintro ⟨hq, hp⟩; exact ⟨hp, hq⟩

theorem exact_structure (a : Nat) : ∃ q : Nat × Nat, q.1 = a := by
  exact ⟨{
    fst := a
    snd := 0
  }, rfl⟩

theorem have_term_lines (a b : Nat) (h : a = b) : b = a := by
  have h' :=
    h.symm
  exact
    h'

theorem trailing_done : True ∧ True := by
  constructor <;> trivial
  done

theorem emoji (s : String) (h : s = "🎉∀") : "🎉∀" = s := by
  -- 🎉🎉 emoji before
  exact h.symm

end Human.Blocks
