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

private def spell (e : Expr) : StateM SpeltTerms Spelt := do
  if let some known := (← get).find? ⟨e⟩ then return known
  let universes := (collectLevelParams {} e).params
  let (text, numbers) := canonical e (numbered universes)
  let places := Array.replicate numbers.size Name.anonymous
  let spelt := { text, universes, variables := numbers.fold (init := places) fun names name place => names.set! place name }
  modify (·.insert ⟨e⟩ spelt)
  return spelt

/-- Numbers names that have none yet, and returns the numbers of all of them as a text. -/
private def numbersOf (names : Array Name) : StateM Numbers String := do
  modify (names.foldl .add ·)
  let numbers ← get
  return names.foldl (init := "") fun text name => s!"{text} {(numbers.find? name).getD 0}"

private abbrev DigestM := StateT Numbering (StateM SpeltTerms)

/-- The text of a term as a part of a goal: its own text, and the numbers of its universes and variables in the goal. -/
private def termText (e : Expr) : DigestM String := do
  let spelt ← spell e
  let numbering ← get
  let (levels, universes) := (numbersOf spelt.universes).run numbering.universes
  let (names, variables) := (numbersOf spelt.variables).run numbering.variables
  set { universes, variables : Numbering }
  return s!"{spelt.text}[{levels} :{names}]"

/-- The text of a goal. Variables are numbered in the order of their first mention. -/
private def goalDigest (mctx : MetavarContext) (decl : MetavarDecl) : DigestM String := do
  let whole (e : Expr) : Expr := (instantiateMVarsCore mctx e).1
  let hypotheses := (decl.lctx.decls.toArray.filterMap id).filter (·.kind == .default)
  let youngest := hypotheses.foldl (init := ({} : NameMap FVarId)) fun known one => known.insert one.userName one.fvarId
  let mut lines := #[]
  for one in hypotheses do
    let writable := !one.userName.hasMacroScopes && youngest.find? one.userName == some one.fvarId
    let type ← termText (whole one.type)
    let value := (← one.value?.mapM fun value => termText (whole value)).getD ""
    lines := lines.push s!"{if writable then "named" else "nameless"}|{type}|{value}"
    modify fun numbering => { numbering with variables := numbering.variables.add one.fvarId.name }
  return "\n".intercalate (lines.push (← termText (whole decl.type))).toList

/-- The digest of a single goal, with a numbering of its own; `none` if there is no such goal. -/
def goalDigest? (mctx : MetavarContext) (goal : MVarId) : StateM SpeltTerms (Option String) :=
  (mctx.findDecl? goal).mapM fun decl => (goalDigest mctx decl).run' {}

private def digest (request : Request) : DojoM Json := do
  let state ← getState (request.nat "stateId")
  let together := (state.goals.filterMap state.mctx.findDecl?).mapM (goalDigest state.mctx)
  let (texts, spelt) := (together.run' {}).run {}
  let each := (state.goals.filterMapM (goalDigest? state.mctx)).run' spelt |>.run
  return record [("goals", toJson texts), ("each", toJson each)]

def digestCommands : List Command := [
  { name := "dojo.digest", fields := [required .natural "stateId"], run := digest }
]

end Dojo
