/-! Structures: update, inheritance, subtypes, existence. -/

namespace Structures

structure Point where
  x : Int
  y : Int
  deriving Repr, DecidableEq

namespace Point

def origin : Point := { x := 0, y := 0 }

def flip (p : Point) : Point := { p with x := p.y, y := p.x }

theorem flip_flip (p : Point) : p.flip.flip = p := rfl

theorem ext_iff' (p q : Point) : p = q ↔ p.x = q.x ∧ p.y = q.y := by
  constructor
  · intro h
    rw [h]
    exact ⟨rfl, rfl⟩
  · intro ⟨hx, hy⟩
    cases p
    cases q
    simp_all

instance : Neg Point := ⟨fun p => ⟨-p.x, -p.y⟩⟩

theorem neg_neg (p : Point) : - -p = p := by
  show (⟨- -p.x, - -p.y⟩ : Point) = p
  simp

end Point

structure Named where
  name : String

structure Person extends Named where
  age : Nat := 18

theorem age_default : ({ name := "Ada" } : Person).age = 18 := rfl

def older (p : Person) : Person := { p with age := p.age + 1 }

theorem older_name (p : Person) : (older p).name = p.name := by
  rfl

theorem older_lt (p : Person) : p.age < (older p).age := by
  simp [older]

def Even := { n : Nat // n % 2 = 0 }

def Even.add (a b : Even) : Even :=
  ⟨a.val + b.val, by
    have ha := a.property
    have hb := b.property
    omega⟩

theorem Even.add_val (a b : Even) : (a.add b).val = a.val + b.val := rfl

theorem even_exists (a : Even) : ∃ k, a.val = 2 * k := by
  obtain ⟨n, h⟩ := a
  exact ⟨n / 2, by
    show n = 2 * (n / 2)
    omega⟩

end Structures
