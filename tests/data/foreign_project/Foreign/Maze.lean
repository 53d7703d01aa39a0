import Lean

/-! A game on a board that is drawn in the source: own syntax, macros, an elaborator, instances, notation. -/

namespace Foreign.Maze

structure Board where
  width : Nat
  here : Nat
  walls : List Nat
  deriving DecidableEq, Repr

instance : ToString Board where
  toString b := s!"{b.here} of {b.width}"

inductive Step where
  | west | east

def Board.go (b : Board) : Step → Board
  | .west => if b.walls.contains (b.here - 1) then b else { b with here := b.here - 1 }
  | .east => if b.walls.contains (b.here + 1) then b else { b with here := b.here + 1 }

def Board.Won (b : Board) : Prop := b.here = 0 ∨ b.here + 1 = b.width

instance (b : Board) : Decidable b.Won := inferInstanceAs (Decidable (_ ∨ _))

def Board.Escapes (b : Board) : Prop := ∃ steps : List Step, (steps.foldl Board.go b).Won

prefix:max "↯" => Board.Escapes

theorem escapes_of_go {b : Board} (s : Step) (h : ↯(b.go s)) : ↯b := by
  obtain ⟨steps, won⟩ := h
  exact ⟨s :: steps, won⟩

theorem escapes_of_won {b : Board} (h : b.Won) : ↯b := ⟨[], h⟩

declare_syntax_cat cell
syntax "░" : cell
syntax "▓" : cell
syntax "☺" : cell
syntax "│" cell* "│" : term

open Lean in
macro_rules
  | `(│$cells:cell*│) => do
    let mut here := 0
    let mut walls : Array (TSyntax `term) := #[]
    for i in [0:cells.size] do
      match cells[i]! with
      | `(cell| ☺) => here := i
      | `(cell| ▓) => walls := walls.push (quote i)
      | _ => pure ()
    `(Board.mk $(quote cells.size) $(quote here) [$walls,*])

macro "west" : tactic => `(tactic| refine escapes_of_go .west ?_)
macro "east" : tactic => `(tactic| refine escapes_of_go .east ?_)
elab "out" : tactic => do
  Lean.Elab.Tactic.evalTactic (← `(tactic| exact escapes_of_won (by decide)))

example : (│░ ☺ ▓│) = { width := 3, here := 1, walls := [2] } := by rfl

theorem near : ↯(│☺ ░ ▓│) := by
  out

theorem to_the_west : ↯(│░ ░ ☺ ▓ ░│) := by
  west
  west
  out

theorem to_the_east : ↯(│▓ ☺ ░ ░│) := by
  east
  east
  out

theorem both_ways (b : Board) (h : ↯(b.go .west) ∨ ↯(b.go .east)) : ↯b := by
  cases h with
  | inl h => exact escapes_of_go _ h
  | inr h => exact escapes_of_go _ h

theorem stays (b : Board) (h : b.walls.contains (b.here + 1) = true) : b.go .east = b := by
  simp [Board.go, h]
  simp_all

syntax "walk " num : tactic
macro_rules
  | `(tactic| walk 0) => `(tactic| out)
  | `(tactic| walk $n) => do
    let rest := Lean.Syntax.mkNumLit (toString (n.getNat - 1))
    `(tactic| (west; walk $rest))

theorem far : ↯(│░ ░ ░ ░ ☺ ▓ ░│) := by
  walk 4

end Foreign.Maze
