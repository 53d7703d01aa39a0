import Sample.Logic
import Sample.Bool
import Sample.Nat
import Sample.List

/-! A small library of elementary facts, to try tracing, training and proving on. -/
