import Dojo.States

/-!
# Steps that are not tactics: terms (Pantograph's `expr`, `have`, `let`, `draft`), and steps of `conv` and `calc`
-/

namespace Dojo

open Lean Elab Meta Tactic

/-- Throws an error without a position. -/
def failPlainly {α} (message : MessageData) : MetaM α := do
  throw <| .error .missing (← addMessageContext message)

/-- Assigns a value to the first goal, and puts other goals in its place. -/
private def replaceGoal (value : Expr) (goals : List MVarId) : TacticM Unit := do
  let goal :: others ← getGoals | failPlainly "no goals"
  if (follow (← getMCtx) [value]).has goal then failPlainly "the term contains the goal that it should fill"
  goal.assign value
  setGoals (goals ++ others)

/-- Elaborates a term for the first goal, in its context; `_` and `?_` in it become goals. -/
private def withHoles {α} (stx : Syntax) (act : Expr → Expr → List MVarId → TacticM α) : TacticM α :=
  withMainContext do
    let type ← getMainTarget
    let (term, goals) ← elabTermWithHoles stx type .anonymous (allowNaturalHoles := true)
    act type term goals

def assignTerm (stx : Syntax) : TacticM Unit :=
  withHoles stx fun _ term goals => replaceGoal term goals

/--
Replaces each `sorry` of a term with a new goal, and returns the goals in order. A `sorry` is `sorryAx T false`, or, if it
records its position, `sorryAx (Name → T) false position`.
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
    /- The whole draft must have the type before holes are made in it; this settles what the unifier has postponed.
    Pantograph uses up a name here, so that goals get the same numbers. -/
    discard mkFreshId
    discard <| isDefEq type (← inferType term)
    let (drafted, more) ← withoutSorry (← instantiateMVars term)
    replaceGoal drafted (goals ++ more)

/-- `have binder : type` or `let binder : type`: a goal for the binder, then the main goal with the binder in scope. -/
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

/-!
## Goals whose next step is not a tactic: inside `conv`, and in a chain of `calc`

A step returns the fragments of the state after it.
-/

private def isOpen (goal : MVarId) : TacticM Bool := return !(← goal.isAssignedOrDelayedAssigned)

private def partsOf (fragments : List Fragment) (parent : MVarId) : List MVarId :=
  fragments.filterMap fun
    | .part goal of => if of == parent then some goal else none
    | _ => none

private def typeOf (goal : MVarId) : TacticM Expr := do instantiateMVars (← goal.getDecl).type

/-- Leaves a `conv` block: the goal that it began at comes back, rewritten. -/
private def leaveConv (fragments : List Fragment) (parent : MVarId) (right proof : Expr) :
    TacticM (List Fragment) := do
  let parts := partsOf fragments parent
  for part in parts do
    if ← isOpen part then part.withContext do
      try part.refl catch _ => try part.inferInstance catch _ => pure ()
  let left ← parts.filterM isOpen
  unless left.isEmpty do
    let shown ← left.mapM fun goal => do
      let type ← typeOf goal
      goal.withContext (addMessageContextFull m!"{type}")
    failPlainly m!"conv: these goals are not solved yet:\n{MessageData.joinSep shown "\n"}"
  let others ← getGoals
  let next ← parent.withContext do
    parent.replaceTargetEq (← instantiateMVars right) (← instantiateMVars proof)
  setGoals [next]
  let stx ← `(tactic| with_reducible rfl)
  try evalTactic stx catch _ => pure ()
  let own := parent :: parts
  setGoals ((← getGoals) ++ others.filter (!own.contains ·))
  let rest := fragments.filter (!own.contains ·.goal)
  /- If the `conv` began at a step of a `calc`, the goal that comes back is still that step. -/
  let outer? := fragments.findSome? fun
    | .calc goal previous? => if goal == parent then some (Fragment.calc next previous?) else none
    | _ => none
  return rest ++ outer?.toList

private def leave (fragments : List Fragment) : Fragment → TacticM (List Fragment)
  | .calc goal _ => return fragments.filter (·.goal != goal)
  | .conv goal right proof => leaveConv fragments goal right proof
  | .part _ parent => do
    let outer? := fragments.reverse.find? fun one => one.goal == parent && one matches .conv ..
    let some (.conv _ right proof) := outer? | throwError "the goal is not in conv or calc mode"
    leaveConv fragments parent right proof

private def enterConv (fragments : List Fragment) (goal : MVarId) : TacticM (List Fragment) := do
  let type ← typeOf goal
  let (right, proof) ← goal.withContext (Conv.mkConvGoalFor type)
  setGoals (proof.mvarId! :: (← getGoals).tail)
  return fragments ++ [.conv goal right proof, .part proof.mvarId! goal]

/-- What a request's `mode` does to a goal. -/
def changeMode (mode : String) (fragments : List Fragment) (goal : MVarId) (fragment? : Option Fragment) :
    DojoM (TacticM (List Fragment)) := do
  match mode, fragment? with
  | "tactic", some fragment => return leave fragments fragment
  | "tactic", none => refuse "invalid" "the goal is not in conv or calc mode"
  | "calc", none => return pure (fragments ++ [.calc goal none])
  | "calc", some _ => refuse "invalid" "the goal is already in conv or calc mode"
  | "conv", none | "conv", some (.calc ..) => return enterConv fragments goal
  | "conv", some _ => refuse "invalid" "the goal is already in conv mode"
  | _, _ => refuse "command" s!"Invalid mode {mode}: expected tactic, conv or calc"

private def convStep (fragments : List Fragment) (fragment : Fragment) (parent : MVarId) (stx : Syntax) :
    TacticM (List Fragment) := do
  let others ← getGoals
  evalTactic stx
  let made ← (← getGoals).filterM fun goal => do
    return !others.contains goal && (isLHSGoal? (← typeOf goal)).isSome
  let next := fragments ++ made.map (Fragment.part · parent)
  if ← (partsOf next parent).anyM isOpen then return next
  leave next fragment

private def calcRelation (why : String) (e : Expr) : MetaM (Expr × Expr × Expr) := do
  let some relation ← Term.getCalcRelation? e | failPlainly m!"calc: {why}: {e}"
  return relation

/-- `left ∼ right`, where `_` on the left is the right-hand side before it. -/
private def calcStep (fragments : List Fragment) (goal : MVarId) (previous? : Option Expr) (stx : Syntax) :
    TacticM (List Fragment) := goal.withContext do
  let target ← typeOf goal
  let tag ← goal.getTag
  let annotated ← match previous? with
    | some previous => Term.annotateFirstHoleWithType ⟨stx⟩ (← inferType previous)
    | none => pure ⟨stx⟩
  let claim ← Term.elabType annotated
  let (_, left, right) ← calcRelation "expected a relation" claim
  if let some previous := previous? then
    unless ← isDefEqGuarded left previous do
      failPlainly m!"calc: the left-hand side is not the right-hand side of the previous step: {claim}"
  let step ← mkFreshExprSyntheticOpaqueMVar claim (tag ++ `calc)
  let rest := fragments.filter (·.goal != goal)
  let others := (← getGoals).tail
  if ← isDefEq claim target then
    goal.assign step
    setGoals (step.mvarId! :: others)
    return rest
  let (_, _, start) ← calcRelation "expected a relation" (← instantiateMVars claim)
  let (related, _, stop) ← calcRelation "the goal is no relation" target
  let remains := mkApp2 related start stop
  let after ← mkFreshExprSyntheticOpaqueMVar remains tag
  let (proof, type) ← Term.mkCalcTrans step claim after remains
  unless ← isDefEq type target do failPlainly m!"calc: the chain does not lead to the goal: {type}"
  goal.assign proof
  setGoals (step.mvarId! :: after.mvarId! :: others)
  return rest ++ [.calc after.mvarId! (some right)]

def fragmentStep (fragments : List Fragment) (fragment : Fragment) (stx : Syntax) : TacticM (List Fragment) :=
  match fragment with
  | .calc goal previous? => calcStep fragments goal previous? stx
  | .conv goal _ _ => convStep fragments fragment goal stx
  | .part _ parent => convStep fragments fragment parent stx

end Dojo
