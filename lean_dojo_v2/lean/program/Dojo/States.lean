import Dojo.Frontend
import Dojo.Pretty
import Dojo.Run

/-!
# Proof states kept alive between requests, and the terms and tactics of texts
-/

namespace Dojo

open Lean Elab Meta

/-- So many states at once; a client that never deletes any is told so. -/
def maxStates : Nat := 100000

/-- Keeps a state, and gives its number. -/
def keepState (state : ProofState) : DojoM Nat := do
  let session ← read
  if (← session.states.get).size ≥ maxStates then
    refuse "memory" s!"{maxStates} states are alive; delete some (goal.delete)"
  let id ← session.nextState.modifyGet fun n => (n, n + 1)
  session.states.modify (·.insert id state)
  return id

def getState (id : Nat) : DojoM ProofState := do
  let some state := (← (← read).states.get)[id]? | refuse "index" s!"Invalid state index {id}"
  return state

namespace ProofState

/-- The fragment that a goal's next step is written in. -/
def fragmentOf? (state : ProofState) (goal : MVarId) : Option Fragment :=
  state.fragments.reverse.find? (·.goal == goal)

private def modeOf (state : ProofState) (goal : MVarId) : String :=
  match state.fragmentOf? goal with
  | none => "tactic"
  | some (.calc ..) => "calc"
  | some _ => "conv"

/-- What is common to every answer that shows a state: its goals, and Lean's own text of them. -/
def shown (state : ProofState) : DojoM (List (String × Json)) := do
  let settings ← settings
  let context := state.printContext
  let goals ← state.goals.mapM fun goal => (goalRecord settings context goal (state.modeOf goal) : IO Json)
  let texts := goals.map fun goal => (goal.getObjValAs? String "pp").toOption.getD ""
  let pp := if texts.isEmpty then "no goals" else "\n\n".intercalate texts
  return [("goals", .arr goals.toArray), ("pp", .str pp)]

end ProofState

/-- A parser behind white space and comments. -/
private def behindSpace (parser : Parser.ParserFn) : Parser.ParserFn :=
  fun context state => parser context (Parser.whitespace context state)

private def runParser (env : Environment) (text : String) (parser : Parser.ParserFn) :
    Except String (Parser.InputContext × Parser.ParserState) := do
  if let some problem := nestingProblem? text then throw problem
  let input := Parser.mkInputContext text "<input>"
  let state := (behindSpace parser).run input { env, options := {} } (Parser.getTokenTable env) (Parser.mkParserState text)
  if !state.allErrors.isEmpty then throw (state.toErrorMsg input)
  return (input, state)

/-- Parses one tactic, or several one after the other, as in a `by` block; all of the text must be used. -/
def parseSequence (env : Environment) (text : String) : Except String Syntax := do
  let (input, state) ← runParser env text Parser.Tactic.tacticSeq.fn
  if state.pos.byteIdx == text.utf8ByteSize then return state.stxStack.back
  throw ((state.mkError "end of input").toErrorMsg input)

/-- Parses a piece of a category at the beginning of a text; with the byte where it ends. -/
def parsePrefix (env : Environment) (category : Name) (text : String) : Except String (Syntax × Nat) := do
  let (_, state) ← runParser env text (Parser.categoryParserFn category)
  return (state.stxStack.back, state.pos.byteIdx)

/-- Parses a text of a category; all of it must be used. -/
def parseText (env : Environment) (category : Name) (text : String) : Except String Syntax := do
  if let some problem := nestingProblem? text then throw problem
  Parser.runParserCategory env category text

/-- The same for a text that Lean elaborates next: what it may run is noted. -/
def parseToRun (env : Environment) (category : Name) (text : String) : DojoM (Except String Syntax) := do
  let parsed := parseText env category text
  if let .ok stx := parsed then noteSyntax env stx
  return parsed

/-- Nothing may stay postponed. -/
def settle : TermElabM Unit := Term.synthesizeSyntheticMVarsNoPostponing

/-- Elaborates a text as a type. -/
def elaborateType (monads : Monads) (text : String) : DojoM (Expr × Monads) := do
  let stx ← orRefuse "parse" (← parseToRun monads.coreState.env `term text)
  monads.run (kind := "elab") do
    let type ← Term.elabType stx
    settle
    instantiateMVars type

/-- Elaborates a text as a term, of a type if one is given. -/
def elaborateTerm (monads : Monads) (text : String) (type? : Option Expr) : DojoM (Expr × Monads) := do
  let stx ← orRefuse "parse" (← parseToRun monads.coreState.env `term text)
  monads.run (kind := "elab") do
    let term ← Term.elabTermEnsuringType stx type?
    settle
    instantiateMVars term

/-- A new goal of a type. -/
def newGoal (type : Expr) (userName : Name := .anonymous) : MetaM MVarId := do
  return (← mkFreshExprSyntheticOpaqueMVar type userName).mvarId!

/-- Sets the universe levels that terms may speak of. -/
def Monads.withLevels (monads : Monads) (levels : List Name) : Monads :=
  { monads with termState.levelNames := levels }

/-- What Lean has logged is forgotten. -/
def Monads.withoutMessages (monads : Monads) : Monads :=
  { monads with coreState.messages := {} }

end Dojo
