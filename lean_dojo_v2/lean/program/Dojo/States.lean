import Dojo.Pretty
import Dojo.Proofs

/-!
# Proof states: `goal.start`, `.continue`, `.subsume`, `.print`, `.delete`
-/

namespace Dojo

open Lean Elab Meta

/-- The maximum number of states, to stop clients that never delete any. -/
def maxStates : Nat := 100000

/-- The proof of a state's root as a theorem; `none` if something in it is open. -/
private def rootTheorem? (state : ProofState) : Option Declaration := do
  let decl ← state.mctx.findDecl? state.root
  let hypotheses := decl.lctx.getFVars
  let closed (e : Expr) (bind : Array Expr → Expr → Expr) : Option Expr :=
    let whole := bind hypotheses (instantiateMVarsCore state.mctx e).1
    if whole.hasMVar then none else some whole
  let type ← closed decl.type decl.lctx.mkForall
  let value ← closed (.mvar state.root) decl.lctx.mkLambda
  guard !value.hasSorry
  let levelParams := (collectLevelParams (collectLevelParams {} type) value).params.toList
  return .thmDecl { name := `_dojo.claim, levelParams, type, value }

/-- A loaded state is only a claim: it solves nothing unless the kernel accepts the proof of its root. -/
private def requireProof (state : ProofState) : DojoM Unit := do
  unless state.isClaim && state.goals.isEmpty do return
  let some declaration := rootTheorem? state
    | refuse "operation" "the loaded state has no goal, but its proof is not finished"
  match ← (addToKernel state.env.toKernelEnv declaration (← get).cancel : IO _) with
  | .ok _ => return
  | .error message => refuse "operation" s!"the loaded state has no goal, but Lean's kernel refuses its proof: {message}"

/-- Keeps a state, and returns its number. -/
def keepState (state : ProofState) : DojoM Nat := do
  requireProof state
  if (← get).states.size ≥ maxStates then
    refuse "memory" s!"{maxStates} states are alive; delete some (goal.delete)"
  modifyGet fun memory =>
    let id := memory.nextState
    (id, { memory with states := memory.states.insert id state, nextState := id + 1 })

def getState (id : Nat) : DojoM ProofState := do
  let some state := (← get).states[id]? | refuse "index" s!"Invalid state index {id}"
  return state

namespace ProofState

/-- The fragment in which a goal's next step is written. -/
def fragmentOf? (state : ProofState) (goal : MVarId) : Option Fragment :=
  state.fragments.reverse.find? (·.goal == goal)

private def modeOf (state : ProofState) (goal : MVarId) : String :=
  match state.fragmentOf? goal with
  | none => "tactic"
  | some (.calc ..) => "calc"
  | some _ => "conv"

/-- The fields of every answer that shows a state: its goals, and their text as Lean prints it. -/
def shown (state : ProofState) : DojoM (List (String × Json)) := do
  let settings ← settings
  let context := state.printContext
  let goals ← state.goals.mapM fun goal => (goalRecord settings context goal (state.modeOf goal) : IO Json)
  let texts := goals.map fun goal => (goal.getObjValAs? String "pp").toOption.getD ""
  return [("goals", .arr goals.toArray), ("pp", .str (stateText texts))]

end ProofState

/-- Keeps a state, and describes it: its number under a label, and its goals. -/
def keepShown (label : String) (state : ProofState) : DojoM (List (String × Json)) := do
  return (label, toJson (← keepState state)) :: (← state.shown)

/-- Runs a parser after white space and comments. -/
def runParser (env : Environment) (text : String) (parser : Parser.ParserFn) :
    Except String (Parser.InputContext × Parser.ParserState) := do
  if let some problem := sizeProblem? text then throw problem
  let input := Parser.mkInputContext text "<input>"
  let parser := Parser.andthenFn Parser.whitespace parser
  let state := parser.run input { env, options := {} } (Parser.getTokenTable env) (Parser.mkParserState text)
  if !state.allErrors.isEmpty then throw (state.toErrorMsg input)
  return (input, state)

def parseWhole (env : Environment) (text : String) (parser : Parser.ParserFn) : Except String Syntax := do
  let (input, state) ← runParser env text parser
  if state.pos.byteIdx == text.utf8ByteSize then return state.stxStack.back
  throw ((state.mkError "end of input").toErrorMsg input)

/-- Parses a text in a syntax category. -/
def parseText (env : Environment) (category : Name) (text : String) : Except String Syntax :=
  parseWhole env text (Parser.categoryParserFn category)

/-- Elaborates everything that was postponed. -/
def settle : TermElabM Unit := Term.synthesizeSyntheticMVarsNoPostponing

/-- Elaborates the text of a term with one of Lean's elaborators. -/
def elaborateText (monads : Monads) (text : String) (elaborate : Syntax → TermElabM Expr) : DojoM (Expr × Monads) := do
  let stx ← orRefuse "parse" (parseText monads.coreState.env `term text)
  monads.run (kind := "elab") do
    let e ← elaborate stx
    settle
    instantiateMVars e

def newGoal (type : Expr) (userName : Name := .anonymous) : MetaM MVarId := do
  return (← mkFreshExprSyntheticOpaqueMVar type userName).mvarId!

/-- Sets the universe levels that terms may mention. -/
def Monads.withLevels (monads : Monads) (levels : List Name) : Monads :=
  { monads with termState.levelNames := levels }

def Monads.withoutMessages (monads : Monads) : Monads :=
  { monads with coreState.messages := {} }

/-! ## The commands -/

private def startGoal (request : Request) : DojoM Json := do
  let expr? := request.text? "expr"
  if expr?.isSome == (request.has "copyFrom") then
    refuse "command" "Exactly one of {expr, copyFrom} must be supplied"
  let monads ← Monads.ofCommand (← get).command
  /- In addition to those of `universe u` in loaded texts. -/
  let monads := monads.withLevels ((request.texts "levels").map (·.toName) ++ monads.termState.levelNames)
  let (type, monads) ← match expr? with
    | some text => elaborateText monads text Term.elabType
    | none =>
      let name := request.text "copyFrom"
      let some info := monads.coreState.env.find? name.toName | refuse "index" s!"Symbol not found: {name}"
      pure (info.type, monads)
  let (root, monads) ← monads.run (newGoal type)
  let state : ProofState :=
    { monads := monads.withoutMessages, library := (← get).library, goals := [root], root }
  return record (("root", .str (nameText root.name)) :: (← keepShown "stateId" state))

/-- Open metavariables besides the goals. For a state just opened, these are the ones that its goals mention. -/
def outsideOf (state : ProofState) : List MVarId :=
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
      unless state.goals.isEmpty do refuse "structure" "Target state has unresolved goals"
      if state.root != branch.root then refuse "structure" "Roots of two continued goal states do not match"
      pure (branch.goals, branch.fragments)
  let { mctx, .. } := state.monads.metaState
  if let some goal := wanted.find? fun goal => (mctx.findDecl? goal).isNone then
    refuse "structure" s!"Goal {nameText goal.name} is not in scope"
  let goals := wanted.filter fun goal =>
    (mctx.getExprAssignmentCore? goal).isNone && (mctx.getDelayedMVarAssignmentCore? goal).isNone
  let next := { state with
    goals, outside? := some (outsideOf state ++ state.goals), fragments := state.fragments ++ fragments }
  return record (← keepShown "nextStateId" next)

private def subsumeGoal (request : Request) : DojoM Json := do
  let state ← getState (request.nat "stateId")
  let source? ← (request.nat? "srcStateId").mapM getState
  let goal : MVarId := ⟨(request.text "goal").toName⟩
  let candidates : List MVarId := (request.texts "candidates").map fun name => ⟨name.toName⟩
  let isMissing (goal : MVarId) (state : ProofState) : Bool := (state.mctx.findDecl? goal).isNone
  let missing := (if isMissing goal state then [goal] else []) ++ candidates.filter (isMissing · (source?.getD state))
  if let one :: _ := missing then refuse "index" s!"there is no goal {nameText one.name}"
  let ((result, which?), monads) ← state.monads.run (findSubsumption goal candidates (source?.map (·.mctx)))
  let answer := [("result", Json.str result)] ++
    (which?.map fun one => ("subsumptor", Json.str (nameText one.name))).toList
  if result != "subsumed" then return record answer
  let next := { state with monads, goals := state.goals.filter (· != goal), outside? := some (outsideOf state) }
  let id ← keepState next
  return record (answer ++ [("stateId", toJson id)])

private def printGoal (request : Request) : DojoM Json := do
  let state ← getState (request.nat "stateId")
  let settings ← settings
  /- The value of a metavariable, as it is written in its own context; `none` if it has none. -/
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
  let ids := request.nats "stateIds"
  modify fun memory => { memory with states := ids.foldl (·.erase ·) memory.states }
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
