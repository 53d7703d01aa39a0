import Sample.Logic

/-!
# More on the connectives

Propositions in `∧`, `∨` and `→` put in another order, grouped in another way or in part dropped.
The proofs are those of `Sample.Logic`: take the hypothesis apart, leave the pieces to `simp_all`.
-/

namespace Sample

/-! ## Conjunctions grouped -/

theorem and_group_swap {p q r : Prop} (h : (p ∧ q) ∧ r) : (q ∧ p) ∧ r := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact ⟨⟨hq, hp⟩, hr⟩

theorem and_group_rotate {p q r : Prop} (h : (p ∧ q) ∧ r) : q ∧ r ∧ p := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact ⟨hq, hr, hp⟩

theorem and_group_rotate_back {p q r : Prop} (h : (p ∧ q) ∧ r) : r ∧ p ∧ q := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact ⟨hr, hp, hq⟩

theorem and_group_swap_tail {p q r : Prop} (h : (p ∧ q) ∧ r) : p ∧ r ∧ q := by
  sorry

theorem and_group_swap_head {p q r : Prop} (h : (p ∧ q) ∧ r) : q ∧ p ∧ r := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact ⟨hq, hp, hr⟩

theorem and_group_front_swap {p q r : Prop} (h : (p ∧ q) ∧ r) : q ∧ p := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact ⟨hq, hp⟩

theorem and_group_outer {p q r : Prop} (h : (p ∧ q) ∧ r) : p ∧ r := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact ⟨hp, hr⟩

theorem and_group_outer_swap {p q r : Prop} (h : (p ∧ q) ∧ r) : r ∧ p := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact ⟨hr, hp⟩

theorem and_group_back {p q r : Prop} (h : (p ∧ q) ∧ r) : q ∧ r := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact ⟨hq, hr⟩

theorem and_group_middle {p q r : Prop} (h : (p ∧ q) ∧ r) : q := by
  obtain ⟨⟨hp, hq⟩, hr⟩ := h
  exact hq

theorem and_to_group_swap {p q r : Prop} (h : p ∧ q ∧ r) : (q ∧ p) ∧ r := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨⟨hq, hp⟩, hr⟩

theorem and_to_group_rotate {p q r : Prop} (h : p ∧ q ∧ r) : (q ∧ r) ∧ p := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨⟨hq, hr⟩, hp⟩

theorem and_to_group_rotate_back {p q r : Prop} (h : p ∧ q ∧ r) : (r ∧ p) ∧ q := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨⟨hr, hp⟩, hq⟩

theorem and_to_group_reverse {p q r : Prop} (h : p ∧ q ∧ r) : (r ∧ q) ∧ p := by
  obtain ⟨hp, hq, hr⟩ := h
  exact ⟨⟨hr, hq⟩, hp⟩

theorem and_four_rotate {p q r s : Prop} (h : p ∧ q ∧ r ∧ s) : q ∧ r ∧ s ∧ p := by
  obtain ⟨hp, hq, hr, hs⟩ := h
  simp_all

theorem and_four_reverse {p q r s : Prop} (h : p ∧ q ∧ r ∧ s) : s ∧ r ∧ q ∧ p := by
  obtain ⟨hp, hq, hr, hs⟩ := h
  simp_all

theorem and_pairs_cross {p q r s : Prop} (h : (p ∧ q) ∧ r ∧ s) : (p ∧ r) ∧ q ∧ s := by
  obtain ⟨⟨hp, hq⟩, hr, hs⟩ := h
  simp_all

theorem and_pairs_swap {p q r s : Prop} (h : (p ∧ q) ∧ r ∧ s) : (r ∧ s) ∧ p ∧ q := by
  obtain ⟨⟨hp, hq⟩, hr, hs⟩ := h
  simp_all

/-! ## Disjunctions grouped -/

theorem or_group_left {p q r : Prop} (h : p ∨ q ∨ r) : (p ∨ q) ∨ r := by
  rcases h with hp | hq | hr <;> simp_all

theorem or_group_right {p q r : Prop} (h : (p ∨ q) ∨ r) : p ∨ q ∨ r := by
  rcases h with (hp | hq) | hr <;> simp_all

theorem or_group_rotate {p q r : Prop} (h : (p ∨ q) ∨ r) : q ∨ r ∨ p := by
  rcases h with (hp | hq) | hr <;> simp_all

theorem or_group_rotate_back {p q r : Prop} (h : (p ∨ q) ∨ r) : r ∨ p ∨ q := by
  rcases h with (hp | hq) | hr <;> simp_all

theorem or_group_reverse {p q r : Prop} (h : (p ∨ q) ∨ r) : r ∨ q ∨ p := by
  sorry

theorem or_swap_grow_left {p q r : Prop} (h : p ∨ q) : r ∨ q ∨ p := by
  rcases h with hp | hq <;> simp_all

theorem or_swap_grow_middle {p q r : Prop} (h : p ∨ q) : q ∨ r ∨ p := by
  rcases h with hp | hq <;> simp_all

theorem or_grow_group {p q r : Prop} (h : p ∨ q) : (p ∨ r) ∨ q := by
  rcases h with hp | hq <;> simp_all

theorem or_elim_last {p q : Prop} (h : p ∨ q ∨ q) : p ∨ q := by
  rcases h with hp | hq | hq
  · exact Or.inl hp
  · exact Or.inr hq
  · exact Or.inr hq

/-! ## Conjunctions and disjunctions -/

theorem and_or_first {p q r : Prop} (h : (p ∧ q) ∨ r) : p ∨ r := by
  rcases h with ⟨hp, hq⟩ | hr <;> simp_all

theorem and_or_second {p q r : Prop} (h : (p ∧ q) ∨ r) : q ∨ r := by
  rcases h with ⟨hp, hq⟩ | hr <;> simp_all

theorem or_and_gather {p q r : Prop} (h : (p ∧ q) ∨ (p ∧ r)) : p ∧ (q ∨ r) := by
  rcases h with ⟨hp, hq⟩ | ⟨hp, hr⟩ <;> simp_all

theorem or_and_gather_swap {p q r : Prop} (h : (p ∧ q) ∨ (p ∧ r)) : (r ∨ q) ∧ p := by
  rcases h with ⟨hp, hq⟩ | ⟨hp, hr⟩ <;> simp_all

theorem or_and_swap_each {p q r : Prop} (h : (p ∧ q) ∨ (p ∧ r)) : (q ∧ p) ∨ (r ∧ p) := by
  rcases h with ⟨hp, hq⟩ | ⟨hp, hr⟩ <;> simp_all

theorem and_or_swap {p q r : Prop} (h : p ∧ (q ∨ r)) : p ∧ (r ∨ q) := by
  obtain ⟨hp, hq | hr⟩ := h <;> simp_all

theorem and_or_left_swap {p q r : Prop} (h : p ∧ (q ∨ r)) : (q ∧ p) ∨ (r ∧ p) := by
  obtain ⟨hp, hq | hr⟩ := h <;> simp_all

theorem and_or_left_cross {p q r : Prop} (h : p ∧ (q ∨ r)) : (p ∧ r) ∨ (p ∧ q) := by
  obtain ⟨hp, hq | hr⟩ := h <;> simp_all

theorem or_and_right_left {p q r : Prop} (h : (p ∨ q) ∧ r) : (p ∧ r) ∨ (q ∧ r) := by
  obtain ⟨hp | hq, hr⟩ := h <;> simp_all

theorem or_and_spread {p q r : Prop} (h : p ∨ (q ∧ r)) : (p ∨ q) ∧ (p ∨ r) := by
  rcases h with hp | ⟨hq, hr⟩ <;> simp_all

/-! ## Implications -/

theorem imp_comp_four {p q r s t : Prop} (hpq : p → q) (hqr : q → r) (hrs : r → s)
    (hst : s → t) : p → t := by
  intro hp
  simp_all

theorem imp_and_intro_swap {p q r : Prop} (hpq : p → q) (hqr : q → r) : p → r ∧ q := by
  intro hp
  simp_all

theorem imp_and_map_swap {p q r s : Prop} (hpr : p → r) (hqs : q → s) : p ∧ q → s ∧ r := by
  intro ⟨hp, hq⟩
  simp_all

theorem imp_and_map_left {p q r : Prop} (hpr : p → r) : p ∧ q → r ∧ q := by
  intro ⟨hp, hq⟩
  exact ⟨hpr hp, hq⟩

theorem imp_and_map_right {p q r : Prop} (hqr : q → r) : p ∧ q → p ∧ r := by
  intro ⟨hp, hq⟩
  exact ⟨hp, hqr hq⟩

theorem imp_and_drop_left {p q r : Prop} (hqr : q → r) : p ∧ q → r := by
  intro ⟨hp, hq⟩
  exact hqr hq

theorem imp_and_drop_right {p q r : Prop} (hpr : p → r) : p ∧ q → r := by
  sorry

theorem imp_or_map_left {p q r : Prop} (hpr : p → r) : p ∨ q → r ∨ q := by
  intro h
  rcases h with hp | hq
  · simp_all
  · exact Or.inr hq

theorem imp_or_map_right {p q r : Prop} (hqr : q → r) : p ∨ q → p ∨ r := by
  intro h
  rcases h with hp | hq
  · exact Or.inl hp
  · simp_all

/-! ## Equivalences -/

theorem and_swap_head_iff {p q r : Prop} : p ∧ q ∧ r ↔ q ∧ p ∧ r := by
  constructor <;> intros <;> simp_all

theorem and_group_swap_iff {p q r : Prop} : (p ∧ q) ∧ r ↔ (q ∧ p) ∧ r := by
  constructor <;> intros <;> simp_all

theorem and_group_reverse_iff {p q r : Prop} : (p ∧ q) ∧ r ↔ r ∧ q ∧ p := by
  constructor <;> intros <;> simp_all

theorem and_group_rotate_iff {p q r : Prop} : (p ∧ q) ∧ r ↔ q ∧ r ∧ p := by
  sorry

theorem and_group_swap_tail_iff {p q r : Prop} : (p ∧ q) ∧ r ↔ p ∧ r ∧ q := by
  constructor <;> intros <;> simp_all

theorem or_swap_tail_iff {p q r : Prop} : p ∨ q ∨ r ↔ p ∨ r ∨ q := by
  constructor
  · intro h
    rcases h with hp | hq | hr <;> simp_all
  · intro h
    rcases h with hp | hr | hq <;> simp_all

theorem or_group_iff {p q r : Prop} : p ∨ q ∨ r ↔ (p ∨ q) ∨ r := by
  constructor
  · intro h
    rcases h with hp | hq | hr <;> simp_all
  · intro h
    rcases h with (hp | hq) | hr <;> simp_all

end Sample
