/-!
# Boolean gates

A handful of gates defined on `Bool`, and their laws. Nearly every law is a truth table:
split on the inputs and compute.
-/

namespace Sample

/-- The gate that is false only on two true inputs. -/
def nand (a b : Bool) : Bool := !(a && b)

/-- The gate that is true only on two false inputs. -/
def nor (a b : Bool) : Bool := !(a || b)

/-- Boolean implication. -/
def imp (a b : Bool) : Bool := !a || b

/-- Boolean equivalence. -/
def same (a b : Bool) : Bool := (a && b) || (!a && !b)

/-- Exclusive or. -/
def differ (a b : Bool) : Bool := (a && !b) || (!a && b)

/-- The multiplexer: `a` when the switch is on, `b` otherwise. -/
def mux (s a b : Bool) : Bool := (s && a) || (!s && b)

/-- True when at least two inputs are. -/
def majority (a b c : Bool) : Bool := (a && b) || (a && c) || (b && c)

/-! ## Symmetry -/

theorem nand_comm (a b : Bool) : nand a b = nand b a := by
  cases a <;> cases b <;> rfl

theorem nor_comm (a b : Bool) : nor a b = nor b a := by
  cases a <;> cases b <;> rfl

theorem same_comm (a b : Bool) : same a b = same b a := by
  cases a <;> cases b <;> rfl

theorem differ_comm (a b : Bool) : differ a b = differ b a := by
  cases a <;> cases b <;> rfl

theorem majority_swap (a b c : Bool) : majority a b c = majority b a c := by
  cases a <;> cases b <;> cases c <;> rfl

theorem majority_rotate (a b c : Bool) : majority a b c = majority b c a := by
  cases a <;> cases b <;> cases c <;> rfl

/-! ## One input -/

theorem nand_self (a : Bool) : nand a a = !a := by
  cases a <;> rfl

theorem nor_self (a : Bool) : nor a a = !a := by
  cases a <;> rfl

theorem same_self (a : Bool) : same a a = true := by
  cases a <;> rfl

theorem differ_self (a : Bool) : differ a a = false := by
  cases a <;> rfl

theorem imp_refl (a : Bool) : imp a a = true := by
  cases a <;> rfl

theorem imp_true (a : Bool) : imp a true = true := by
  cases a <;> rfl

theorem imp_false (a : Bool) : imp a false = !a := by
  cases a <;> rfl

theorem true_imp (a : Bool) : imp true a = a := by
  cases a <;> rfl

theorem same_true (a : Bool) : same a true = a := by
  cases a <;> rfl

theorem differ_false (a : Bool) : differ a false = a := by
  cases a <;> rfl

theorem differ_true (a : Bool) : differ a true = !a := by
  sorry

theorem differ_not (a : Bool) : differ a (!a) = true := by
  cases a <;> rfl

theorem same_not (a : Bool) : same a (!a) = false := by
  cases a <;> rfl

/-! ## Two inputs -/

theorem not_nand (a b : Bool) : (!nand a b) = (a && b) := by
  cases a <;> cases b <;> rfl

theorem not_nor (a b : Bool) : (!nor a b) = (a || b) := by
  cases a <;> cases b <;> rfl

theorem not_differ (a b : Bool) : (!differ a b) = same a b := by
  cases a <;> cases b <;> rfl

theorem not_imp (a b : Bool) : (!imp a b) = (a && !b) := by
  cases a <;> cases b <;> rfl

theorem nand_eq_or (a b : Bool) : nand a b = (!a || !b) := by
  cases a <;> cases b <;> rfl

theorem nor_eq_and (a b : Bool) : nor a b = (!a && !b) := by
  cases a <;> cases b <;> rfl

theorem imp_contra (a b : Bool) : imp a b = imp (!b) (!a) := by
  cases a <;> cases b <;> rfl

theorem same_not_not (a b : Bool) : same (!a) (!b) = same a b := by
  cases a <;> cases b <;> rfl

theorem differ_not_not (a b : Bool) : differ (!a) (!b) = differ a b := by
  cases a <;> cases b <;> rfl

theorem differ_not_left (a b : Bool) : differ (!a) b = same a b := by
  cases a <;> cases b <;> rfl

theorem same_not_right (a b : Bool) : same a (!b) = differ a b := by
  sorry

theorem same_eq_imp (a b : Bool) : same a b = (imp a b && imp b a) := by
  cases a <;> cases b <;> rfl

theorem or_eq_nand (a b : Bool) : (a || b) = nand (nand a a) (nand b b) := by
  cases a <;> cases b <;> rfl

theorem and_eq_nor (a b : Bool) : (a && b) = nor (nor a a) (nor b b) := by
  cases a <;> cases b <;> rfl

theorem and_eq_nand (a b : Bool) : (a && b) = nand (nand a b) (nand a b) := sorry

theorem imp_eq_nand (a b : Bool) : imp a b = nand a (nand b b) := by
  cases a <;> cases b <;> rfl

theorem mux_same (s a : Bool) : mux s a a = a := by
  cases s <;> cases a <;> rfl

theorem mux_true_false (s : Bool) : mux s true false = s := by
  cases s <;> rfl

theorem mux_false_true (s : Bool) : mux s false true = !s := by
  cases s <;> rfl

theorem majority_self (a b : Bool) : majority a a b = a := by
  cases a <;> cases b <;> rfl

theorem majority_true (a b : Bool) : majority true a b = (a || b) := by
  cases a <;> cases b <;> rfl

theorem majority_false (a b : Bool) : majority false a b = (a && b) := by
  cases a <;> cases b <;> rfl

/-! ## Three inputs -/

theorem differ_assoc (a b c : Bool) : differ (differ a b) c = differ a (differ b c) := by
  cases a <;> cases b <;> cases c <;> rfl

theorem same_assoc (a b c : Bool) : same (same a b) c = same a (same b c) := by
  cases a <;> cases b <;> cases c <;> rfl

theorem mux_not (s a b : Bool) : mux (!s) a b = mux s b a := by
  cases s <;> cases a <;> cases b <;> rfl

theorem not_mux (s a b : Bool) : (!mux s a b) = mux s (!a) (!b) := by
  cases s <;> cases a <;> cases b <;> rfl

theorem not_majority (a b c : Bool) : (!majority a b c) = majority (!a) (!b) (!c) := by
  cases a <;> cases b <;> cases c <;> rfl

theorem and_differ (a b c : Bool) : (a && differ b c) = differ (a && b) (a && c) := by
  cases a <;> cases b <;> cases c <;> rfl

theorem imp_and (a b c : Bool) : imp a (b && c) = (imp a b && imp a c) := by
  cases a <;> cases b <;> cases c <;> rfl

theorem or_imp (a b c : Bool) : imp (a || b) c = (imp a c && imp b c) := by
  cases a <;> cases b <;> cases c <;> rfl

theorem and_imp (a b c : Bool) : imp (a && b) c = imp a (imp b c) := by
  cases a <;> cases b <;> cases c <;> rfl

theorem majority_eq_mux (a b c : Bool) : majority a b c = mux (differ a b) c a := by
  sorry

/-! ## Hypotheses -/

theorem eq_of_same {a b : Bool} (h : same a b = true) : a = b := by
  cases a <;> cases b <;> simp_all [same]

theorem eq_of_not_differ {a b : Bool} (h : differ a b = false) : a = b := by
  cases a <;> cases b <;> simp_all [differ]

theorem left_of_nor {a b : Bool} (h : nor a b = true) : a = false := by
  cases a <;> cases b <;> simp_all [nor]

theorem right_of_nor {a b : Bool} (h : nor a b = true) : b = false := by
  cases a <;> cases b <;> simp_all [nor]

theorem left_of_not_nand {a b : Bool} (h : nand a b = false) : a = true := by
  cases a <;> cases b <;> simp_all [nand]

theorem imp_elim {a b : Bool} (h : imp a b = true) (ha : a = true) : b = true := by
  cases a <;> cases b <;> simp_all [imp]

theorem imp_elim_not {a b : Bool} (h : imp a b = true) (hb : b = false) : a = false := by
  cases a <;> cases b <;> simp_all [imp]

theorem same_elim {a b : Bool} (h : same a b = true) (ha : a = true) : b = true := by
  cases a <;> cases b <;> simp_all [same]

theorem differ_elim {a b : Bool} (h : differ a b = true) (ha : a = true) : b = false := by
  cases a <;> cases b <;> simp_all [differ]

theorem right_of_not_nand {a b : Bool} (h : nand a b = false) : b = true := by
  sorry

end Sample
