/-! Ordinary Lean, for V8 to see which of Lean's functions run often (`warm_up.py`). -/

namespace WarmUp

inductive Tree (α : Type) where
  | leaf
  | node (left : Tree α) (value : α) (right : Tree α)
  deriving Repr, DecidableEq

namespace Tree

variable {α : Type}

def size : Tree α → Nat
  | leaf => 0
  | node left _ right => left.size + 1 + right.size

def mirror : Tree α → Tree α
  | leaf => leaf
  | node left value right => node right.mirror value left.mirror

@[simp] theorem mirror_mirror (tree : Tree α) : tree.mirror.mirror = tree := by
  induction tree with
  | leaf => rfl
  | node left value right ihl ihr => simp [mirror, ihl, ihr]

theorem size_mirror (tree : Tree α) : tree.mirror.size = tree.size := by
  induction tree with
  | leaf => rfl
  | node left value right ihl ihr =>
    simp only [mirror, size, ihl, ihr]
    omega

end Tree

def sum : List Nat → Nat
  | [] => 0
  | n :: rest => n + sum rest

theorem sum_append (xs ys : List Nat) : sum (xs ++ ys) = sum xs + sum ys := by
  induction xs with
  | nil => simp [sum]
  | cons x xs ih => rw [List.cons_append, sum, sum, ih, Nat.add_assoc]

theorem and_swap' (p q r : Prop) : p ∧ q ∨ r ↔ (p ∨ r) ∧ (q ∨ r) := by
  constructor
  · rintro (⟨hp, hq⟩ | hr)
    · exact ⟨Or.inl hp, Or.inl hq⟩
    · exact ⟨Or.inr hr, Or.inr hr⟩
  · intro ⟨h, h'⟩
    cases h with
    | inr hr => exact Or.inr hr
    | inl hp =>
      cases h' with
      | inr hr => exact Or.inr hr
      | inl hq => exact Or.inl ⟨hp, hq⟩

theorem exists_larger (n : Nat) : ∃ m, n < m ∧ m % 2 = 0 := by
  refine ⟨2 * n + 2, ?_, ?_⟩ <;> omega

theorem square (a b : Nat) : (a + b) * (a + b) = a * a + 2 * (a * b) + b * b := by
  have h : (a + b) * (a + b) = a * (a + b) + b * (a + b) := Nat.add_mul ..
  rw [h, Nat.mul_add, Nat.mul_add, Nat.mul_comm b a]
  omega

theorem eq_of_bools (a b : Bool) : (a && b) = (b && a) := by
  cases a <;> cases b <;> decide

theorem through (f g : Nat → Nat) (h : ∀ n, f n = g n) (n : Nat) : f (g n) = g (f n) := by
  calc f (g n) = g (g n) := h _
    _ = g (f n) := by simp [h]

theorem grinds (a b c : Nat) (h : a = b) (h' : b = c) : c + a = b + b := by
  grind

theorem least (s : List Nat) (h : s ≠ []) : ∃ m ∈ s, ∀ n ∈ s, m ≤ n := by
  induction s with
  | nil => contradiction
  | cons x xs ih =>
    by_cases hx : xs = []
    · subst hx
      exact ⟨x, by simp, by simp⟩
    · obtain ⟨m, hm, hle⟩ := ih hx
      by_cases hmx : x ≤ m
      · refine ⟨x, by simp, fun n hn => ?_⟩
        simp only [List.mem_cons] at hn
        rcases hn with rfl | hn
        · exact Nat.le_refl _
        · exact Nat.le_trans hmx (hle n hn)
      · refine ⟨m, by simp [hm], fun n hn => ?_⟩
        simp only [List.mem_cons] at hn
        rcases hn with rfl | hn
        · omega
        · exact hle n hn

/-! Definitions of other forms. -/

inductive Term where
  | lit (n : Int)
  | var (name : String)
  | add (a b : Term)
  | mul (a b : Term)
  | neg (a : Term)
  deriving Inhabited

structure Point (α : Type u) where
  x : α
  y : α
  deriving BEq, Repr

class Shape (α : Type u) where
  area : α → Nat
  scale : Nat → α → α
  area_scale : ∀ k a, area (scale k a) = k * area a

structure Box where
  width : Nat
  height : Nat

instance : Shape Box where
  area box := box.width * box.height
  scale k box := { box with width := k * box.width }
  area_scale k box := by simp [Nat.mul_assoc]

abbrev Store := String → Int

namespace Term

def eval (store : Store) : Term → Int
  | lit n => n
  | var name => store name
  | add a b => a.eval store + b.eval store
  | mul a b => a.eval store * b.eval store
  | neg a => -a.eval store

def simplify : Term → Term
  | add a b =>
    match a.simplify, b.simplify with
    | lit m, lit n => lit (m + n)
    | a, b => add a b
  | neg (neg a) => a.simplify
  | other => other

theorem eval_simplify (store : Store) (term : Term) : term.simplify.eval store = term.eval store := by
  fun_induction simplify term <;> simp_all [eval]

end Term

def insert (n : Nat) : List Nat → List Nat
  | [] => [n]
  | m :: rest => if n ≤ m then n :: m :: rest else m :: insert n rest

def sort (ns : List Nat) : List Nat := ns.foldr insert []

def digits (n : Nat) : List Nat :=
  if n < 10 then [n] else digits (n / 10) ++ [n % 10]
termination_by n

mutual
def isEven : Nat → Bool
  | 0 => true
  | n + 1 => isOdd n
def isOdd : Nat → Bool
  | 0 => false
  | n + 1 => isEven n
end

def evens (ns : List Nat) : List Nat := go ns []
where
  go : List Nat → List Nat → List Nat
    | [], found => found.reverse
    | n :: rest, found => if n % 2 = 0 then go rest (n :: found) else go rest found

/-! Proofs about them. -/

theorem length_insert (n : Nat) (ns : List Nat) : (insert n ns).length = ns.length + 1 := by
  induction ns with
  | nil => rfl
  | cons m rest ih =>
    simp only [insert]
    split
    · rfl
    · simp [ih]

theorem mem_insert (k n : Nat) (ns : List Nat) : k ∈ insert n ns ↔ k = n ∨ k ∈ ns := by
  induction ns with
  | nil => simp [insert]
  | cons m rest ih =>
    simp only [insert]
    split <;> simp_all [or_left_comm]

theorem length_sort (ns : List Nat) : (sort ns).length = ns.length := by
  induction ns with
  | nil => rfl
  | cons n rest ih => simpa [sort, length_insert] using ih

theorem even_or_odd (n : Nat) : isEven n = !isOdd n := by
  induction n with
  | zero => rfl
  | succ n ih => simp [isEven, isOdd, ih]

theorem between (a b c d : Int) (h : a < b) (h' : 2 * c + d ≤ 3 * a) (h'' : b ≤ c) : d < c ∨ d ≤ a := by
  omega

theorem halves (n : Nat) : n / 2 + (n + 1) / 2 = n ∧ (n % 2 = 0 ∨ n % 2 = 1) := by
  constructor <;> omega

theorem map_filter (f : Nat → Nat) (ns : List Nat) (h : ∀ n ∈ ns, 0 < f n) : ((ns.map f).filter (0 < ·)) = ns.map f := by
  rw [List.filter_eq_self]
  intro n hn
  obtain ⟨m, hm, rfl⟩ := List.mem_map.mp hn
  simpa using h m hm

theorem exists_swap {α β : Type} {p : α → β → Prop} : (∃ a, ∃ b, p a b) ↔ ∃ b, ∃ a, p a b :=
  ⟨fun ⟨a, b, h⟩ => ⟨b, a, h⟩, fun ⟨b, a, h⟩ => ⟨a, b, h⟩⟩

theorem not_all {α : Type} {p : α → Prop} : (¬∀ a, p a) ↔ ∃ a, ¬p a := by
  constructor
  · intro h
    apply Classical.byContradiction
    intro none
    exact h fun a => Classical.byContradiction fun ha => none ⟨a, ha⟩
  · rintro ⟨a, ha⟩ h
    exact ha (h a)

theorem add_le (a b c : Nat) (h : a ≤ b) : a + c ≤ b + c := by
  induction c with
  | zero => exact h
  | succ c ih =>
    show a + (c + 1) ≤ b + (c + 1)
    have step : a + c + 1 ≤ b + c + 1 := Nat.succ_le_succ ih
    rwa [Nat.add_assoc, Nat.add_assoc] at step

theorem table : ∀ a : Fin 6, ∀ b : Fin 6, a.val + b.val = b.val + a.val := by decide

theorem option_map {α β : Type} (f : α → β) (o : Option α) : (o.map f).isSome = o.isSome := by
  cases o <;> rfl

theorem distrib (a b c : Int) : (a + b) * c - b * c = a * c := by
  rw [Int.add_mul, Int.add_sub_cancel]

end WarmUp
