import Dojo.Proofs

/-!
# `goal.subsume`: whether what proves one goal proves another
-/

namespace Dojo

open Lean Meta

/-- What was found: `none`, `cycle`, or `subsumed`, and which goal it is. -/
structure Subsumption where
  result : String := "none"
  which? : Option MVarId := none

private structure Local where
  fvar : Expr
  type : Expr
  value? : Option Expr

private structure Described where
  type : Expr
  locals : List Local

private def describeGoal (mctx : MetavarContext) (goal : MVarId) : Described :=
  let whole (e : Expr) := (instantiateMVarsCore mctx e).1
  let decl := mctx.getDecl goal
  let locals := (decl.lctx.decls.toList.filterMap id).map fun
    | .cdecl _ id _ type .. => { fvar := .fvar id, type := whole type, value? := none }
    | .ldecl _ id _ type value .. => { fvar := .fvar id, type := whole type, value? := some (whole value) }
  { type := whole decl.type, locals }

/-- Their hypotheses, and the ones of ours that stand for them. -/
private structure Image where
  source : Array Expr := #[]
  target : Array Expr := #[]

private def Image.move (image : Image) (e : Expr) : Expr := e.replaceFVars image.source image.target

/-- Finds their hypotheses among ours, in order; each of ours stands for one of theirs at most. -/
private def embed? (theirs ours : List Local) : MetaM (Option Image) := do
  let mut image : Image := {}
  let mut rest := ours
  for one in theirs do
    if one.type.hasExprMVar then return none
    let mut found? := none
    while found?.isNone do
      let mine :: others := rest | return none
      rest := others
      if ← fits image one mine then found? := some mine
    let some found := found? | return none
    image := { source := image.source.push one.fvar, target := image.target.push found.fvar }
  return some image
where
  fits (image : Image) (one mine : Local) : MetaM Bool := do
    unless ← isDefEqGuarded (image.move one.type) mine.type do return false
    match one.value?, mine.value? with
    | none, none => return true
    | some theirs, some ours => isDefEqGuarded (image.move theirs) ours
    | _, _ => return false

/-- Compares a goal with a candidate, which lives in `source?` if that is another state. -/
private def compare (goal candidate : MVarId) (source? : Option MetavarContext) : MetaM String := goal.withContext do
  let mctx := source?.getD (← getMCtx)
  let theirs := describeGoal mctx candidate
  let ours := describeGoal (← getMCtx) goal
  if theirs.type.hasExprMVar || !(← isProp ours.type) then return "none"
  let proofs := proofsOf mctx [candidate]
  let isOpen := !proofs.unassigned.isEmpty
  /- Of another state, only finished proofs count. -/
  if source?.isSome && isOpen then return "none"
  let some image ← embed? theirs.locals ours.locals | return "none"
  unless ← isDefEqGuarded (image.move theirs.type) ours.type do return "none"
  if proofs.has goal then
    return if theirs.locals.length == ours.locals.length then "cycle" else "none"
  /- What is still open cannot be moved to other hypotheses. -/
  if isOpen && image.source != image.target then return "none"
  let solution := image.move (instantiateMVarsCore mctx (.mvar candidate)).1
  check solution
  goal.assign solution
  return "subsumed"

/-- The first of some goals whose proof, or whose goal itself, proves a goal; if it is `subsumed`, it is filled. -/
def findSubsumption (goal : MVarId) (candidates : List MVarId) (source? : Option MetavarContext) :
    MetaM Subsumption := do
  for candidate in candidates do
    let saved ← saveState
    let result ← try compare goal candidate source? catch _ => saved.restore; pure "none"
    if result != "none" then return { result, which? := some candidate }
  return {}

end Dojo
