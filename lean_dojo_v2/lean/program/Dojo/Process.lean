import Dojo.Places

/-!
# `frontend.process`: elaborates a text and reports on each of its commands
-/

namespace Dojo

open Lean Elab

/-- Tactics that only combine others; as in Pantograph, their parts are listed, but they are not. -/
private def combinators : List Name :=
  [`Lean.cdot, `Lean.cdotTk, `Lean.Parser.Tactic.«tactic_<;>_», ``Parser.Tactic.paren]

/-- Goals as Pantograph lists them: an empty text if there are none. -/
private def listedGoals (context : PPContext) (goals : List MVarId) : IO String := do
  return "\n".intercalate (← goals.mapM (goalText context))

/-- Pantograph's `InvokedTactic`. -/
private def invokedTactic (text : SourceText) (ran : Ran) : IO Json := do
  let { info, range, above := { context, .. } } := ran
  let proofs := info.goalsBefore.map fun goal => (instantiateMVarsCore info.mctxAfter (.mvar goal)).1
  let used := proofs.flatMap (·.getUsedConstants.toList)
  return record [
    ("tactic", .str (text.slice range.1 range.2)), ("boundary", text.bytes range.1 range.2),
    ("goalBefore", .str (← listedGoals (printContextAt context info.mctxBefore) info.goalsBefore)),
    ("goalAfter", .str (← listedGoals (printContextAt context info.mctxAfter) info.goalsAfter)),
    ("usedConstants", toJson (used.eraseDups.map nameText))]

private def openGoals (unit : Elaborated) (file : OpenFile) (sorries typeErrors : Bool) :
    DojoM (List (String × Json)) := do
  let some (state, ranges) ← openSorries unit file.base.library sorries typeErrors | return []
  let places := ranges.map fun (start, stop) => file.text.bytes start stop
  return ("goalSrcBoundaries", .arr places) :: (← keepShown "goalStateId" state).filter (·.1 != "pp")

private def describeUnit (unit : Elaborated) (file : OpenFile) (request : Request) : DojoM Json := do
  let mut fields := [("boundary", file.text.bytes unit.start unit.stop), ("messages", toJson unit.messages)]
  if request.has "invocations" then
    let ran := (ranIn unit.nodes).filter fun one => !combinators.contains one.info.stx.getKind
    let found ← (ran.mapM (invokedTactic file.text) : IO (Array Json))
    fields := fields ++ [("invocations", .arr found), ("nInvocations", toJson found.size)]
  let typeErrors := request.flag "typeErrorsAsGoals" && unit.messages.any isError
  let sorries := request.flag "sorrys"
  if sorries || typeErrors then fields := fields ++ (← openGoals unit file sorries typeErrors)
  if request.flag "newConstants" then
    fields := fields ++ [("newConstants", toJson (unit.added.map fun (name, _) => nameText name))]
  return record fields

private def processText (request : Request) : DojoM Json := do
  let file ← openText {
    file := request.text "file", fileName := request.text "fileName" "<anonymous>"
    header := request.flag "readHeader", options := request.object "options" }
  let boundary := file.text.bytes 0 file.parserState.pos.byteIdx
  let header := if file.messages.isEmpty then #[] else #[record [("boundary", boundary), ("messages", toJson file.messages)]]
  let (units, _, state) ← file.run header fun units unit => do
    if unit.isEnd && unit.messages.isEmpty then return units
    return units.push (← describeUnit unit file request)
  if request.flag "inheritEnv" then setCommand state file.base.library
  return record [("units", .arr units)]

def processCommands : List Command := [
  { name := "frontend.process", run := processText, fields := [
      required .text "file", optional .text "fileName", optional .boolean "readHeader",
      optional .boolean "inheritEnv", optional .text "invocations", optional .boolean "sorrys",
      optional .boolean "typeErrorsAsGoals", optional .boolean "newConstants", optional .object "options"] }
]

end Dojo
