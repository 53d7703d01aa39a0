import Dojo.Run

/-!
# What goals were proved by, and what their proofs still leave open

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

end Dojo
