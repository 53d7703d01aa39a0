import Dojo.Frontend

/-!
# What goals were proved by, what their proofs still leave open, and what else they prove

`instantiateMVars` stops at a metavariable with a delayed assignment (`intro`, `revert`, `cases` make them) while
anything behind it is open. So the term that it gives for a goal may be only the outside of its proof: all that is behind
such metavariables belongs to it.
-/

namespace Dojo

open Lean Meta

/-- Terms followed through every assignment. -/
structure Followed where
  /-- All the terms that make them up, instantiated. -/
  terms : Array Expr := #[]
  /-- The metavariables in those that nothing is assigned to, the last that a term mentions first. -/
  unassigned : Array MVarId := #[]

def Followed.has (followed : Followed) (goal : MVarId) : Bool := followed.unassigned.contains goal

/-- Follows terms through every assignment, delayed ones too. -/
def follow (mctx : MetavarContext) (expressions : List Expr) : Followed := Id.run do
  let mut followed : Followed := {}
  let mut visited : MVarIdSet := {}
  let mut pending := expressions
  while !pending.isEmpty do
    let e :: rest := pending | break
    pending := rest
    let whole := if e.hasExprMVar then (instantiateMVarsCore mctx e).1 else e
    followed := { followed with terms := followed.terms.push whole }
    unless whole.hasExprMVar do continue
    let mut behind := []
    for mvar in (whole.collectMVars {}).result.reverse do
      if visited.contains mvar then continue
      visited := visited.insert mvar
      match mctx.getDelayedMVarAssignmentCore? mvar with
      | some delayed => behind := .mvar delayed.mvarIdPending :: behind
      | none => followed := { followed with unassigned := followed.unassigned.push mvar }
    pending := behind ++ pending
  return followed

/-- The proofs of goals, as far as they go. -/
def proofsOf (mctx : MetavarContext) (goals : List MVarId) : Followed := follow mctx (goals.map .mvar)

/-- All that a goal says: its target, and the types and values of its hypotheses. -/
def saidBy (lctx : LocalContext) (type : Expr) : List Expr :=
  type :: (lctx.decls.toList.filterMap id).flatMap fun
    | .cdecl _ _ _ type .. => [type]
    | .ldecl _ _ _ type value .. => [type, value]

/-- The open metavariables that goals speak of, in targets and hypotheses, and in those metavariables' types. -/
partial def mentionedBy (mctx : MetavarContext) (goals : List MVarId) : Array MVarId :=
  let said := goals.flatMap fun goal =>
    match mctx.findDecl? goal with
    | some decl => saidBy decl.lctx decl.type
    | none => []
  go said #[]
where
  go (expressions : List Expr) (found : Array MVarId) : Array MVarId :=
    let expressions := expressions.filter (·.hasExprMVar)
    if expressions.isEmpty then found else
    let fresh := (follow mctx expressions).unassigned.filter (!found.contains ·)
    go (fresh.toList.filterMap fun goal => (mctx.findDecl? goal).map (·.type)) (found ++ fresh)

/--
Whether there is, without further proof, something that an open metavariable may stand for: by an instance of
`Nonempty`, or among its hypotheses. `?n : Nat` asks for nothing; `?h : P` and `?h : PLift P` ask for a proof of P. What
mentions other metavariables counts as asking: it has to hold for one choice of them all.
-/
def isInhabited (mvar : MVarId) : MetaM Bool := do
  let decl ← mvar.getDecl
  let wanted ← instantiateMVars decl.type
  if wanted.hasExprMVar then return false
  for hypothesis in decl.lctx do
    /- Lean's own hypotheses, such as a theorem's itself for recursion, prove nothing. -/
    if hypothesis.kind == .default && (← instantiateMVars hypothesis.type) == wanted then return true
  try return (← mvar.applyConst ``Classical.ofNonempty).isEmpty catch _ => return false

/-! ## Whether what proves one goal proves another -/

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
