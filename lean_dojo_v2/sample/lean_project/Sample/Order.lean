import Sample.Logic

/-!
# Order and subset

Chains of a relation that is reflexive and transitive, maps that keep it, and the subset relation of
predicates, which is one.
-/

namespace Sample

/-- A reflexive and transitive relation `≼`. -/
class Preorder (α : Type) where
  /-- `le a b` reads "`a` is below `b`". -/
  le : α → α → Prop
  /-- Everything is below itself. -/
  refl : ∀ a, le a a
  /-- What is below something below `c` is below `c`. -/
  trans : ∀ {a b c}, le a b → le b c → le a c

@[inherit_doc] infix:50 " ≼ " => Preorder.le

open Preorder (refl trans)

variable {α β : Type} [Preorder α] [Preorder β]

/-- Two elements each below the other. -/
abbrev Equiv (a b : α) : Prop := a ≼ b ∧ b ≼ a

/-- A function that keeps the order. -/
abbrev Mono (f : α → β) : Prop := ∀ a b, a ≼ b → f a ≼ f b

/-! ## Chains -/

theorem below_chain {a b c d : α} (hab : a ≼ b) (hbc : b ≼ c) (hcd : c ≼ d) : a ≼ d := by
  apply trans hab
  exact trans hbc hcd

theorem below_chain_four {a b c d e : α} (hab : a ≼ b) (hbc : b ≼ c) (hcd : c ≼ d)
    (hde : d ≼ e) : a ≼ e := by
  apply trans hab
  apply trans hbc
  exact trans hcd hde

theorem below_of_eq {a b : α} (h : a = b) : a ≼ b := by
  rw [h]
  exact refl b

theorem below_of_eq_of_below {a b c : α} (h : a = b) (hbc : b ≼ c) : a ≼ c := by
  rw [h]
  exact hbc

theorem below_of_below_of_eq {a b c : α} (hab : a ≼ b) (h : b = c) : a ≼ c := by
  rw [← h]
  exact hab

theorem equiv_refl (a : α) : Equiv a a := by
  constructor
  exact refl a
  exact refl a

theorem equiv_symm {a b : α} (h : Equiv a b) : Equiv b a := by
  obtain ⟨hab, hba⟩ := h
  exact ⟨hba, hab⟩

theorem equiv_trans {a b c : α} (h : Equiv a b) (k : Equiv b c) : Equiv a c := by
  obtain ⟨hab, hba⟩ := h
  obtain ⟨hbc, hcb⟩ := k
  constructor
  exact trans hab hbc
  exact trans hcb hba

theorem equiv_below {a b c : α} (h : Equiv a b) (hbc : b ≼ c) : a ≼ c := by
  obtain ⟨hab, hba⟩ := h
  exact trans hab hbc

theorem below_equiv {a b c : α} (hab : a ≼ b) (h : Equiv b c) : a ≼ c := by
  obtain ⟨hbc, hcb⟩ := h
  exact trans hab hbc

theorem equiv_below_back {a b c : α} (h : Equiv a b) (hac : a ≼ c) : b ≼ c := by
  sorry

theorem mono_id : Mono (fun a : α => a) := by
  intro a b hab
  exact hab

theorem mono_const (c : β) : Mono (fun _ : α => c) := by
  intro a b hab
  exact refl c

theorem mono_twice {f : α → α} (hf : Mono f) : Mono (fun a => f (f a)) := by
  intro a b hab
  apply hf
  apply hf
  exact hab

theorem mono_comp {f : α → α} {g : α → β} (hf : Mono f) (hg : Mono g) : Mono (fun a => g (f a)) := by
  intro a b hab
  apply hg
  apply hf
  exact hab

theorem mono_equiv {f : α → β} (hf : Mono f) {a b : α} (h : Equiv a b) : Equiv (f a) (f b) := by
  obtain ⟨hab, hba⟩ := h
  constructor
  apply hf
  exact hab
  apply hf
  exact hba

theorem mono_chain {f : α → β} (hf : Mono f) {a b c : α} (hab : a ≼ b) (hbc : b ≼ c) :
    f a ≼ f c := by
  apply hf
  exact trans hab hbc

/-! ## Chains with equalities -/

theorem below_of_eq_back {a b : α} (h : b = a) : a ≼ b := by
  rw [h]
  exact refl a

theorem below_of_eqs {a b c : α} (h : a = b) (k : b = c) : a ≼ c := by
  rw [h, k]
  exact refl c

theorem below_of_eq_back_of_below {a b c : α} (h : b = a) (hbc : b ≼ c) : a ≼ c := by
  rw [← h]
  exact hbc

theorem below_of_below_of_eq_back {a b c : α} (hab : a ≼ b) (h : c = b) : a ≼ c := by
  rw [h]
  exact hab

theorem below_chain_eq_first {a b c d : α} (h : a = b) (hbc : b ≼ c) (hcd : c ≼ d) : a ≼ d := by
  rw [h]
  exact trans hbc hcd

theorem below_chain_eq_middle {a b c d : α} (hab : a ≼ b) (h : b = c) (hcd : c ≼ d) : a ≼ d := by
  apply trans hab
  rw [h]
  exact hcd

theorem below_chain_eq_last {a b c d : α} (hab : a ≼ b) (hbc : b ≼ c) (h : c = d) : a ≼ d := by
  rw [← h]
  exact trans hab hbc

theorem below_chain_eq_ends {a b c d : α} (h : a = b) (hbc : b ≼ c) (k : c = d) : a ≼ d := by
  rw [h, ← k]
  exact hbc

theorem below_chain_five {a b c d e f : α} (hab : a ≼ b) (hbc : b ≼ c) (hcd : c ≼ d)
    (hde : d ≼ e) (hef : e ≼ f) : a ≼ f := by
  sorry

/-! ## Equivalent elements -/

theorem equiv_of_eq {a b : α} (h : a = b) : Equiv a b := by
  rw [h]
  constructor
  exact refl b
  exact refl b

theorem equiv_trans_flip {a b c : α} (h : Equiv a b) (k : Equiv b c) : Equiv c a := by
  obtain ⟨hab, hba⟩ := h
  obtain ⟨hbc, hcb⟩ := k
  constructor
  exact trans hcb hba
  exact trans hab hbc

theorem equiv_meet {a b c : α} (h : Equiv a b) (k : Equiv c b) : Equiv a c := by
  obtain ⟨hab, hba⟩ := h
  obtain ⟨hcb, hbc⟩ := k
  constructor
  exact trans hab hbc
  exact trans hcb hba

theorem equiv_fork {a b c : α} (h : Equiv b a) (k : Equiv b c) : Equiv a c := by
  obtain ⟨hba, hab⟩ := h
  obtain ⟨hbc, hcb⟩ := k
  constructor
  exact trans hab hbc
  exact trans hcb hba

theorem equiv_of_equiv_of_eq {a b c : α} (h : Equiv a b) (k : b = c) : Equiv a c := by
  rw [← k]
  exact h

theorem equiv_of_eq_of_equiv {a b c : α} (h : a = b) (k : Equiv b c) : Equiv a c := by
  rw [h]
  exact k

theorem below_equiv_back {a b c : α} (hab : a ≼ b) (h : Equiv c b) : a ≼ c := by
  obtain ⟨hcb, hbc⟩ := h
  exact trans hab hbc

theorem equiv_below_chain {a b c d : α} (h : Equiv a b) (hbc : b ≼ c) (hcd : c ≼ d) : a ≼ d := by
  obtain ⟨hab, hba⟩ := h
  apply trans hab
  exact trans hbc hcd

theorem below_equiv_below {a b c d : α} (hab : a ≼ b) (h : Equiv b c) (hcd : c ≼ d) : a ≼ d := by
  obtain ⟨hbc, hcb⟩ := h
  apply trans hab
  exact trans hbc hcd

/-! ## Maps that keep the order -/

theorem mono_three {f : α → α} (hf : Mono f) : Mono (fun a => f (f (f a))) := by
  intro a b hab
  apply hf
  apply hf
  apply hf
  exact hab

theorem mono_comp_twice {f : α → α} {g : α → β} (hf : Mono f) (hg : Mono g) :
    Mono (fun a => g (f (f a))) := by
  intro a b hab
  apply hg
  apply hf
  apply hf
  exact hab

theorem mono_of_eq {f : α → β} {a b : α} (h : a = b) : f a ≼ f b := by
  rw [h]
  exact refl (f b)

theorem mono_chain_three {f : α → β} (hf : Mono f) {a b c d : α} (hab : a ≼ b) (hbc : b ≼ c)
    (hcd : c ≼ d) : f a ≼ f d := by
  apply hf
  apply trans hab
  exact trans hbc hcd

theorem mono_equiv_below {f : α → β} (hf : Mono f) {a b c : α} (h : Equiv a b) (hbc : b ≼ c) :
    f a ≼ f c := by
  obtain ⟨hab, hba⟩ := h
  apply hf
  exact trans hab hbc

theorem mono_equiv_flip {f : α → β} (hf : Mono f) {a b : α} (h : Equiv a b) :
    Equiv (f b) (f a) := by
  obtain ⟨hab, hba⟩ := h
  constructor
  apply hf
  exact hba
  apply hf
  exact hab

/-! ## Subsets -/

section Subsets

variable {γ : Type}

/-- Every member of `s` is one of `t`. -/
abbrev Sub (s t : γ → Prop) : Prop := ∀ x, s x → t x

/-- What is in both. -/
abbrev both (s t : γ → Prop) : γ → Prop := fun x => s x ∧ t x

/-- What is in at least one. -/
abbrev either (s t : γ → Prop) : γ → Prop := fun x => s x ∨ t x

theorem sub_refl (s : γ → Prop) : Sub s s := by
  intro x hs
  exact hs

theorem sub_trans {s t u : γ → Prop} (hst : Sub s t) (htu : Sub t u) : Sub s u := by
  intro x hs
  apply htu
  exact hst x hs

theorem both_sub_left (s t : γ → Prop) : Sub (both s t) s := by
  intro x ⟨hs, ht⟩
  exact hs

theorem both_sub_right (s t : γ → Prop) : Sub (both s t) t := by
  intro x ⟨hs, ht⟩
  exact ht

theorem both_swap (s t : γ → Prop) : Sub (both s t) (both t s) := by
  intro x ⟨hs, ht⟩
  exact ⟨ht, hs⟩

theorem sub_both {s t u : γ → Prop} (hst : Sub s t) (hsu : Sub s u) : Sub s (both t u) := by
  intro x hs
  constructor
  exact hst x hs
  exact hsu x hs

theorem both_mono_left {s t u : γ → Prop} (hst : Sub s t) : Sub (both s u) (both t u) := by
  intro x ⟨hs, hu⟩
  constructor
  exact hst x hs
  exact hu

theorem both_mono_right {s t u : γ → Prop} (hst : Sub s t) : Sub (both u s) (both u t) := by
  intro x ⟨hu, hs⟩
  constructor
  exact hu
  exact hst x hs

theorem both_sub_either (s t : γ → Prop) : Sub (both s t) (either s t) := by
  intro x ⟨hs, ht⟩
  exact Or.inl hs

theorem sub_either_left (s t : γ → Prop) : Sub s (either s t) := by
  intro x hs
  exact Or.inl hs

theorem sub_either_right (s t : γ → Prop) : Sub t (either s t) := by
  sorry

theorem either_swap (s t : γ → Prop) : Sub (either s t) (either t s) := by
  intro x h
  exact or_swap h

theorem either_sub {s t u : γ → Prop} (hsu : Sub s u) (htu : Sub t u) : Sub (either s t) u := by
  intro x h
  rcases h with hs | ht
  exact hsu x hs
  exact htu x ht

theorem either_mono_left {s t u : γ → Prop} (hst : Sub s t) : Sub (either s u) (either t u) := by
  intro x h
  rcases h with hs | hu
  left
  exact hst x hs
  exact Or.inr hu

theorem either_mono_right {s t u : γ → Prop} (hst : Sub s t) : Sub (either u s) (either u t) := by
  intro x h
  rcases h with hu | hs
  exact Or.inl hu
  right
  exact hst x hs

theorem sub_chain {s t u v : γ → Prop} (hst : Sub s t) (htu : Sub t u) (huv : Sub u v) :
    Sub s v := by
  intro x hs
  apply huv
  apply htu
  exact hst x hs

theorem both_same (s : γ → Prop) : Sub s (both s s) := by
  intro x hs
  exact ⟨hs, hs⟩

theorem both_group (s t u : γ → Prop) : Sub (both s (both t u)) (both (both s t) u) := by
  intro x ⟨hs, ht, hu⟩
  exact ⟨⟨hs, ht⟩, hu⟩

theorem both_rotate (s t u : γ → Prop) : Sub (both s (both t u)) (both t (both u s)) := by
  intro x ⟨hs, ht, hu⟩
  exact ⟨ht, hu, hs⟩

theorem both_reverse (s t u : γ → Prop) : Sub (both s (both t u)) (both u (both t s)) := by
  intro x ⟨hs, ht, hu⟩
  exact ⟨hu, ht, hs⟩

theorem both_sub_outer (s t u : γ → Prop) : Sub (both s (both t u)) (both s u) := by
  sorry

theorem both_sub_of_left {s t u : γ → Prop} (hsu : Sub s u) : Sub (both s t) u := by
  intro x ⟨hs, ht⟩
  exact hsu x hs

theorem both_sub_of_right {s t u : γ → Prop} (htu : Sub t u) : Sub (both s t) u := by
  intro x ⟨hs, ht⟩
  exact htu x ht

theorem both_mono {s t u v : γ → Prop} (hst : Sub s t) (huv : Sub u v) :
    Sub (both s u) (both t v) := by
  intro x ⟨hs, hu⟩
  constructor
  exact hst x hs
  exact huv x hu

theorem sub_either_of_left {s t u : γ → Prop} (hst : Sub s t) : Sub s (either t u) := by
  intro x hs
  left
  exact hst x hs

theorem sub_either_of_right {s t u : γ → Prop} (hsu : Sub s u) : Sub s (either t u) := by
  intro x hs
  right
  exact hsu x hs

theorem either_mono {s t u v : γ → Prop} (hst : Sub s t) (huv : Sub u v) :
    Sub (either s u) (either t v) := by
  intro x h
  rcases h with hs | hu
  left
  exact hst x hs
  right
  exact huv x hu

theorem either_rotate (s t u : γ → Prop) : Sub (either s (either t u)) (either t (either u s)) := by
  intro x h
  exact or_rotate h

instance : Preorder (γ → Prop) where
  le := Sub
  refl := sub_refl
  trans := sub_trans

end Subsets

end Sample
