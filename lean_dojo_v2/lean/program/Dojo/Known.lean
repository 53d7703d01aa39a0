import Lean

/-!
# A map whose operations are Lean's own compiled ones

Lean interprets this program. It compiles a map's operations anew for each type of keys, and what is compiled anew for this
program is interpreted with it. With `nospecialize`, the operations are those that Lean itself has as machine code, which
take a third of the time.
-/

namespace Dojo

open Lean

/-- What is known of each key. -/
structure Known (α β : Type) [BEq α] [Hashable α] where
  private map : PersistentHashMap α β := {}
  size : Nat := 0
  deriving Inhabited

namespace Known

@[noinline, nospecialize] private def find {α β : Type} [BEq α] [Hashable α] (map : PersistentHashMap α β) (key : α) :
    Option β :=
  map.find? key

@[noinline, nospecialize] private def put {α β : Type} [BEq α] [Hashable α] (map : PersistentHashMap α β) (key : α)
    (value : β) : PersistentHashMap α β :=
  map.insert key value

variable {α β : Type} [BEq α] [Hashable α]

@[inline] def find? (known : Known α β) (key : α) : Option β := find known.map key

@[inline] def contains (known : Known α β) (key : α) : Bool := (find known.map key).isSome

/-- Adds a key that is not known yet. -/
@[inline] def insert (known : Known α β) (key : α) (value : β) : Known α β :=
  { map := put known.map key value, size := known.size + 1 }

@[inline] def fold {σ : Type} (known : Known α β) (init : σ) (f : σ → α → β → σ) : σ := known.map.foldl f init

end Known

end Dojo
