import Lean

/-!
# Terms as texts that can be compared

Two terms share their canonical text exactly if they are the same up to names of binders and of universes. It is a table
of their different subterms in the order of their first completion, so its length is that of the shared term and not of
the tree.
-/

namespace Dojo

open Lean

private def quotedName : Name → String
  | .anonymous => ""
  | .str parent part => s!"{quotedName parent}.{part.quote}"
  | .num parent part => s!"{quotedName parent}.{part}"

/-- A text that no other name has: programs can make names that Lean prints alike. -/
def exactName (name : Name) : String :=
  let text := name.toString
  if text.contains '»' then quotedName name else text

/-- Numbers of names, by their first mention. -/
abbrev Numbers := Std.HashMap Name Nat

private structure Table where
  rows : Array String := #[]
  places : Std.HashMap String Nat := {}
  known : Std.HashMap ExprStructEq Nat := {}
  variables : Numbers

/-- How constants and universe parameters are written. -/
private structure Spelling where
  constant : Name → String
  universes : Numbers

private partial def levelText (universes : Numbers) : Level → String
  | .zero => "0"
  | .succ level => s!"S({levelText universes level})"
  | .max a b => s!"max({levelText universes a},{levelText universes b})"
  | .imax a b => s!"imax({levelText universes a},{levelText universes b})"
  | .param name =>
    match universes[name]? with
    | some place => s!"u{place}"
    | none => s!"?{name}"
  | .mvar id => s!"?{id.name}"

private def literalText : Literal → String
  | .natVal n => toString n
  | .strVal text => text.quote

private def binderDigit : BinderInfo → String
  | .default => "0"
  | .implicit => "1"
  | .strictImplicit => "2"
  | .instImplicit => "3"

private def enterRow (row : String) : StateM Table Nat := fun table =>
  match table.places[row]? with
  | some place => (place, table)
  | none =>
    let place := table.rows.size
    (place, { table with rows := table.rows.push row, places := table.places.insert row place })

private def numberOf (name : Name) : StateM Table Nat := fun table =>
  match table.variables[name]? with
  | some number => (number, table)
  | none =>
    let number := table.variables.size
    (number, { table with variables := table.variables.insert name number })

private partial def visitTerm (spelling : Spelling) (e : Expr) : StateM Table Nat := do
  match e with
  | .bvar i => enterRow s!"#{i}"
  | .lit literal => enterRow s!"lit {literalText literal}"
  | .mdata _ inner => visitTerm spelling inner
  | _ =>
    if let some place := (← get).known[(⟨e⟩ : ExprStructEq)]? then return place
    let place ← match e with
      | .fvar id => do enterRow s!"fvar {← numberOf id.name}"
      | .mvar id => do enterRow s!"mvar {← numberOf id.name}"
      | .sort level => enterRow s!"sort {levelText spelling.universes level}"
      | .const name levels =>
        let levels := levels.map (levelText spelling.universes)
        enterRow s!"const {spelling.constant name} {" ".intercalate levels}"
      | .app function argument => do
        let function ← visitTerm spelling function
        enterRow s!"app {function} {← visitTerm spelling argument}"
      | .lam _ type body info => do
        let type ← visitTerm spelling type
        enterRow s!"lam {binderDigit info} {type} {← visitTerm spelling body}"
      | .forallE _ type body info => do
        let type ← visitTerm spelling type
        enterRow s!"all {binderDigit info} {type} {← visitTerm spelling body}"
      | .letE _ type value body _ => do
        let type ← visitTerm spelling type
        let value ← visitTerm spelling value
        enterRow s!"let {type} {value} {← visitTerm spelling body}"
      | .proj structName index inner => do
        enterRow s!"proj {spelling.constant structName} {index} {← visitTerm spelling inner}"
      | _ => enterRow "?"
    modify fun table => { table with known := table.known.insert ⟨e⟩ place }
    return place

/-- Numbers in the order of an array. -/
def numbered (names : Array Name) : Numbers := Id.run do
  let mut numbers : Numbers := {}
  for name in names do
    unless numbers.contains name do numbers := numbers.insert name numbers.size
  return numbers

/--
The canonical text of a term. Free variables and metavariables are written by number; `variables` are those that have one
already, and all of them come back.
-/
def canonical (e : Expr) (universes : Numbers) (constant : Name → String := exactName) (variables : Numbers := {}) :
    String × Numbers :=
  let (_, table) := (visitTerm { constant, universes } e).run { variables }
  (";".intercalate table.rows.toList, table.variables)

end Dojo
