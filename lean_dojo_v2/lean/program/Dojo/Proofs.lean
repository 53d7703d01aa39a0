import Dojo.Frontend

/-!
# The proofs of goals, what they leave open, and what else they prove

`instantiateMVars` stops at a metavariable with a delayed assignment (from `intro`, `revert`, `cases`) as long as anything
behind it is open. So the term that it returns for a goal may be only a part of its proof; the rest is behind such
metavariables.
-/

namespace Dojo

open Lean Meta

/-- Terms followed through every assignment. -/
structure Followed where
  /-- All terms that were found, instantiated. -/
  terms : Array Expr := #[]
  /-- The unassigned metavariables in them; those of one term are in reverse order. -/
  unassigned : Array MVarId := #[]

def Followed.has (followed : Followed) (goal : MVarId) : Bool := followed.unassigned.contains goal

/-- Follows terms through all assignments, including delayed ones. -/
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

/-- All terms in a goal: its target, and the types and values of its hypotheses. -/
def saidBy (lctx : LocalContext) (type : Expr) : List Expr :=
  type :: (lctx.decls.toList.filterMap id).flatMap fun
    | .cdecl _ _ _ type .. => [type]
    | .ldecl _ _ _ type value .. => [type, value]

/-- The open metavariables in the targets and hypotheses of goals, and in the types of these metavariables. -/
partial def mentionedBy (mctx : MetavarContext) (goals : List MVarId) : Array MVarId :=
  go ((goals.filterMap mctx.findDecl?).flatMap fun decl => saidBy decl.lctx decl.type) #[]
where
  go (expressions : List Expr) (found : Array MVarId) : Array MVarId :=
    let expressions := expressions.filter (·.hasExprMVar)
    if expressions.isEmpty then found else
    let fresh := (follow mctx expressions).unassigned.filter (!found.contains ·)
    go (fresh.toList.filterMap fun goal => (mctx.findDecl? goal).map (·.type)) (found ++ fresh)

/--
Whether an open metavariable can be filled without a proof: by an instance of `Nonempty`, or with a hypothesis. `?n : Nat`
needs no proof; `?h : P` and `?h : PLift P` need a proof of `P`. A type that mentions other metavariables counts as one that
needs a proof, since a single choice of all of them must work.
-/
def isInhabited (mvar : MVarId) : MetaM Bool := do
  let decl ← mvar.getDecl
  let wanted ← instantiateMVars decl.type
  if wanted.hasExprMVar then return false
  for hypothesis in decl.lctx do
    /- Lean's auxiliary hypotheses, such as the theorem itself for recursion, prove nothing. -/
    if hypothesis.kind == .default && (← instantiateMVars hypothesis.type) == wanted then return true
  try return (← mvar.applyConst ``Classical.ofNonempty).isEmpty catch _ => return false

/-! ## Whether what proves one goal proves another -/

private structure Local where
  fvar : Expr
  type : Expr
  value? : Option Expr

/-- The target and the hypotheses of a goal, instantiated. -/
private def describeGoal (mctx : MetavarContext) (goal : MVarId) : Expr × List Local :=
  let whole (e : Expr) := (instantiateMVarsCore mctx e).1
  let decl := mctx.getDecl goal
  let locals := (decl.lctx.decls.toList.filterMap id).map fun
    | .cdecl _ id _ type .. => { fvar := .fvar id, type := whole type, value? := none }
    | .ldecl _ id _ type value .. => { fvar := .fvar id, type := whole type, value? := some (whole value) }
  (whole decl.type, locals)

/-- A term in which the goal's hypotheses `image` replace the first of the candidate's. -/
private def moved (theirs : List Local) (image : Array Expr) (e : Expr) : Expr :=
  e.replaceFVars ((theirs.take image.size).map (·.fvar)).toArray image

/-- Finds the candidate's hypotheses among the goal's, in order; each of the goal's is used at most once. -/
private def embed? (theirs ours : List Local) : MetaM (Option (Array Expr)) := do
  let mut image := #[]
  let mut rest := ours
  for one in theirs do
    if one.type.hasExprMVar then return none
    let mut found? := none
    while found?.isNone do
      let mine :: others := rest | return none
      rest := others
      if ← fits image one mine then found? := some mine
    let some found := found? | return none
    image := image.push found.fvar
  return some image
where
  fits (image : Array Expr) (one mine : Local) : MetaM Bool := do
    unless ← isDefEqGuarded (moved theirs image one.type) mine.type do return false
    match one.value?, mine.value? with
    | none, none => return true
    | some value, some ours => isDefEqGuarded (moved theirs image value) ours
    | _, _ => return false

/-- Compares a goal with a candidate, which lives in `source?` if that is another state. -/
private def compare (goal candidate : MVarId) (source? : Option MetavarContext) : MetaM String := goal.withContext do
  let mctx := source?.getD (← getMCtx)
  let (claim, theirs) := describeGoal mctx candidate
  let (target, ours) := describeGoal (← getMCtx) goal
  if claim.hasExprMVar || !(← isProp target) then return "none"
  let proofs := proofsOf mctx [candidate]
  let isOpen := !proofs.unassigned.isEmpty
  /- Proofs in another state count only if they are finished. -/
  if source?.isSome && isOpen then return "none"
  let some image ← embed? theirs ours | return "none"
  unless ← isDefEqGuarded (moved theirs image claim) target do return "none"
  if proofs.has goal then
    return if theirs.length == ours.length then "cycle" else "none"
  /- Open goals cannot be moved to other hypotheses. -/
  if isOpen && theirs.map (·.fvar) != image.toList then return "none"
  let solution := moved theirs image (instantiateMVarsCore mctx (.mvar candidate)).1
  check solution
  goal.assign solution
  return "subsumed"

/--
Finds the first candidate that proves a goal, or that the goal is a copy of. The result is `subsumed`, and the goal is
assigned, or `cycle`; or else `none`.
-/
def findSubsumption (goal : MVarId) (candidates : List MVarId) (source? : Option MetavarContext) :
    MetaM (String × Option MVarId) := do
  for candidate in candidates do
    let saved ← saveState
    let result ← try compare goal candidate source? catch _ => saved.restore; pure "none"
    if result != "none" then return (result, some candidate)
  return ("none", none)

end Dojo
