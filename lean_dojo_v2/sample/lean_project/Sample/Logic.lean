/-!
# Propositional and first-order logic

Small facts about `∧`, `∨`, `→`, `¬`, `↔`, `∃` and `∀`. Each is proved by taking the hypotheses
apart; the pieces are put together again by hand where there are few, else by `simp_all`.
-/

namespace Sample

/-! ## Conjunction -/

theorem and_swap {p q : Prop} (h : p ∧ q) : q ∧ p := by
  obtain ⟨hp, hq⟩ := h
  exact ⟨hq, hp⟩

theorem and_rotate {p q r : Prop} (h : p ∧ q ∧ r) : q ∧ r ∧ p := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨hq, hr, hp⟩

theorem and_rotate_back {p q r : Prop} (h : p ∧ q ∧ r) : r ∧ p ∧ q := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨hr, hp, hq⟩

theorem and_swap_tail {p q r : Prop} (h : p ∧ q ∧ r) : p ∧ r ∧ q := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨hp, hr, hq⟩

theorem and_swap_head {p q r : Prop} (h : p ∧ q ∧ r) : q ∧ p ∧ r := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨hq, hp, hr⟩

theorem and_reverse {p q r : Prop} (h : p ∧ q ∧ r) : r ∧ q ∧ p := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨hr, hq, hp⟩

theorem and_outer {p q r : Prop} (h : p ∧ q ∧ r) : p ∧ r := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨hp, hr⟩

theorem and_outer_swap {p q r : Prop} (h : p ∧ q ∧ r) : r ∧ p := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨hr, hp⟩

theorem and_front {p q r : Prop} (h : p ∧ q ∧ r) : p ∧ q := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨hp, hq⟩

theorem and_front_swap {p q r : Prop} (h : p ∧ q ∧ r) : q ∧ p := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨hq, hp⟩

theorem and_back_swap {p q r : Prop} (h : p ∧ q ∧ r) : r ∧ q := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨hr, hq⟩

theorem and_copy_first {p q : Prop} (h : p ∧ q) : p ∧ q ∧ p := by
  obtain ⟨hp, hq⟩ := h
  exact ⟨hp, hq, hp⟩

theorem and_copy_second {p q : Prop} (h : p ∧ q) : q ∧ p ∧ q := by
  obtain ⟨hp, hq⟩ := h
  exact ⟨hq, hp, hq⟩

theorem and_middle {p q r : Prop} (h : p ∧ q ∧ r) : q := by
  obtain ⟨hp, hq, hr⟩ := h
  exact hq

theorem and_last {p q r : Prop} (h : p ∧ q ∧ r) : r := by
  obtain ⟨hp, hq, hr⟩ := h
  exact hr

theorem and_group_left {p q r : Prop} (h : p ∧ q ∧ r) : (p ∧ q) ∧ r := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨⟨hp, hq⟩, hr⟩

theorem and_group_right {p q r : Prop} (h : (p ∧ q) ∧ r) : p ∧ q ∧ r := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact ⟨hp, hq, hr⟩

theorem and_group_last {p q r : Prop} (h : (p ∧ q) ∧ r) : r ∧ q := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact ⟨hr, hq⟩

theorem and_group_reverse {p q r : Prop} (h : (p ∧ q) ∧ r) : r ∧ q ∧ p := by
  sorry

theorem and_back {p q r : Prop} (h : p ∧ q ∧ r) : q ∧ r := sorry

/-! ## Disjunction -/

theorem or_swap {p q : Prop} (h : p ∨ q) : q ∨ p := by
  rcases h with hp | hq
  · exact Or.inr hp
  · exact Or.inl hq

theorem or_grow_right {p q r : Prop} (h : p ∨ q) : p ∨ q ∨ r := by
  rcases h with hp | hq <;> simp_all

theorem or_grow_left {p q r : Prop} (h : p ∨ q) : r ∨ p ∨ q := by
  rcases h with hp | hq <;> simp_all

theorem or_grow_middle {p q r : Prop} (h : p ∨ q) : p ∨ r ∨ q := by
  rcases h with hp | hq <;> simp_all

theorem or_swap_grow {p q r : Prop} (h : p ∨ q) : q ∨ p ∨ r := by
  rcases h with hp | hq <;> simp_all

theorem or_rotate {p q r : Prop} (h : p ∨ q ∨ r) : q ∨ r ∨ p := by
  rcases h with hp | hq | hr <;> simp_all

theorem or_rotate_back {p q r : Prop} (h : p ∨ q ∨ r) : r ∨ p ∨ q := by
  rcases h with hp | hq | hr <;> simp_all

theorem or_swap_tail {p q r : Prop} (h : p ∨ q ∨ r) : p ∨ r ∨ q := by
  rcases h with hp | hq | hr <;> simp_all

theorem or_reverse {p q r : Prop} (h : p ∨ q ∨ r) : r ∨ q ∨ p := by
  rcases h with hp | hq | hr <;> simp_all

theorem or_swap_head {p q r : Prop} (h : p ∨ q ∨ r) : q ∨ p ∨ r := by
  rcases h with hp | hq | hr <;> simp_all

theorem or_same {p : Prop} (h : p ∨ p) : p := by
  rcases h with hp | hp
  · exact hp
  · exact hp

theorem or_elim_same {p q : Prop} (h : p ∨ q ∨ p) : q ∨ p := by
  rcases h with hp | hq | hp
  · exact Or.inr hp
  · exact Or.inl hq
  · exact Or.inr hp

theorem or_of_and {p q : Prop} (h : p ∧ q) : q ∨ p := by
  obtain ⟨hp, hq⟩ := h
  exact Or.inl hq

theorem or_and_left {p q r : Prop} (h : p ∨ (q ∧ r)) : p ∨ q := by
  rcases h with hp | ⟨hq, hr⟩ <;> simp_all

theorem or_and_right {p q r : Prop} (h : p ∨ (q ∧ r)) : p ∨ r := by
  rcases h with hp | ⟨hq, hr⟩ <;> simp_all

theorem or_and_swap {p q r : Prop} (h : p ∨ (q ∧ r)) : r ∨ p := by
  sorry

theorem or_and_common {p q r : Prop} (h : (p ∧ q) ∨ (p ∧ r)) : p := by
  rcases h with ⟨hp, hq⟩ | ⟨hp, hr⟩ <;> simp_all

theorem or_and_rest {p q r : Prop} (h : (p ∧ q) ∨ (p ∧ r)) : q ∨ r := by
  rcases h with ⟨hp, hq⟩ | ⟨hp, hr⟩ <;> simp_all

theorem and_or_left {p q r : Prop} (h : p ∧ (q ∨ r)) : (p ∧ q) ∨ (p ∧ r) := by
  obtain ⟨hp, hq | hr⟩ := h <;> simp_all

theorem and_or_drop {p q r : Prop} (h : p ∧ (q ∨ r)) : r ∨ q := by
  obtain ⟨hp, hq | hr⟩ := h <;> simp_all

/-! ## Implication -/

theorem imp_comp {p q r : Prop} (hpq : p → q) (hqr : q → r) : p → r := by
  intro hp
  exact hqr (hpq hp)

theorem imp_comp_three {p q r s : Prop} (hpq : p → q) (hqr : q → r) (hrs : r → s) : p → s := by
  intro hp
  simp_all

theorem imp_twice {p q : Prop} (h : p → p → q) : p → q := by
  intro hp
  exact h hp hp

theorem imp_flip {p q r : Prop} (h : p → q → r) : q → p → r := by
  intro hq hp
  exact h hp hq

theorem imp_curry {p q r : Prop} (h : p ∧ q → r) : p → q → r := by
  intro hp hq
  exact h ⟨hp, hq⟩

theorem imp_uncurry {p q r : Prop} (h : p → q → r) : p ∧ q → r := by
  intro ⟨hp, hq⟩
  exact h hp hq

theorem imp_uncurry_flip {p q r : Prop} (h : p → q → r) : q ∧ p → r := by
  intro ⟨hq, hp⟩
  exact h hp hq

theorem imp_and_intro {p q r : Prop} (hpq : p → q) (hpr : p → r) : p → q ∧ r := by
  intro hp
  simp_all

theorem imp_and_keep {p q : Prop} (hpq : p → q) : p → p ∧ q := by
  intro hp
  exact ⟨hp, hpq hp⟩

theorem imp_and_keep_last {p q : Prop} (hpq : p → q) : p → q ∧ p := by
  sorry

theorem imp_or_left {p q r : Prop} (h : p ∨ q → r) : p → r := by
  intro hp
  simp_all

theorem imp_or_right {p q r : Prop} (h : p ∨ q → r) : q → r := by
  intro hq
  simp_all

theorem imp_or_elim {p q r : Prop} (hpr : p → r) (hqr : q → r) : p ∨ q → r := by
  intro h
  rcases h with hp | hq
  · exact hpr hp
  · exact hqr hq

theorem imp_and_map {p q r s : Prop} (hpr : p → r) (hqs : q → s) : p ∧ q → r ∧ s := by
  intro ⟨hp, hq⟩
  simp_all

theorem imp_or_map {p q r s : Prop} (hpr : p → r) (hqs : q → s) : p ∨ q → r ∨ s := by
  intro h
  rcases h with hp | hq
  · simp_all
  · simp_all

theorem imp_or_map_swap {p q r s : Prop} (hpr : p → r) (hqs : q → s) : p ∨ q → s ∨ r := by
  intro h
  rcases h with hp | hq
  · simp_all
  · simp_all

theorem imp_self_term {p : Prop} : p → p := fun hp => hp

theorem imp_const_term {p q : Prop} : p → q → p := fun hp _ => hp

theorem imp_apply_term {p q : Prop} (hp : p) (hpq : p → q) : q := hpq hp

theorem imp_share_term {p q r : Prop} (h : p → q → r) (hpq : p → q) : p → r :=
  fun hp => h hp (hpq hp)

/-! ## Negation -/

theorem not_intro_both {p : Prop} (hp : p) : ¬¬p := by
  intro hnp
  exact hnp hp

theorem not_imp_swap {p q : Prop} (hpq : p → q) : ¬q → ¬p := by
  intro hnq hp
  exact hnq (hpq hp)

theorem not_chain {p q r : Prop} (hpq : p → q) (hqr : q → r) (hnr : ¬r) : ¬p := by
  intro hp
  apply hnr
  apply hqr
  exact hpq hp

theorem not_chain_three {p q r s : Prop} (hpq : p → q) (hqr : q → r) (hrs : r → s) (hns : ¬s) :
    ¬p := by
  intro hp
  apply hns
  apply hrs
  apply hqr
  exact hpq hp

theorem not_of_imp_not {p q : Prop} (hpq : p → ¬q) : q → ¬p := by
  intro hq hp
  exact hpq hp hq

theorem not_and_of_not_left {p q : Prop} (hnp : ¬p) : ¬(p ∧ q) := by
  intro ⟨hp, hq⟩
  exact hnp hp

theorem not_and_of_not_right {p q : Prop} (hnq : ¬q) : ¬(p ∧ q) := by
  intro ⟨hp, hq⟩
  exact hnq hq

theorem not_or_left {p q : Prop} (h : ¬(p ∨ q)) : ¬p := by
  intro hp
  exact h (Or.inl hp)

theorem not_or_right {p q : Prop} (h : ¬(p ∨ q)) : ¬q := by
  intro hq
  exact h (Or.inr hq)

theorem not_or_intro {p q : Prop} (hnp : ¬p) (hnq : ¬q) : ¬(p ∨ q) := by
  intro h
  rcases h with hp | hq
  · exact hnp hp
  · exact hnq hq

theorem not_and_of_imp {p q : Prop} (h : p → ¬q) : ¬(p ∧ q) := by
  intro ⟨hp, hq⟩
  exact h hp hq

theorem imp_not_of_not_and {p q : Prop} (h : ¬(p ∧ q)) : p → ¬q := by
  intro hp hq
  exact h ⟨hp, hq⟩

theorem or_resolve_first {p q : Prop} (h : p ∨ q) (hnp : ¬p) : q := by
  rcases h with hp | hq
  · exact absurd hp hnp
  · exact hq

theorem or_resolve_second {p q : Prop} (h : p ∨ q) (hnq : ¬q) : p := by
  rcases h with hp | hq
  · exact hp
  · exact absurd hq hnq

theorem not_three {p : Prop} (h : ¬¬¬p) : ¬p := by
  intro hp
  exact h (not_intro_both hp)

theorem imp_of_not_or {p q : Prop} (h : ¬p ∨ q) : p → q := by
  intro hp
  rcases h with hnp | hq
  · exact absurd hp hnp
  · exact hq

theorem imp_of_or_not {p q : Prop} (h : q ∨ ¬p) : p → q := sorry

theorem not_or_swap {p q : Prop} (h : ¬(p ∨ q)) : ¬(q ∨ p) := by
  intro hqp
  exact h (or_swap hqp)

theorem not_and_swap {p q : Prop} (h : ¬(p ∧ q)) : ¬(q ∧ p) := by
  intro hqp
  exact h (and_swap hqp)

/-! ## Equivalence -/

theorem and_comm_iff {p q : Prop} : p ∧ q ↔ q ∧ p := by
  constructor
  intro ⟨hp, hq⟩
  exact ⟨hq, hp⟩
  intro ⟨hq, hp⟩
  exact ⟨hp, hq⟩

theorem or_comm_iff {p q : Prop} : p ∨ q ↔ q ∨ p := by
  constructor
  intro h
  rcases h with hp | hq
  exact Or.inr hp
  exact Or.inl hq
  intro h
  rcases h with hq | hp
  exact Or.inr hq
  exact Or.inl hp

theorem and_group_iff {p q r : Prop} : p ∧ q ∧ r ↔ (p ∧ q) ∧ r := by
  constructor <;> intros <;> simp_all

theorem and_rotate_iff {p q r : Prop} : p ∧ q ∧ r ↔ q ∧ r ∧ p := by
  constructor <;> intros <;> simp_all

theorem and_reverse_iff {p q r : Prop} : p ∧ q ∧ r ↔ r ∧ q ∧ p := by
  constructor <;> intros <;> simp_all

theorem and_swap_tail_iff {p q r : Prop} : p ∧ q ∧ r ↔ p ∧ r ∧ q := by
  sorry

theorem or_rotate_iff {p q r : Prop} : p ∨ q ∨ r ↔ q ∨ r ∨ p := by
  constructor
  · exact or_rotate
  · exact or_rotate_back

theorem imp_flip_iff {p q r : Prop} : (p → q → r) ↔ (q → p → r) := by
  constructor <;> intros <;> simp_all

theorem imp_curry_iff {p q r : Prop} : (p ∧ q → r) ↔ (p → q → r) := by
  constructor <;> intros <;> simp_all

theorem not_and_iff {p q : Prop} : ¬(p ∧ q) ↔ (p → ¬q) := by
  constructor
  intro h hp hq
  exact h ⟨hp, hq⟩
  intro h ⟨hp, hq⟩
  exact h hp hq

theorem imp_and_iff {p q r : Prop} : (p → q ∧ r) ↔ (p → q) ∧ (p → r) := by
  constructor <;> intros <;> simp_all

theorem iff_flip_term {p q : Prop} (h : p ↔ q) : q ↔ p := ⟨h.2, h.1⟩

theorem iff_chain {p q r : Prop} (hpq : p ↔ q) (hqr : q ↔ r) : p ↔ r := by
  rw [hpq, hqr]

theorem iff_and_left {p q r : Prop} (hpq : p ↔ q) : r ∧ p ↔ r ∧ q := by
  rw [hpq]

theorem iff_or_right {p q r : Prop} (hpq : p ↔ q) : p ∨ r ↔ q ∨ r := by
  rw [hpq]

theorem iff_not {p q : Prop} (hpq : p ↔ q) : ¬p ↔ ¬q := by
  rw [hpq]

/-! ## Quantifiers -/

section Quantifiers

variable {α : Type}

theorem exists_left {P Q : α → Prop} (h : ∃ x, P x ∧ Q x) : ∃ x, P x := by
  obtain ⟨x, hp, hq⟩ := h
  exact ⟨x, hp⟩

theorem exists_right {P Q : α → Prop} (h : ∃ x, P x ∧ Q x) : ∃ x, Q x := by
  obtain ⟨x, hp, hq⟩ := h
  exact ⟨x, hq⟩

theorem exists_and_swap {P Q : α → Prop} (h : ∃ x, P x ∧ Q x) : ∃ x, Q x ∧ P x := by
  obtain ⟨x, hp, hq⟩ := h
  exact ⟨x, hq, hp⟩

theorem exists_or_left {P Q : α → Prop} (h : ∃ x, P x) : ∃ x, P x ∨ Q x := by
  obtain ⟨x, hp⟩ := h
  exact ⟨x, Or.inl hp⟩

theorem exists_or_right {P Q : α → Prop} (h : ∃ x, Q x) : ∃ x, P x ∨ Q x := by
  obtain ⟨x, hq⟩ := h
  exact ⟨x, Or.inr hq⟩

theorem exists_map {P Q : α → Prop} (hpq : ∀ x, P x → Q x) (h : ∃ x, P x) : ∃ x, Q x := by
  obtain ⟨x, hp⟩ := h
  exact ⟨x, hpq x hp⟩

theorem exists_map_keep {P Q : α → Prop} (hpq : ∀ x, P x → Q x) (h : ∃ x, P x) :
    ∃ x, P x ∧ Q x := by
  obtain ⟨x, hp⟩ := h
  exact ⟨x, hp, hpq x hp⟩

theorem exists_and_rotate {P Q R : α → Prop} (h : ∃ x, P x ∧ Q x ∧ R x) :
    ∃ x, Q x ∧ R x ∧ P x := by
  obtain ⟨x, hp, hq, hr⟩ := h
  exact ⟨x, hq, hr, hp⟩

theorem exists_and_outer {P Q R : α → Prop} (h : ∃ x, P x ∧ Q x ∧ R x) : ∃ x, P x ∧ R x := by
  sorry

theorem forall_left {P Q : α → Prop} (h : ∀ x, P x ∧ Q x) : ∀ x, P x := by
  intro x
  exact (h x).1

theorem forall_right {P Q : α → Prop} (h : ∀ x, P x ∧ Q x) : ∀ x, Q x := by
  intro x
  exact (h x).2

theorem forall_and_swap {P Q : α → Prop} (h : ∀ x, P x ∧ Q x) : ∀ x, Q x ∧ P x := by
  intro x
  exact and_swap (h x)

theorem forall_or_swap {P Q : α → Prop} (h : ∀ x, P x ∨ Q x) : ∀ x, Q x ∨ P x := by
  intro x
  exact or_swap (h x)

theorem forall_and_reverse {P Q R : α → Prop} (h : ∀ x, P x ∧ Q x ∧ R x) :
    ∀ x, R x ∧ Q x ∧ P x := by
  intro x
  exact and_reverse (h x)

theorem forall_or_rotate {P Q R : α → Prop} (h : ∀ x, P x ∨ Q x ∨ R x) :
    ∀ x, Q x ∨ R x ∨ P x := by
  intro x
  exact or_rotate (h x)

theorem forall_imp_comp {P Q R : α → Prop} (hpq : ∀ x, P x → Q x) (hqr : ∀ x, Q x → R x) :
    ∀ x, P x → R x := by
  intro x hp
  exact hqr x (hpq x hp)

theorem forall_imp_and {P Q R : α → Prop} (hpq : ∀ x, P x → Q x) (hpr : ∀ x, P x → R x) :
    ∀ x, P x → Q x ∧ R x := by
  intro x hp
  exact ⟨hpq x hp, hpr x hp⟩

theorem forall_imp_keep {P Q : α → Prop} (hpq : ∀ x, P x → Q x) : ∀ x, P x → P x ∧ Q x := by
  intro x hp
  exact ⟨hp, hpq x hp⟩

theorem not_exists_of_forall {P : α → Prop} (h : ∀ x, ¬P x) : ¬∃ x, P x := by
  intro ⟨x, hp⟩
  exact h x hp

theorem forall_not_of_exists {P : α → Prop} (h : ¬∃ x, P x) : ∀ x, ¬P x := by
  intro x hp
  exact h ⟨x, hp⟩

end Quantifiers

end Sample
