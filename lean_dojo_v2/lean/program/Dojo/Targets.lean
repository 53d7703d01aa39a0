import Dojo.Actions
import Dojo.Files

/-!
# Texts with open parts, and whether another text completes them: `frontend.distil`, `.refactor`, `.track`

A *search target* is a command that declares something with a `sorry` in its value. Later commands that mention it belong
to it as companions: a function to be found, and the theorems that it must satisfy, are one target.
-/

namespace Dojo

open Lean Elab Meta

/-- A command of a text. -/
private structure Piece where
  text : String
  /-- The constants that it adds. -/
  names : List Name
  /-- The first of them that is written in the text. -/
  name? : Option Name
  uses : NameSet
  isTarget : Bool

/-- A command with its companions, and whether each of these depends only on the command's own constants. -/
private structure Group where
  head : Piece
  companions : List (Piece × Bool) := []

/-- Whether a command is an `example` with a `sorry`, which leaves no constant behind. -/
private def isOpenExample (stx : Syntax) : Bool :=
  let has (kinds : List Name) : Bool := (stx.find? (kinds.contains ·.getKind)).isSome
  has [``Parser.Command.example] && has [``Parser.Term.sorry, ``Parser.Tactic.tacticSorry]

private def pieceOf (unit : Elaborated) (text : SourceText) : DojoM Piece := do
  let added := unit.added
  let written := added.filter fun (name, _) => (rangesOf? unit.after.env name).isSome
  let isOpen (one : Name × ConstantInfo) : Bool := valueHasSorry one.2
  let first? : Option (Name × ConstantInfo) := (written.find? isOpen).orElse fun _ => written[0]?
  let name? := first?.map (·.1)
  let (line, _) := text.position unit.start
  if isOpenExample unit.stx then
    refuse "elab" s!"line {line}: the `sorry` is in an `example`, which has no name; state it as a theorem"
  if name?.isNone && added.any isOpen then
    refuse "elab" s!"line {line}: the `sorry` is in a command that declares nothing by name"
  return {
    text := trimmed (text.slice unit.start unit.stop), names := (added.map (·.1)).toList, name?
    uses := setOf (added.flatMap fun (_, info) => constantsOf info), isTarget := added.any isOpen }

/-- The commands of a text, and the environment after them; errors in the text end the request. -/
private def readPieces (text kind : String) : DojoM (List Piece × Environment × OpenFile) := do
  let file ← openText { file := text, header := false, inScope := true }
  let (pieces, messages, state) ← file.run #[] fun pieces unit => do
    if unit.isEnd then return pieces
    return pieces.push (← pieceOf unit file.text)
  let said := (messages.filter isError).map fun { pos, data, .. } => s!"{pos.line}:{pos.column}: {data}"
  unless said.isEmpty do refuse kind s!"the text has errors:\n{"\n".intercalate said.toList}"
  return (pieces.toList, state.env, file)

private def companionsOf (head : Piece) (rest : List Piece) : List (Piece × Bool) × List Piece := Id.run do
  let mut known := head.names
  let mut companions := #[]
  let mut others := #[]
  for piece in rest do
    let used := known.filter piece.uses.contains
    if piece.name?.isNone || used.isEmpty then others := others.push piece else
      companions := companions.push (piece, used.all head.names.contains)
      known := known ++ piece.names
  return (companions.toList, others.toList)

/-- The commands in order, each target with its companions. -/
private partial def grouped : List Piece → List Group
  | [] => []
  | head :: rest =>
    if head.isTarget then
      let (companions, others) := companionsOf head rest
      { head, companions } :: grouped others
    else { head } :: grouped rest

/-- The type of a constant, in which every `sorry` becomes a hole. -/
private def statementOf (name : Name) : MetaM Expr := do
  return (← withoutSorry (← getConstInfo name).type).1

private def lastPart : Name → Name
  | .str _ part => .mkSimple part
  | name => name

private structure Composite where
  /-- The constant to be found. -/
  constant : Expr
  witness : Expr
  /-- The conjunction of its companions' statements. -/
  predicate : Expr
  /-- `{ f : T // predicate f }` -/
  type : Expr

private def compositeOf (head : Name) (companions : List Name) (binder : Name) : MetaM Composite := do
  let witness ← statementOf head
  let info ← getConstInfo head
  let constant := mkConst head (info.levelParams.map .param)
  let claims ← companions.mapM fun name => do kabstract (← statementOf name) constant
  let predicate := .lam binder witness (mkAndN claims) .default
  return { constant, witness, predicate, type := ← mkAppOptM ``Subtype #[some witness, some predicate] }

/--
Opens a target with its companions: a goal of its type or, unless values are ignored, a goal for each `sorry` in its value.
The result is its root and its open goals.
-/
private def openTarget (head : Name) (value : Expr) (companions : List (Name × Expr)) (binder : Name)
    (ignoreValues : Bool) : MetaM (MVarId × List MVarId) := do
  let whole? ← if companions.isEmpty then pure none else some <$> compositeOf head (companions.map (·.1)) binder
  let root ← newGoal (← whole?.elim (statementOf head) (pure ·.type))
  if ignoreValues then return (root, [root])
  let (first, firstGoals) ← withoutSorry value (if whole?.isSome then binder else .anonymous)
  let some whole := whole?
    | root.assign first
      return (root, firstGoals)
  let mut goals := firstGoals
  let mut proofs := #[]
  for (_, about) in companions do
    let (term, more) ← withoutSorry ((← kabstract about whole.constant).instantiate1 first)
    goals := goals ++ more
    proofs := proofs.push term
  let some last := proofs.back? | throwError "the target has no companions"
  let proof ← proofs.pop.foldrM (init := last) fun one rest => mkAppM ``And.intro #[one, rest]
  root.assign (← mkAppOptM ``Subtype.mk #[some whole.witness, some whole.predicate, some first, some proof])
  return (root, goals)

/-- The value of a constant, in which lemmas that Lean has split off are unfolded if they have a `sorry`. -/
private partial def valueIn (env : Environment) (name : Name) : Expr :=
  let value := ((env.find? name).bind valueOf?).getD (mkConst name)
  value.replace fun
    | .const used levels => do
      guard used.isInternalDetail
      let info ← env.find? used
      guard (valueHasSorry info)
      return (valueIn env used).instantiateLevelParams info.levelParams levels
    | _ => none

private def openGroup (env : Environment) (library : Environment) (group : Group) (request : Request) :
    DojoM Json := do
  let some head := group.head.name? | refuse "io" "a target without a name"
  let binder := ((request.text? "binderName").map (·.toName)).getD (lastPart head)
  let command := { (← get).command with env }
  let levels := ((env.find? head).map (·.levelParams)).getD []
  let monads := (← Monads.ofCommand command).withLevels levels
  let ignoreValues := request.flag "ignoreValues" true
  let value := valueIn env head
  let companions := group.companions.filterMap fun (piece, _) => piece.name?.map fun name => (name, valueIn env name)
  let ((root, goals), monads) ← monads.run (openTarget head value companions binder ignoreValues)
  /- The environment contains the target itself, because its goals may need its auxiliaries, such as matchers, but a proof
  must not cite it. -/
  let own := (group.head :: group.companions.map (·.1)).flatMap (·.names)
  let mentioned := (proofsOf monads.metaState.mctx [root]).terms.flatMap (·.getUsedConstants)
  let needed := closureWith env.find? mentioned own.contains
  let forbidden := setOf (own.filter fun name => !needed.any (·.1 == name)).toArray
  let state : ProofState := { monads := monads.withoutMessages, library, goals, root, forbidden }
  return record (← keepShown "stateId" state)

private def distil (request : Request) : DojoM Json := do
  let (pieces, env, file) ← readPieces (request.text "file") "io"
  let targets := (grouped pieces).filter (·.head.isTarget)
  let opened ← targets.mapM fun group => openGroup env file.base.library group request
  return record [("targets", .arr opened.toArray)]

private def fold (env : Environment) (group : Group) (options : List (String × Json)) : DojoM String := do
  let some head := group.head.name? | refuse "frontend" "a target without a name"
  if group.companions.any fun (_, isFlat) => !isFlat then
    refuse "frontend" s!"the companions of {nameText head} depend on each other, so they cannot be folded"
  let monads ← Monads.ofCommand (← commandState env (("pp.analyze", .bool true) :: options))
  let monads := monads.withLevels (((env.find? head).map (·.levelParams)).getD [])
  let binder := lastPart head
  let (whole, monads) ← monads.run (compositeOf head (group.companions.filterMap (·.1.name?)) binder)
  let type ← (exprText monads.printContext whole.type : IO String)
  return s!"def {nameText binder}_composite : {type} :=\n  sorry"

/-- Rewrites a text with each target and its companions as one definition. -/
private def refactor (request : Request) : DojoM Json := do
  let options ← (request.texts "coreOptions").mapM fun text => MonadExcept.ofExcept (parseAssignment text)
  let (pieces, env, _) ← readPieces (request.text "file") "frontend"
  let written ← (grouped pieces).mapM fun group =>
    if group.companions.isEmpty then pure group.head.text else fold env group options
  return record [("file", .str (String.join (written.map ("\n" ++ ·))))]

/-! ## `frontend.track`: whether a text completes what another one states -/

private structure Side where
  messages : Array SerialMessage
  file : OpenFile
  env : Environment
  /-- The constants that the text adds, in the order of its lines. -/
  added : Array (Name × ConstantInfo)

private def sideOf (text : String) : DojoM Side := do
  let file ← openText { file := text, header := false, inScope := true }
  let (_, messages, state) ← file.run () fun _ _ => return
  let line (name : Name) : Nat := ((rangesOf? state.env name).map (·.range.pos.line)).getD 1000000000
  let keyed := (addedTo file.state.env state.env).map fun (name, info) => (line name, nameText name, name, info)
  let sorted := keyed.qsort fun a b => a.1 < b.1 || (a.1 == b.1 && a.2.1 < b.2.1)
  return { messages, file, env := state.env, added := sorted.map fun (_, _, one) => one }

private def Side.find? (side : Side) (name : Name) : Option ConstantInfo :=
  (side.added.find? (·.1 == name)).map (·.2)

/-- Whether Lean made a constant along with a declaration: it depends on the declaration's value, and states nothing. -/
private def isInternal (name : Name) : Bool :=
  name.isInternalDetail || match name with
    | .str (.str ..) part => part.startsWith "_"
    | _ => false

/-- Whether a constant is the one that was stated: only a value with a `sorry` may differ. -/
private def fitsStated (stated given : ConstantInfo) : Bool :=
  kindWord stated == kindWord given && stated.isUnsafe == given.isUnsafe &&
    match valueOf? stated, valueOf? given with
    | none, _ => true
    | some was, some is => was.hasSorry || was == is
    | some was, none => was.hasSorry

private def differenceOf? (source target : Side) : Option String := Id.run do
  for (name, info) in target.added do
    let text := nameText name
    if info.type.hasSorry then return some s!"the type of {text} has a sorry"
    if valueHasSorry info then return some s!"the value of {text} has a sorry"
    match source.find? name with
    | none => if info matches .axiomInfo _ then return some s!"{text} is a new axiom"
    | some stated =>
      if stated.type != info.type then return some s!"{text} has another type"
      if stated.levelParams != info.levelParams then return some s!"{text} has other universe parameters"
      unless fitsStated stated info do return some s!"{text} is defined in another way"
  let missing? := source.added.find? fun (name, _) => (target.find? name).isNone && !isInternal name
  return missing?.map fun (name, _) => s!"{nameText name} is missing"

private def track (request : Request) : DojoM Json := do
  let source ← sideOf (request.text "src")
  let target ← sideOf (request.text "dst")
  let failed := source.messages.any isError || target.messages.any isError
  let failure? ← if failed then pure none else match differenceOf? source target with
    | some difference => pure (some difference)
    | none =>
      -- a program may have added them without the kernel
      let theorems := target.added.filter fun (_, info) => info matches .thmInfo _
      objection? target.file.state.env target.env (theorems.map (·.1))
  return record [("srcMessages", toJson source.messages), ("dstMessages", toJson target.messages)]
    [failure?.map fun failure => ("failure", .str failure)]

def targetCommands : List Command := [
  { name := "frontend.distil", run := distil, fields := [
      required .text "file", optional .text "binderName", optional .boolean "ignoreValues"] },
  { name := "frontend.refactor", run := refactor, fields := [required .text "file", optional .texts "coreOptions"] },
  { name := "frontend.track", run := track, fields := [required .text "src", required .text "dst"] }
]

end Dojo
