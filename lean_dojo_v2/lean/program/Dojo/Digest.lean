import Dojo.Canonical
import Dojo.States

/-!
# `dojo.digest`: what the goals of a state say

Two goals share a digest exactly if they are the same terms: hypotheses in order, and target, instantiated. Names of
hypotheses, binders, universes and metavariables do not matter, nor does how Lean prints them; whether a hypothesis *has*
a name that a proof can write does. The digest is the canonical text itself: whoever keeps many of them hashes it.
-/

namespace Dojo

open Lean

/-- A hypothesis, instantiated. -/
private structure Hypothesis where
  id : FVarId
  /-- Whether a proof can write its name. -/
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

private def Contents.terms (contents : Contents) : Array Expr :=
  contents.hypotheses.foldl (init := #[]) (fun all one => (all.push one.type) ++ one.value?.toArray) |>.push contents.target

/-- The text of a goal. Variables are numbered by their first mention, all over a state: goals may share some. -/
private def Contents.text (contents : Contents) (universes : Numbers) (variables : Numbers) : String × Numbers := Id.run do
  let mut variables := variables
  let mut lines := #[]
  for one in contents.hypotheses do
    let (type, more) := canonical one.type universes (variables := variables)
    variables := more
    let mut value := ""
    if let some e := one.value? then
      let (text, more) := canonical e universes (variables := variables)
      value := text
      variables := more
    lines := lines.push s!"{if one.writable then "named" else "nameless"}|{type}|{value}"
    unless variables.contains one.id.name do variables := variables.insert one.id.name variables.size
  let (target, more) := canonical contents.target universes (variables := variables)
  return ("\n".intercalate (lines.push target).toList, more)

private def universesOf (terms : Array Expr) : Numbers :=
  numbered (terms.foldl (init := ({} : CollectLevelParams.State)) collectLevelParams).params

/-- The digest of a goal by itself: universes and variables are numbered in it alone. -/
private def Contents.alone (contents : Contents) : String :=
  (contents.text (universesOf contents.terms) {}).1

/-- The digest of a goal by itself; none where there is no such goal. -/
def goalDigest? (mctx : MetavarContext) (goal : MVarId) : Option String :=
  (mctx.findDecl? goal).map fun decl => (contentsOf mctx decl).alone

private def digest (request : Request) : DojoM Json := do
  let state ← getState (request.nat "stateId")
  let contents := state.goals.filterMap fun goal => (state.mctx.findDecl? goal).map (contentsOf state.mctx)
  let terms := contents.foldl (init := #[]) fun all one => all ++ one.terms
  let universes := universesOf terms
  let (texts, _) := contents.foldl (init := ((#[] : Array String), ({} : Numbers))) fun (texts, variables) one =>
    let (text, variables) := one.text universes variables
    (texts.push text, variables)
  return record [
    ("goals", toJson texts), ("each", toJson (contents.map (·.alone))), ("hasSorry", .bool (terms.any (·.hasSorry)))]

def digestCommands : List Command := [
  { name := "dojo.digest", fields := [required .natural "stateId"], run := digest }
]

end Dojo
