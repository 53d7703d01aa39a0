import Dojo.Digest
import Dojo.Files
import Dojo.Parts

/-!
# Proof states in elaborated texts, and `dojo.state_at`

A state is opened at a `sorry`, or before a tactic. A theorem must not be provable by citing itself, so its own auxiliary
hypothesis (for recursion) is cleared, and the environment is the one before its command, with whatever `… in` sets for it.
If the goals mention constants that the command itself added (matchers, local definitions), the later environment is
needed; then the theorem, and everything that depends on it, is forbidden by name.
-/

namespace Dojo

open Lean Elab Meta

/-- A goal of a text. -/
inductive Draft where
  /-- A goal as it is. -/
  | goal (mvar : MVarId)
  /-- A new goal of a type. -/
  | typed (lctx : LocalContext) (type : Expr) (userName : Name := .anonymous)

private def locals (lctx : LocalContext) : Array LocalDecl :=
  lctx.decls.toArray.filterMap id

private def isNumbered (start ending : String) : Bool :=
  ending.startsWith start && (behind start ending).isNat

/-- Whether Lean derives constants with this ending from definitions and matchers when a tactic needs them. -/
private def isDerivedEnding (ending : String) : Bool :=
  ["splitter", "eq_def", "eq_unfold", "induct", "induct_unfolding", "mutual_induct", "mutual_induct_unfolding",
    "fun_cases", "fun_cases_unfolding"].contains ending || isNumbered "eq_" ending || isNumbered "congr_eq_" ending

/-- Whether a name is that of a lemma split off a proof. Lean reuses these, so what they use matters, not their names. -/
private def isSplitOff : Name → Bool
  | .str _ ending => isNumbered "_proof_" ending || isNumbered "_simp_" ending
  | _ => false

/-- The environment in which the goals can be opened, and the constants that must not be used there. -/
private def world (before : Environment) (context : ContextInfo) (terms : List Expr) : Environment × NameSet :=
  let missing := (terms.toArray.flatMap (·.getUsedConstants)).filter (!before.contains ·)
  if missing.isEmpty then (before, {}) else
  let env := context.env
  let needed := setOf ((closureWith env.find? missing (!before.contains ·)).map (·.1))
  -- constants that `split` or `simp` derives from allowed ones do not depend on the theorem either
  let isDerived (name : Name) : Bool :=
    [name, (privateToUserName? name).getD name].any fun
      | .str base ending => isDerivedEnding ending && (needed.contains base || before.contains base)
      | _ => false
  let added := (addedTo before env).map (·.1)
  (env, setOf (added.filter fun name => !needed.contains name && !isDerived name && !isSplitOff name))

private def Draft.open (draft : Draft) (recursion : Bool) : MetaM MVarId := do
  let goal ← match draft with
    | .goal mvar => pure mvar
    | .typed lctx type userName =>
      let type ← instantiateMVars type
      withLCtx lctx {} <| withLocalInstances (locals lctx).toList do
        pure (← mkFreshExprSyntheticOpaqueMVar type userName).mvarId!
  if recursion then return goal
  let auxiliaries := (locals (← goal.getDecl).lctx).filter (·.kind == .auxDecl)
  auxiliaries.foldlM (init := goal) fun goal decl => goal.tryClear decl.fvarId

/-- The options, open namespaces and other state at a node of an information tree. -/
private def Monads.atNode (monads : Monads) (context : ContextInfo) (mctx : MetavarContext) (env : Environment) : Monads :=
  -- the kernel may have been left out of what was elaborated, but a tactic may ask it
  let options := debug.skipKernelTC.set context.options false
  { monads with
    coreContext := { monads.coreContext with
      options, currNamespace := context.currNamespace, openDecls := context.openDecls
      maxHeartbeats := Core.getMaxHeartbeats options, maxRecDepth := maxRecDepth.get options }
    metaState := { monads.metaState with mctx }
    coreState := { monads.coreState with env, ngen := context.ngen } }

/--
Opens goals at a node of a command's information tree as a state. With `recursion`, a proof may use what it is defining: the
theorem, the others of its `mutual` block, `where` and `let rec`. Only the whole proof shows whether the recursion terminates.
-/
def openDrafts (unit : Elaborated) (library : Environment) (above : Above) (mctx : MetavarContext)
    (drafts : List Draft) (recursion := false) : DojoM ProofState := do
  let { context, before?, .. } := above
  let said := drafts.flatMap fun
    | .goal mvar => (mctx.findDecl? mvar).elim [] fun decl => saidBy decl.lctx decl.type
    | .typed lctx type _ => saidBy lctx type
  let terms := said.map fun e => (instantiateMVarsCore mctx e).1
  let (env, forbidden) := world (before?.getD unit.before.env) context terms
  let levels := (terms.foldl (init := ({} : CollectLevelParams.State)) collectLevelParams).params.toList
  let monads := ((← Monads.ofCommand unit.before).atNode context mctx env).withLevels levels
  let (goals, monads) ← monads.run (drafts.mapM (·.open recursion))
  return { monads, library, goals, root := goals.head?.getD ⟨.anonymous⟩, forbidden }

/-- Whether a term at a node of an information tree has a type, up to definitional equality. -/
private def hasTypeAt (unit : Elaborated) (context : ContextInfo) (lctx : LocalContext) (e type : Expr) : DojoM Bool := do
  if e.isSyntheticSorry then return false
  let monads := (← Monads.ofCommand unit.before).atNode context context.mctx context.env
  let (fits, _) ← monads.attempt (withLCtx lctx {} do isDefEqGuarded (← inferType e) type)
  return fits matches .ok true

/-!
## The places of states in a text

These are its `sorry`s, and the tactic at a position (`dojo.state_at`).
-/

/-- A place in a text where there may be a goal. -/
private structure Spot where
  range : Nat × Nat
  above : Above
  draft : Draft
  /-- A term and its expected type: the place is a goal only if the term does not have that type. -/
  check? : Option (LocalContext × Expr × Expr) := none

/-- The `sorry`s of a command, and the terms that Lean has refused and replaced by a `sorry` of its own, as far as wanted. -/
private def spotsOf (unit : Elaborated) (sorries typeErrors : Bool) : Array Spot :=
  unit.nodes.filterMap fun (above, info) =>
    match info with
    | .ofTacticInfo tactic => do
      guard (sorries && isSorryTactic tactic)
      let decl ← tactic.mctxBefore.findDecl? (← tactic.goalsBefore.head?)
      return { range := ← rangeOf? tactic.stx, above, draft := .typed decl.lctx decl.type decl.userName }
    | .ofTermInfo term => do
      guard !above.inSorry
      let type ← term.expectedType?
      let isSorry := term.stx.isOfKind ``Parser.Term.sorry
      guard (if isSorry then sorries else typeErrors)
      let check? := if isSorry then none else some (term.lctx, term.expr, type)
      return { range := ← rangeOf? term.stx, above, draft := .typed term.lctx type, check? }
    | _ => none

/-- The goals in a command in the order of the text; if several begin at the same place, only the first. -/
private def goalsIn (unit : Elaborated) (sorries typeErrors : Bool) : DojoM (Array Spot) := do
  let mut found : Array Spot := #[]
  for spot in spotsOf unit sorries typeErrors do
    if found.any (·.range.1 == spot.range.1) then continue
    if let some (lctx, e, type) := spot.check? then
      if ← hasTypeAt unit spot.above.context lctx e type then continue
    found := found.push spot
  -- a term that Lean has refused may contain others that it has refused
  let outermost := found.filter fun spot => !found.any fun other =>
    other.range != spot.range && other.range.1 ≤ spot.range.1 && spot.range.2 ≤ other.range.2
  return outermost.qsort fun a b => a.range.1 < b.range.1

/-- Opens one state with a goal for each `sorry` of a command, and returns it with their ranges. -/
def openSorries (unit : Elaborated) (library : Environment) (sorries typeErrors : Bool) :
    DojoM (Option (ProofState × Array (Nat × Nat))) := do
  let spots ← goalsIn unit sorries typeErrors
  let some last := spots.back? | return none
  let drafts := spots.toList.map (·.draft)
  return some (← openDrafts unit library last.above last.above.context.mctx drafts, spots.map (·.range))

/-! ## The state at a position -/

/-- A tactic that begins at a byte, or else the smallest one that contains it. -/
private def holderOf? (nodes : Nodes) (offset : Nat) : Option Ran :=
  let around := (ranIn nodes).filter fun { above, info, range } =>
    range.1 ≤ offset && offset < range.2 && (!info.stx.isOfKind ``Parser.Tactic.tacticSeqBracketed || above.isMember)
  let size (one : Ran) : Nat := if one.range.1 == offset then 0 else one.range.2 - one.range.1
  around.foldl (init := none) fun best? one => if best?.all (size one < size ·) then some one else best?

/-- The member of a sequence that begins exactly at a byte, or else the smallest tactic that contains it. -/
private def tacticAt? (nodes : Nodes) (sequences : Array Sequence) (offset : Nat) : Option Ran :=
  let member? := sequences.findSome? fun members => members.find? (·.1 == offset)
  let run? := member?.bind fun member => (runsOf nodes #[#[member]])[member]?
  (run?.map (·.toRan)) <|> holderOf? nodes offset

/--
Describes the sequence around a tactic: `members` are its tactics from this one on; `column` (from 0) is where a further one
must begin on a line of its own; `blocks` are the outermost sequences inside the tactic, each with its `members` and the
digest of its first `goal`.
-/
private def around (nodes : Nodes) (sequences : Array Sequence) (range : Nat × Nat) (text : SourceText) :
    List (String × Json) :=
  let whole := (sequences.find? (·.contains range)).getD #[range]
  let members := whole.toList.dropWhile (· != range)
  let inner := sequencesInside sequences range
  let runs := runsOf nodes (inner.map fun block => block.extract 0 1)
  let inFile (members : List ByteRange) : Json := toJson (members.map fun (start, stop) => text.bytes start stop)
  let blocks := inner.map fun block =>
    let run? := block[0]?.bind (runs[·]?)
    let goal := run?.bind fun run => run.info.goalsBefore.head?.bind fun goal => (goalDigest? run.info.mctxBefore goal).run' {}
    record [("members", inFile block.toList), ("goal", toJson goal)]
  [("members", inFile members), ("column", toJson ((text.position whole[0]!.1).2 - 1)), ("blocks", .arr blocks)]

/--
Refuses a command with an error before a byte of it, since Lean continues after an error with other goals. Text before the
command that Lean could not parse does not count.
-/
private def refuseErrors (unit : Elaborated) (text : SourceText) (offset : Nat) : DojoM Unit := do
  let place (offset : Nat) : Position := text.input.fileMap.toPosition ⟨offset⟩
  let first := place (((rangeOf? unit.stx).map (·.1)).getD unit.start)
  for { severity, pos, data, .. } in unit.messages do
    if severity matches .error && !pos.lt first && pos.lt (place offset) then
      refuse "elab" s!"there is an error before it: {data}"

/-- Refuses goals that mention something that Lean could not elaborate; `said` holds the messages so far. -/
private def refuseBroken (state : ProofState) (said : Array SerialMessage) : DojoM Unit := do
  let some { pos, data, .. } := said.find? isError | return
  let decls := state.goals.filterMap fun goal => state.mctx.findDecl? goal
  let terms := decls.flatMap fun decl => saidBy decl.lctx decl.type
  let named := terms.toArray.flatMap fun e => (instantiateMVarsCore state.mctx e).1.getUsedConstants
  -- Lean puts this `sorry` in place of terms that it could not elaborate
  let hasError (info : ConstantInfo) : Bool := info.type.hasSyntheticSorry || (valueOf? info).any (·.hasSyntheticSorry)
  if (closureWith state.env.find? named (!isLibrary state.env ·)).any fun (_, info?) => info?.any hasError then
    refuse "elab" s!"it rests on text before it that does not elaborate: {pos.line}:{pos.column + 1}: {data}"

private def openTactic (unit : Elaborated) (file : OpenFile) (offset : Nat) (recursion : Bool) (said : Array SerialMessage) :
    DojoM (Option Json) := do
  let nodes := unit.nodes
  let sequences := unit.sequences nodes
  let some { info, above, range := (start, stop) } := tacticAt? nodes sequences offset | return none
  let state ← openDrafts unit file.base.library above info.mctxBefore (info.goalsBefore.map .goal) recursion
  refuseBroken state said
  return some <| record ([
    ("tactic", .str (file.text.slice start stop)), ("bytes", file.text.bytes start stop),
    ("after", toJson ((info.goalsAfter.filterMapM (goalDigest? info.mctxAfter)).run' {}).run)] ++
    around nodes sequences (start, stop) file.text ++ (← keepShown "stateId" state))

private def stateAt (request : Request) : DojoM Json := do
  let file ← openBehind request
  let position := request.nat "position"
  let offset := file.text.fromFile position
  let (_, answer) ← file.revisit (file.messages, none) fun (said, _) unit => do
    if unit.stop ≤ offset then return .yield (said ++ unit.messages, none)
    if request.flag "clean" then refuseErrors unit file.text offset
    return .done (said, ← openTactic unit file offset (request.flag "recursion") said)
  let some json := answer | refuse "index" s!"no tactic at byte {position}"
  return json

def replayCommands : List Command := [
  { name := "dojo.state_at"
    fields := behindFields ++
      [required .natural "position", optional .boolean "clean", optional .boolean "recursion"]
    run := stateAt }
]

end Dojo
