import Dojo.Canonical
import Dojo.States

/-!
# `dojo.digest`: texts that identify the goals of a state

Two goals have the same digest exactly if their hypotheses (in order) and their targets are the same instantiated terms.
The names of hypotheses, binders, universes and metavariables do not matter, nor does the way Lean prints them. But it
matters whether a proof can write a hypothesis's name. The digest is the canonical text itself; clients may hash it.
-/

namespace Dojo

open Lean

/-- A hypothesis, instantiated. -/
private structure Hypothesis where
  id : FVarId
  /-- Whether a proof can refer to it by name. -/
  writable : Bool
  type : Expr
  value? : Option Expr

/-- A goal's hypotheses and its target. -/
private structure Contents where
  hypotheses : Array Hypothesis
  target : Expr

private def contentsOf (mctx : MetavarContext) (decl : MetavarDecl) : Contents :=
  let whole (e : Expr) : Expr := (instantiateMVarsCore mctx e).1
  let ordinary := decl.lctx.decls.toArray.filterMap id |>.filter (·.kind == .default)
  let youngest := ordinary.foldl (init := ({} : NameMap FVarId)) fun known one => known.insert one.userName one.fvarId
  let hypotheses := ordinary.map fun one =>
    { id := one.fvarId
      writable := !one.userName.hasMacroScopes && youngest.find? one.userName == some one.fvarId
      type := whole one.type
      value? := one.value?.map whole }
  { hypotheses, target := whole decl.type }

/-- The canonical text of a single term, and the universes and variables that it numbers, in order. -/
private structure Spelt where
  text : String
  universes : Array Name
  variables : Array Name

/-- A cache of spelt terms: the goals of a proof share most of their hypotheses. -/
abbrev SpeltTerms := Known ExprStructEq Spelt

/-- The numbers given to the names in a goal, or in all goals of a state, which may share some. -/
private structure Numbering where
  universes : Numbers := {}
  variables : Numbers := {}

private def inOrder (numbers : Numbers) : Array Name :=
  numbers.fold (init := Array.replicate numbers.size .anonymous) fun names name place => names.set! place name

private def spell (e : Expr) : StateM SpeltTerms Spelt := do
  if let some known := (← get).find? ⟨e⟩ then return known
  let universes := (collectLevelParams {} e).params
  let (text, variables) := canonical e (numbered universes)
  let spelt := { text, universes, variables := inOrder variables }
  modify (·.insert ⟨e⟩ spelt)
  return spelt

private def numbersOf (numbers : Numbers) (names : Array Name) : String × Numbers := Id.run do
  let mut numbers := numbers
  let mut text := ""
  for name in names do
    unless numbers.contains name do numbers := numbers.insert name numbers.size
    text := s!"{text} {(numbers.find? name).getD 0}"
  return (text, numbers)

/-- The text of a term as a part of a goal: its own text, and the numbers of its universes and variables in the goal. -/
private def termText (numbering : Numbering) (e : Expr) : StateM SpeltTerms (String × Numbering) := do
  let spelt ← spell e
  let (levels, universes) := numbersOf numbering.universes spelt.universes
  let (names, variables) := numbersOf numbering.variables spelt.variables
  return (s!"{spelt.text}[{levels} :{names}]", { universes, variables })

/-- The text of a goal. Variables are numbered in the order of their first mention. -/
private def Contents.text (contents : Contents) (numbering : Numbering) : StateM SpeltTerms (String × Numbering) := do
  let mut numbering := numbering
  let mut lines := #[]
  for one in contents.hypotheses do
    let (type, more) ← termText numbering one.type
    numbering := more
    let mut value := ""
    if let some e := one.value? then
      let (text, more) ← termText numbering e
      value := text
      numbering := more
    lines := lines.push s!"{if one.writable then "named" else "nameless"}|{type}|{value}"
    let variables := numbering.variables
    unless variables.contains one.id.name do
      numbering := { numbering with variables := variables.insert one.id.name variables.size }
  let (target, more) ← termText numbering contents.target
  return ("\n".intercalate (lines.push target).toList, more)

/-- The digest of a single goal, with a numbering of its own. -/
private def Contents.alone (contents : Contents) : StateM SpeltTerms String :=
  Prod.fst <$> contents.text {}

/-- The digest of a single goal; `none` if there is no such goal. -/
def goalDigest? (mctx : MetavarContext) (goal : MVarId) : StateM SpeltTerms (Option String) :=
  (mctx.findDecl? goal).mapM fun decl => (contentsOf mctx decl).alone

private def digest (request : Request) : DojoM Json := do
  let state ← getState (request.nat "stateId")
  let contents := state.goals.filterMap fun goal => (state.mctx.findDecl? goal).map (contentsOf state.mctx)
  let together : StateM SpeltTerms (Array String × Numbering) :=
    contents.foldlM (init := (#[], {})) fun (texts, numbering) one => do
      let (text, numbering) ← one.text numbering
      return (texts.push text, numbering)
  let ((texts, _), spelt) := together.run {}
  let each := (contents.mapM Contents.alone).run' spelt |>.run
  return record [("goals", toJson texts), ("each", toJson each)]

def digestCommands : List Command := [
  { name := "dojo.digest", fields := [required .natural "stateId"], run := digest }
]

end Dojo
