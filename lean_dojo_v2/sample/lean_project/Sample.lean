import Sample.Logic
import Sample.Connectives
import Sample.Bool
import Sample.Nat
import Sample.Int
import Sample.Order
import Sample.List
import Sample.ListMaps
import Sample.Tree

/-! A small library of elementary facts, to try tracing, training and proving on. -/
