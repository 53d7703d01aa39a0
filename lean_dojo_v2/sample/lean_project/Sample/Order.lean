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
  exact ⟨refl a, refl a⟩

theorem equiv_symm {a b : α} (h : Equiv a b) : Equiv b a := by
  obtain ⟨hab, hba⟩ := h
  exact ⟨hba, hab⟩

theorem equiv_trans {a b c : α} (h : Equiv a b) (k : Equiv b c) : Equiv a c := by
  obtain ⟨hab, hba⟩ := h
  obtain ⟨hbc, hcb⟩ := k
  exact ⟨trans hab hbc, trans hcb hba⟩

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
  exact hf _ _ (hf _ _ hab)

theorem mono_comp {f : α → α} {g : α → β} (hf : Mono f) (hg : Mono g) : Mono (fun a => g (f a)) := by
  intro a b hab
  exact hg _ _ (hf _ _ hab)

theorem mono_equiv {f : α → β} (hf : Mono f) {a b : α} (h : Equiv a b) : Equiv (f a) (f b) := by
  obtain ⟨hab, hba⟩ := h
  exact ⟨hf _ _ hab, hf _ _ hba⟩

theorem mono_chain {f : α → β} (hf : Mono f) {a b c : α} (hab : a ≼ b) (hbc : b ≼ c) :
    f a ≼ f c := by
  exact hf _ _ (trans hab hbc)

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
  exact htu x (hst x hs)

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
  exact ⟨hst x hs, hsu x hs⟩

theorem both_mono_left {s t u : γ → Prop} (hst : Sub s t) : Sub (both s u) (both t u) := by
  intro x ⟨hs, hu⟩
  exact ⟨hst x hs, hu⟩

theorem both_mono_right {s t u : γ → Prop} (hst : Sub s t) : Sub (both u s) (both u t) := by
  intro x ⟨hu, hs⟩
  exact ⟨hu, hst x hs⟩

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
  · exact hsu x hs
  · exact htu x ht

theorem either_mono_left {s t u : γ → Prop} (hst : Sub s t) : Sub (either s u) (either t u) := by
  intro x h
  rcases h with hs | hu
  · exact Or.inl (hst x hs)
  · exact Or.inr hu

theorem either_mono_right {s t u : γ → Prop} (hst : Sub s t) : Sub (either u s) (either u t) := by
  intro x h
  rcases h with hu | hs
  · exact Or.inl hu
  · exact Or.inr (hst x hs)

instance : Preorder (γ → Prop) where
  le := Sub
  refl := sub_refl
  trans := sub_trans

end Subsets

end Sample
