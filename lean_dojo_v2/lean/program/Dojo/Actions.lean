import Dojo.Proofs

/-!
# Steps that are given as terms: Pantograph's `expr`, `have`, `let` and `draft`
-/

namespace Dojo

open Lean Elab Meta Tactic

/-- An error that stands nowhere in a text. -/
def failPlainly {α} (message : MessageData) : MetaM α := do
  throw <| .error .missing (← addMessageContext message)

/-- Gives the first goal a value, and puts goals in its place. -/
private def replaceGoal (value : Expr) (goals : List MVarId) : TacticM Unit := do
  let goal :: others ← getGoals | failPlainly "no goals"
  if (follow (← getMCtx) [value]).has goal then failPlainly "the term contains the goal that it is to fill"
  goal.assign value
  setGoals (goals ++ others)

/-- Elaborates a term for the first goal, in its context; `_` and `?_` in it become goals. -/
private def withHoles {α} (stx : Syntax) (act : Expr → Expr → List MVarId → TacticM α) : TacticM α :=
  withMainContext do
    let type ← getMainTarget
    let (term, goals) ← elabTermWithHoles stx type .anonymous (allowNaturalHoles := true)
    act type term goals

/-- A term for the goal. -/
def assignTerm (stx : Syntax) : TacticM Unit :=
  withHoles stx fun _ term goals => replaceGoal term goals

/--
Puts a new goal in the place of each `sorry` of a term; with the goals, in order. A `sorry` is `sorryAx T false`, or with
the place that it stands at `sorryAx (Name → T) false place`.
-/
def withoutSorry (e : Expr) (userName : Name := .anonymous) : MetaM (Expr × List MVarId) := do
  let goals ← IO.mkRef #[]
  let pre (e : Expr) : MetaM TransformStep := do
    unless e.isSorry do return .continue
    let args := e.getAppArgs
    let type := if args.size < 3 then args[0]! else args[0]!.bindingBody!
    if type.hasSorry then failPlainly "a `sorry` whose type has a `sorry` cannot become a goal"
    let goal ← mkFreshExprSyntheticOpaqueMVar type userName
    goals.modify (·.push goal.mvarId!)
    return .done goal
  let whole ← Meta.transform e (pre := pre)
  return (whole, (← goals.get).toList)

/-- A term whose `sorry`s become goals too. -/
def draftTerm (stx : Syntax) : TacticM Unit :=
  withHoles stx fun type term goals => do
    /- The draft as a whole has the type before holes are made in it; this settles what is left to the unifier.
    Pantograph uses a name up here: so the goals get the same numbers. -/
    discard mkFreshId
    discard <| isDefEq type (← inferType term)
    let (drafted, more) ← withoutSorry (← instantiateMVars term)
    replaceGoal drafted (goals ++ more)

/-- `have binder : type` or `let binder : type`: a goal for it, and then the goal with it. -/
def branchOn (stx : Syntax) (binder : Name) (isLet : Bool) : TacticM Unit := withMainContext do
  let goal ← getMainGoal
  let target ← getMainTarget
  let tag ← goal.getTag
  let type ← Term.elabType stx
  let shown ← mkFreshExprSyntheticOpaqueMVar type (if isLet then binder else .anonymous)
  let rest (fvar : Expr) : TacticM (Expr × MVarId) := do
    let rest ← mkFreshExprSyntheticOpaqueMVar target tag
    let value ← if isLet then mkLetFVars #[fvar] rest (usedLetOnly := false)
      else pure (mkApp (← mkLambdaFVars #[fvar] rest (usedLetOnly := false)) shown)
    return (value, rest.mvarId!)
  let (value, rest) ← if isLet then withLetDecl binder type shown rest else withLocalDeclD binder type rest
  replaceGoal value [shown.mvarId!, rest]

end Dojo
