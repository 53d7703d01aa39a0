import Dojo.Actions

/-!
# `goal.tactic`: one step from a proof state to the next
-/

namespace Dojo

open Lean Elab Meta Tactic

/-- The largest number that fits a scalar of 32 bits. -/
private def maxScalar : Nat := 2147483647

private def forms : List String := ["tactic", "mode", "expr", "have", "let", "draft"]

/-- The fields about the proof in the answer to a failed step. -/
private def nothing : List (String × Json) := [("hasSorry", .bool false), ("hasUnsafe", .bool false)]

private def failed (log : Array SerialMessage) : Json := record (("messages", toJson log) :: nothing)

/-- The goals that a tactic sees: only the chosen one, or all with the chosen one first (Pantograph's `Site`). -/
private def site (state : ProofState) (goalId? : Option Nat) (autoResume? : Option Bool) :
    DojoM (MVarId × List MVarId) := do
  let together := autoResume?.getD (← settings).automaticMode
  let first :: _ := state.goals | refuse "index" "No goals to be solved"
  let some goal := (match goalId? with | some id => state.goals[id]? | none => some first)
    | refuse "index" s!"Invalid goal index {goalId?.getD 0}"
  return (goal, if together then goal :: state.goals.filter (· != goal) else [goal])

/-- An exception as the message that Lean's front end would log for it. -/
private def errorMessage (text : String) (fileMap? : Option FileMap := none) (offset? : Option Nat := none) :
    SerialMessage :=
  let pos := match fileMap?, offset? with
    | some fileMap, some offset => fileMap.toPosition ⟨min offset fileMap.source.utf8ByteSize⟩
    | _, _ => ⟨1, 0⟩
  { fileName := "<input>", pos, data := text, kind := .anonymous }

/--
The action that a request asks for; it returns the fragments after it. If the request's text cannot be parsed, the result
is the parser's error.
-/
private def actionOf (request : Request) (form text : String) (state : ProofState) (goal : MVarId) :
    DojoM (Except String (TacticM (List Fragment))) := do
  let fragment? := state.fragmentOf? goal
  let binder := (request.text "binderName").toName
  let same (act : TacticM Unit) : TacticM (List Fragment) := do act; return state.fragments
  if form == "mode" then return .ok (← changeMode text state.fragments goal fragment?)
  if form == "tactic" then
    if let some fragment := fragment? then
      let category := if fragment matches .calc .. then `term else `conv
      return (parseText state.env category text).map (fragmentStep state.fragments fragment)
    return (parseWhole state.env text Parser.Tactic.tacticSeq.fn).map fun stx => same (evalTactic stx)
  return (parseText state.env `term text).map fun stx =>
    match form with
    | "expr" => same (assignTerm stx)
    | "draft" => same (draftTerm stx)
    | _ => same (branchOn stx binder (form == "let"))

/-- The state with the positions and limits of a request. -/
private def prepared (state : ProofState) (text : String) (request : Request) : DojoM ProofState := do
  let mut core := { state.monads.coreContext with fileMap := FileMap.ofString text }
  if request.has "options" then
    let limits ← MonadExcept.ofExcept (withLimits [] (request.object "options"))
    let limit (name : String) : Nat := ((limits.lookup name).bind fun value => value.getNat?.toOption).getD 0
    core := { core with
      maxHeartbeats := min (limit "maxHeartbeats" * 1000) maxScalar
      maxRecDepth := limit "maxRecDepth" }
  return { state with monads.coreContext := core }

/-- The state after a tactic, the proofs that it found, and metavariables in them that no later step would have to fill. -/
private def stateAfter (state : ProofState) (monads : Monads) (before after : List MVarId) (fragments : List Fragment) :
    ProofState × Array Expr × List MVarId :=
  let aside := state.goals.filter (!before.contains ·)
  /- The goal of a `conv` block comes back at the end of the block. -/
  let waiting := fragments.map (·.goal)
  let outside := (outsideOf state ++ aside ++ waiting).eraseDups.filter (!after.contains ·)
  let parents := before.filter (!after.contains ·)
  let mctx := monads.metaState.mctx
  let proofs := proofsOf mctx (parents ++ state.owed ++ outside)
  let stillOutside := outside.filter proofs.has
  let expected := after ++ stillOutside
  let others := proofs.unassigned.toList.filter (!expected.contains ·)
  let spokenOf := if others.isEmpty then #[] else mentionedBy mctx expected
  let next := { state with
    monads := { monads with coreContext := state.monads.coreContext }
    goals := after, outside? := some stillOutside, owed := others.filter spokenOf.contains, parents, fragments }
  (next, proofs.terms, others.filter (!spokenOf.contains ·))

/-- Whether a name is that of an auxiliary lemma, with a part that begins with `_`: tactics hide what they use there. -/
private def isAuxiliary (env : Environment) (name : Name) : Bool :=
  name.isInternal && (moduleOf? env name).isNone

/-- The text of open metavariables that are not goals but need a proof; empty if there are none. -/
private def hiddenText (monads : Monads) (owed : List MVarId) : DojoM String := do
  let (asking, _) ← monads.run (owed.filterM fun goal => return !(← isInhabited goal))
  if asking.isEmpty then return "" else goalsText monads.printContext asking

private def acceptStep (stored : ProofState) (monads : Monads) (before after : List MVarId) (fragments : List Fragment)
    (log : Array SerialMessage) (withAxioms : Bool) : DojoM Json := do
  let env := monads.coreState.env
  let (next, terms, lost) := stateAfter stored monads before after fragments
  let refused (text : String) : Json := failed (log.push (errorMessage text))
  unless lost.isEmpty do
    let left ← (goalsText monads.printContext lost : IO String)
    return refused s!"the tactic leaves this open, but not as a goal:\n{left}"
  let cited := terms.flatMap (·.getUsedConstants)
  let used := (closureWith env.find? cited (isAuxiliary env)).map (·.1)
  if let some circular := used.find? stored.forbidden.contains then
    return refused s!"the proof uses {nameText circular}, which it should prove"
  -- an option of Lean, or a program, can bypass the kernel
  let added := (addedTo stored.env env).filter fun (_, info) => !info.isUnsafe && !info.isPartial
  if let some objection ← objection? stored.env env (added.map (·.1)) then return refused objection
  let mut fields := [
    ("messages", toJson log), ("hasSorry", .bool (used.contains ``sorryAx)),
    ("hasUnsafe", .bool (terms.any env.hasUnsafe))]
  if withAxioms then
    let axioms := axiomsWith env.find? env.toKernelEnv cited stored.library
    fields := ("axioms", toJson (axioms.map (·.name))) :: ("owed", .str (← hiddenText monads next.owed)) :: fields
  return record (fields ++ (← keepShown "nextStateId" next))

private def runStep (state stored : ProofState) (before : List MVarId) (act : TacticM (List Fragment))
    (withAxioms : Bool) : DojoM Json := do
  let whole : TacticM (List Fragment) := do
    let fragments ← act
    settle
    pruneSolvedGoals
    return fragments
  let (result, monads) ← state.monads.attempt
    ((whole { elaborator := .anonymous, recover := false }).run { goals := before })
  let log ← messagesOf monads.coreState.messages
  match result with
  | .error exception =>
    /- An abort only means that the error was already logged. -/
    if exception matches .internal .. && !log.isEmpty then return failed log
    let text ← exceptionText exception
    let offset? := if exception matches .internal .. then none else exception.getRef.getPos?.map (·.byteIdx)
    return failed (log.push (errorMessage text state.monads.coreContext.fileMap offset?))
  | .ok (fragments, { goals := after }) =>
    if log.any isError then return failed log
    acceptStep stored monads.withoutMessages before after fragments log withAxioms

private def goalTactic (request : Request) : DojoM Json := do
  let stored ← getState (request.nat "stateId")
  let [form] := forms.filter request.has
    | refuse "command" s!"Exactly one of \{{", ".intercalate forms}} must be supplied"
  let text := request.text form
  let (goal, before) ← site stored (request.nat? "goalId") (request.get? "autoResume")
  match ← actionOf request form text stored goal with
  | .error problem => return record (("parseError", .str problem) :: nothing)
  | .ok act =>
    let state ← prepared stored text request
    /- As in Pantograph, steps that are terms do not use Lean's cache, so that new metavariables get the same numbers. For
    tactics the cache is worth more. -/
    let plain := form == "tactic" && state.fragments.isEmpty
    let state := if plain then state else { state with monads.metaState.cache := {} }
    runStep state stored before act (request.flag "axioms")

def stepCommands : List Command := [
  { name := "goal.tactic", run := goalTactic, fields := [
      required .natural "stateId", optional .natural "goalId", optional .boolean "autoResume",
      optional .text "tactic", optional .text "mode", optional .text "expr", optional .text "have",
      optional .text "let", optional .text "draft", optional .text "binderName", optional .object "options",
      optional .boolean "axioms"] }
]

end Dojo
