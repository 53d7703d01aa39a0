import Dojo.Proofs
import Dojo.States
import Dojo.Subsume

/-!
# `goal.start`, `goal.continue`, `goal.subsume`, `goal.print`, `goal.delete`
-/

namespace Dojo

open Lean Elab Meta

private def startGoal (request : Request) : DojoM Json := do
  let session ← read
  let expr? := request.text? "expr"
  if expr?.isSome == (request.has "copyFrom") then
    refuse "command" "Exactly one of {expr, copyFrom} must be supplied"
  let monads ← Monads.ofCommand (← session.command.get)
  /- Beside those of `universe u` in what was loaded. -/
  let monads := monads.withLevels ((request.texts "levels").map (·.toName) ++ monads.termState.levelNames)
  let (type, monads) ← match expr? with
    | some text => elaborateType monads text
    | none =>
      let name := request.text "copyFrom"
      let some info := monads.coreState.env.find? name.toName | refuse "index" s!"Symbol not found: {name}"
      pure (info.type, monads)
  let (root, monads) ← monads.run (newGoal type)
  let state : ProofState :=
    { monads := monads.withoutMessages, library := ← session.library.get, goals := [root], root }
  let id ← keepState state
  return record ([("stateId", toJson id), ("root", .str (nameText root.name))] ++ (← state.shown))

private def isSolved (state : ProofState) (goal : MVarId) : DojoM Bool := do
  if (state.mctx.findDecl? goal).isNone then refuse "structure" s!"Goal {nameText goal.name} is not in scope"
  return (state.mctx.getExprAssignmentCore? goal).isSome || (state.mctx.getDelayedMVarAssignmentCore? goal).isSome

private def goalsOfBranch (target branch : ProofState) : DojoM (List MVarId) := do
  unless target.goals.isEmpty do refuse "structure" "Target state has unresolved goals"
  if target.root != branch.root then refuse "structure" "Roots of two continued goal states do not match"
  return branch.goals

/-- What is open besides the goals; a state just opened answers for nothing that its goals already speak of. -/
private def outsideOf (state : ProofState) : List MVarId :=
  state.outside?.getD (mentionedBy state.mctx state.goals).toList

private def resumeGoal (request : Request) : DojoM Json := do
  let branchId? := request.nat? "branch"
  if branchId?.isSome == request.has "goals" then
    refuse "command" "Exactly one of {branch, goals} must be supplied"
  let state ← getState (request.nat "target")
  let (wanted, fragments) ← match branchId? with
    | none => pure ((request.texts "goals").map fun name => ⟨name.toName⟩, [])
    | some id => do
      let branch ← getState id
      pure (← goalsOfBranch state branch, branch.fragments)
  let goals ← wanted.filterM fun goal => return !(← isSolved state goal)
  let next := { state with
    goals, outside? := some (outsideOf state ++ state.goals), fragments := state.fragments ++ fragments }
  let id ← keepState next
  return record (("nextStateId", toJson id) :: (← next.shown))

private def subsumeGoal (request : Request) : DojoM Json := do
  let state ← getState (request.nat "stateId")
  let source? ← (request.nat? "srcStateId").mapM getState
  let goal : MVarId := ⟨(request.text "goal").toName⟩
  let candidates : List MVarId := (request.texts "candidates").map fun name => ⟨name.toName⟩
  let isMissing (goal : MVarId) (state : ProofState) : Bool := (state.mctx.findDecl? goal).isNone
  let missing := (if isMissing goal state then [goal] else []) ++ candidates.filter (isMissing · (source?.getD state))
  if let one :: _ := missing then refuse "index" s!"there is no goal {nameText one.name}"
  let (found, monads) ← state.monads.run (findSubsumption goal candidates (source?.map (·.mctx)))
  let answer := [("result", Json.str found.result)] ++
    (found.which?.map fun one => ("subsumptor", Json.str (nameText one.name))).toList
  if found.result != "subsumed" then return record answer
  let next := { state with monads, goals := state.goals.filter (· != goal), outside? := some (outsideOf state) }
  let id ← keepState next
  return record (answer ++ [("stateId", toJson id)])

private def printGoal (request : Request) : DojoM Json := do
  let state ← getState (request.nat "stateId")
  let settings ← settings
  /- What fills a metavariable, as it is written in that one's own context; nothing while nothing does. -/
  let filling? (goal : MVarId) : IO (Option Json) := do
    let some decl := state.mctx.findDecl? goal | return none
    unless (state.mctx.getExprAssignmentCore? goal).isSome do return none
    let whole := (instantiateMVarsCore state.mctx (.mvar goal)).1
    return some (← expressionRecord settings (state.printContext.inside decl) whole)
  let proofs := proofsOf state.mctx [state.root]
  let root? ← if request.flag "rootExpr" then filling? state.root else pure none
  let parents? ← if request.flag "parentExprs" then
      pure (some (Json.arr (← state.parents.mapM fun goal => return (← filling? goal).getD .null).toArray))
    else pure none
  let extra ← (request.texts "extraMVars").mapM fun name => return (← filling? ⟨name.toName⟩).getD (record [])
  let shown ← if request.flag "goals" then state.shown else pure [("goals", .arr #[])]
  return record (shown ++ [
    ("extraMVars", .arr extra.toArray),
    ("rootHasSorry", .bool (proofs.terms.any (·.hasSorry))),
    ("rootHasUnsafe", .bool (proofs.terms.any state.env.hasUnsafe)),
    ("rootHasMVar", .bool (!proofs.unassigned.isEmpty))])
    [root?.map ("root", ·), parents?.map ("parentExprs", ·)]

private def deleteGoals (request : Request) : DojoM Json := do
  let states := (← read).states
  for id in request.nats "stateIds" do states.modify (·.erase id)
  return record []

def goalCommands : List Command := [
  { name := "goal.start", run := startGoal, fields := [
      optional .text "expr", optional .text "copyFrom", optional .texts "levels"] },
  { name := "goal.continue", run := resumeGoal, fields := [
      required .natural "target", optional .natural "branch", optional .texts "goals"] },
  { name := "goal.subsume", run := subsumeGoal, fields := [
      required .natural "stateId", required .text "goal", required .texts "candidates",
      optional .natural "srcStateId"] },
  { name := "goal.print", run := printGoal, fields := [
      required .natural "stateId", optional .boolean "rootExpr", optional .boolean "parentExprs",
      optional .boolean "goals", optional .texts "extraMVars"] },
  { name := "goal.delete", run := deleteGoals, fields := [required .naturals "stateIds"] }
]

end Dojo
