import Dojo.Digest
import Dojo.Drafts
import Dojo.Sequences
import Dojo.Warm

/-!
# Where the states in a text are

At its `sorry`s, and around the tactic at a position (`dojo.state_at`).
-/

namespace Dojo

open Lean Elab

/-- Where there may be a goal in a text. -/
private structure Spot where
  range : Nat × Nat
  context : ContextInfo
  draft : Draft
  /-- A term, and the type that is expected of it: a goal only where it has not that type. -/
  check? : Option (LocalContext × Expr × Expr) := none

/-- What counts as a goal in a text. -/
structure Sought where
  sorries := true
  /-- Also terms that Lean refused: it put an error, a `sorry` of its own, in their place. -/
  typeErrors := false

private def spotsOf (unit : Elaborated) (sought : Sought) : IO (Array Spot) := do
  let spots ← IO.mkRef #[]
  let add (stx : Syntax) (spot : Nat × Nat → Spot) : IO Unit := do
    if let some range := rangeOf? stx then spots.modify (·.push (spot range))
  visitTrees unit.trees fun above info => do
    let context := above.context
    match info with
    | .ofTacticInfo tactic =>
      if sought.sorries && isSorryTactic info then
        if let mvar :: _ := tactic.goalsBefore then
          add tactic.stx fun range => { range, context, draft := .copy mvar }
    | .ofTermInfo term =>
      if above.inSorry then return
      let some type := term.expectedType? | return
      let draft := Draft.typed term.lctx type
      if kindOf term.stx == ``Parser.Term.sorry then
        if sought.sorries then add term.stx fun range => { range, context, draft }
      else if sought.typeErrors then
        add term.stx fun range => { range, context, draft, check? := some (term.lctx, term.expr, type) }
    | _ => pure ()
  spots.get

/-- The goals in a command, in order of the text; of those that begin at one place, the first. -/
private def goalsIn (unit : Elaborated) (sought : Sought) : DojoM (Array Spot) := do
  let mut found : Array Spot := #[]
  for spot in ← (spotsOf unit sought : IO (Array Spot)) do
    if found.any (·.range.1 == spot.range.1) then continue
    if let some (lctx, e, type) := spot.check? then
      if ← hasTypeAt unit spot.context lctx e type then continue
    found := found.push spot
  -- a term that Lean refused holds others that it refused too
  let outermost := found.filter fun spot => !found.any fun other =>
    other.range != spot.range && other.range.1 ≤ spot.range.1 && spot.range.2 ≤ other.range.2
  return outermost.qsort fun a b => a.range.1 < b.range.1

/-- One state with a goal for each `sorry` of a command: its number, the state, and where they are. -/
def openSorries (unit : Elaborated) (library : Environment) (sought : Sought := {}) :
    DojoM (Option (Nat × ProofState × Array (Nat × Nat))) := do
  let spots ← goalsIn unit sought
  let some last := spots.back? | return none
  let drafts := spots.toList.map (·.draft)
  let (id, state) ← openDrafts unit library last.context last.context.mctx drafts
  return some (id, state, spots.map (·.range))

/-! ## The state at a position -/

private structure Candidate where
  info : TacticInfo
  context : ContextInfo
  range : Nat × Nat
  size : Nat := 0

/-- The smallest tactic that holds a byte, unless one begins there. -/
private def holderOf? (unit : Elaborated) (offset : Nat) : IO (Option Candidate) := do
  let best ← IO.mkRef (none : Option Candidate)
  visitTrees unit.trees fun above info => do
    let .ofTacticInfo info := info | return
    let kind := kindOf info.stx
    if kind.isAnonymous || kind == nullKind || kind == ``Parser.Term.byTactic then return
    if kind == ``Parser.Tactic.tacticSeq || kind == ``Parser.Tactic.tacticSeq1Indented then return
    if kind == ``Parser.Tactic.tacticSeqBracketed && !above.isMember then return
    let some range := rangeOf? info.stx | return
    if offset < range.1 || offset ≥ range.2 then return
    let size := if range.1 == offset then 0 else range.2 - range.1
    if (← best.get).all (size < ·.size) then best.set (some { info, context := above.context, range, size })
  best.get

/-- The member of a sequence that begins exactly at a byte, or else the smallest tactic that holds it. -/
private def tacticAt? (unit : Elaborated) (sequences : Array Sequence) (offset : Nat) : IO (Option Candidate) := do
  if let some member := memberAt? sequences offset then
    if let some run := (← runsOf unit #[#[member]])[member]? then
      return some { info := run.info, context := run.above.context, range := member }
  holderOf? unit offset

private def digestsOf (mctx : MetavarContext) (goals : List MVarId) : Array String :=
  ((goals.mapM (goalDigest? mctx)).run' {} |>.run.filterMap id).toArray

/--
The sequence that a tactic stands in: `members`, its tactics from this one on; `column`, from 0, where a further one has
to begin on a line of its own; `blocks`, the outermost sequences inside the tactic, each with its `members` and the digest
of the `goal` that it begins at.
-/
private def around (unit : Elaborated) (sequences : Array Sequence) (range : Nat × Nat) (text : SourceText) :
    IO (List (String × Json)) := do
  let (members, first) := (fromMember? sequences range).getD (#[range], range.1)
  let inner := sequencesInside sequences range
  let runs ← runsOf unit (inner.map fun block => block.extract 0 1)
  let inFile (members : Sequence) : Json :=
    toJson (members.map fun (start, stop) => #[text.toFile start, text.toFile stop])
  let blocks := inner.map fun block =>
    let run? := block[0]?.bind (runs[·]?)
    let goal := run?.bind fun run => run.info.goalsBefore.head?.bind fun goal => (goalDigest? run.info.mctxBefore goal).run' {}
    record [("members", inFile block), ("goal", toJson goal)]
  return [("members", inFile members), ("column", toJson ((text.position first).2 - 1)), ("blocks", .arr blocks)]

/-- An error before a position: Lean goes on after it, with other goals. -/
private def refuseErrors (unit : Elaborated) (line column : Nat) : DojoM Unit := do
  for message in unit.messages do
    unless isError message do continue
    let position := message.getObjValD "pos"
    let errorLine := (position.getObjValAs? Nat "line").toOption.getD 0
    let errorColumn := (position.getObjValAs? Nat "column").toOption.getD 0
    if errorLine < line || (errorLine == line && errorColumn + 1 < column) then
      let text := (message.getObjValAs? String "data").toOption.getD ""
      refuse "elab" s!"there is an error before it: {text}"

/-- How a state is opened. -/
private structure How where
  isBefore : Bool
  recursion : Bool

private def openTactic (unit : Elaborated) (file : OpenFile) (sequences : Array Sequence) (found : Candidate)
    (how : How) : DojoM Json := do
  let { info, context, range := (start, stop), .. } := found
  let (mctx, goals) := if how.isBefore then (info.mctxBefore, info.goalsBefore) else (info.mctxAfter, info.goalsAfter)
  let (id, state) ← openDrafts unit file.base.library context mctx (goals.map .goal) how.recursion
  return record ([
    ("stateId", toJson id),
    ("tactic", .str (file.text.slice start stop)),
    ("kind", .str (nameText (kindOf info.stx))),
    ("after", toJson (digestsOf info.mctxAfter info.goalsAfter))] ++ file.text.range start stop ++
    (← (around unit sequences (start, stop) file.text : IO _)) ++ (← state.shown))

private def stateAt (request : Request) : DojoM Json := do
  let { file, .. } ← openBehind request
  let position := request.nat "position"
  let offset := file.text.fromFile position
  let answer ← IO.mkRef (none : Option Json)
  discard <| file.run fun unit => do
    if unit.stop ≤ offset then return false
    if request.flag "clean" then
      let (line, column) := file.text.position offset
      refuseErrors unit line column
    let sequences ← (unit.sequences : IO (Array Sequence))
    if let some found ← (tacticAt? unit sequences offset : IO (Option Candidate)) then
      let how : How := { isBefore := request.flag "stateBefore" true, recursion := request.flag "recursion" }
      answer.set (some (← openTactic unit file sequences found how))
    return true
  let some json ← (answer.get : BaseIO (Option Json)) | refuse "index" s!"no tactic at byte {position}"
  return json

def replayCommands : List Command := [
  { name := "dojo.state_at"
    fields := textFields ++
      [required .natural "position", optional .boolean "stateBefore", optional .boolean "clean",
        optional .boolean "recursion"]
    run := stateAt }
]

end Dojo
