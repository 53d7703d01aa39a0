/-! Derived instances: what is compared, shown, ordered and counted. -/

namespace Deriving

inductive Color where
  | red
  | green
  | blue
  deriving Repr, DecidableEq, BEq, Hashable, Inhabited, Ord

def Color.next : Color → Color
  | red => green
  | green => blue
  | blue => red

theorem Color.next_three (c : Color) : c.next.next.next = c := by
  cases c <;> rfl

theorem Color.next_ne (c : Color) : c.next ≠ c := by
  cases c <;> decide

theorem Color.exists_prev (c : Color) : ∃ d : Color, d.next = c := by
  match c with
  | red => exact ⟨blue, rfl⟩
  | green => exact ⟨red, rfl⟩
  | blue => exact ⟨green, rfl⟩

structure Card where
  color : Color
  value : Nat
  deriving Repr, DecidableEq, Inhabited, Hashable

theorem default_card : (default : Card).color = .red := rfl

theorem cards_differ : Card.mk .red 1 ≠ Card.mk .blue 1 := by
  decide

inductive Shape where
  | circle (r : Nat)
  | group (parts : List Shape)
  deriving Repr, Inhabited, BEq

#guard (repr (Shape.group [.circle 1])).pretty = "Deriving.Shape.group [Deriving.Shape.circle 1]"
#guard Shape.circle 1 == Shape.circle 1
#guard compare Color.red Color.blue = .lt
#guard (default : Color) = .red

inductive Vector' (α : Type u) : Nat → Type u where
  | nil : Vector' α 0
  | cons (x : α) (xs : Vector' α n) : Vector' α (n + 1)
  deriving Repr

def Vector'.map (f : α → β) : Vector' α n → Vector' β n
  | nil => nil
  | cons x xs => cons (f x) (xs.map f)

theorem Vector'.map_id (xs : Vector' α n) : xs.map id = xs := by
  induction xs with
  | nil => rfl
  | cons x xs ih => rw [Vector'.map, ih, id]

theorem Vector'.map_map (f : α → β) (g : β → γ) (xs : Vector' α n) :
    (xs.map f).map g = xs.map (g ∘ f) := by
  induction xs with
  | nil => rfl
  | cons x xs ih => simp [Vector'.map, ih]

end Deriving
