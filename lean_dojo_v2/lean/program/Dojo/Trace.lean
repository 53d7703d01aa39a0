import Dojo.Compiled
import Dojo.Declarations
import Dojo.Digest
import Dojo.Files
import Dojo.Sequences

/-!
# `dojo.trace`: everything about a file that tracing needs, out of one elaboration
-/

namespace Dojo

open Lean Elab

/-- What was found so far. -/
private structure Found where
  messages : Array Json := #[]
  declarations : Array Json := #[]
  tactics : Array Json := #[]
  references : Array Json := #[]
  commands : Array Json := #[]
  /-- The theorems of commands that declare nothing by their own syntax: a macro made them. -/
  made : Array String := #[]
  /-- Trees that are kept for Lean's own collection of references. -/
  trees : Array InfoTree := #[]
  /-- What is known of the constants that were named. -/
  constants : Std.HashMap Name (List (String × Json)) := {}
  /-- The last reference's place and constant. -/
  last : Option (Nat × Nat × Name) := none

/-! ## Printing goals

Printing is what tracing spends its time on, and the same goals appear at many nodes: a goal without metavariables reads
the same wherever it appears, any other wherever the metavariables are the same.
-/

private unsafe def addressUnsafe {α : Type} (a : α) : USize := ptrAddrUnsafe a

/-- The address of an object that is held. It only saves work: what is printed is the same without. -/
@[implemented_by addressUnsafe]
private opaque address {α : Type} (a : α) : USize

/-- What is known of the goals of a command. -/
private structure Printed where
  /-- Texts and digests. -/
  texts : IO.Ref (Std.HashMap (USize × USize × Bool) String)
  spelt : IO.Ref SpeltTerms

/-- Whether a goal mentions no metavariables, so that nothing can change what it says. -/
private def isSettled (decl : MetavarDecl) : Bool :=
  !decl.type.hasMVar && decl.lctx.decls.all fun local? =>
    match local? with
    | none => true
    | some decl => !decl.type.hasMVar && !(decl.value?.any (·.hasMVar))

private def rememberGoal (printed : Printed) (mctx : MetavarContext) (goal : MVarId) (isDigest : Bool)
    (compute : IO String) : IO String := do
  let some decl := mctx.findDecl? goal | return ""
  let key := (address decl, if isSettled decl then 0 else address mctx, isDigest)
  if let some text := (← printed.texts.get)[key]? then return text
  let text ← compute
  printed.texts.modify (·.insert key text)
  return text

private def printGoals (printed : Printed) (context : ContextInfo) (mctx : MetavarContext) (goals : List MVarId) :
    IO String := do
  if goals.isEmpty then return "no goals"
  let printing := printContextAt context mctx
  let texts ← goals.mapM fun goal => rememberGoal printed mctx goal false (goalText printing goal)
  return "\n\n".intercalate texts

/-! ## Tactics and references -/

/-- Syntax that is no tactic, but may hold some. -/
private def holdsTactics (stx : Syntax) : Bool :=
  let kind := kindOf stx
  kind.isAnonymous || kind == nullKind || kind == ``Parser.Term.byTactic || isSequence stx

/-- The digest of the first goal before a tactic, as `dojo.digest` gives it. -/
private def firstDigest (printed : Printed) (info : TacticInfo) : IO Json := do
  let goal :: _ := info.goalsBefore | return .null
  let mctx := info.mctxBefore
  return .str (← rememberGoal printed mctx goal true do
    let digest? ← printed.spelt.modifyGet (goalDigest? mctx goal |>.run ·)
    return digest?.getD "")

private def tacticJson? (text : SourceText) (printed : Printed) (inSequence : Bool) (above : Above)
    (info : TacticInfo) : IO (Option Json) := do
  let some (start, stop) := rangeOf? info.stx | return none
  let nameOr (name? : Option Name) (write : Name → String) : Json := match name? with
    | some name => .str (write name)
    | none => .null
  return some <| record ([
    ("tactic", .str (text.slice start stop)),
    ("kind", .str (nameText (kindOf info.stx))),
    ("parent_kind", nameOr (above.tactic?.map kindOf) nameText),
    ("in_sequence", .bool inSequence),
    ("state_before", .str (← printGoals printed above.context info.mctxBefore info.goalsBefore)),
    ("state_after", .str (← printGoals printed above.context info.mctxAfter info.goalsAfter)),
    ("digest", ← firstDigest printed info),
    ("declaration", nameOr above.context.parentDecl? userText)] ++ text.range start stop)

private def describeConstant (file : OpenFile) (env : Environment) (name : Name) : List (String × Json) :=
  let ranges? := rangesOf? env name
  let place (of : DeclarationRange → Position) : Json := match ranges? with
    | some ranges =>
      let position := of ranges.selectionRange
      toJson #[position.line, position.column + 1]
    | none => .null
  let module := match moduleOf? env name <|> file.moduleOf? name with
    | some module => Json.str (moduleText module)
    | none => .null
  [ ("full_name", .str (userText name)), ("lean_name", .str (nameText name)), ("module", module),
    ("def_pos", place (·.pos)), ("def_end_pos", place (·.endPos)) ]

private def addReference (file : OpenFile) (env : Environment) (found : IO.Ref Found) (stx : Syntax) (name : Name)
    (isBinder : Bool) : IO Unit := do
  let some (start, stop) := rangeOf? stx | return
  let known ← found.get
  if known.last == some (start, stop, name) then return
  let described := match known.constants[name]? with
    | some described => described
    | none => describeConstant file env name
  let reference := record (("is_binder", .bool isBinder) :: described ++ file.text.range start stop)
  found.modify fun all =>
    let constants := if all.constants.contains name then all.constants else all.constants.insert name described
    { all with references := all.references.push reference, constants, last := some (start, stop, name) }

/-- Printing goals costs time: with `sequenceOnly` each member of a tactic sequence is printed once, and nothing else. -/
private def collect (file : OpenFile) (found : IO.Ref Found) (sequenceOnly : Bool) (unit : Elaborated) : IO Unit := do
  let printed : Printed := { texts := ← IO.mkRef {}, spelt := ← IO.mkRef {} }
  let env := unit.after.env
  let addTactic (inSequence : Bool) (above : Above) (info : TacticInfo) : IO Unit := do
    if let some json ← tacticJson? file.text printed inSequence above info then
      found.modify fun all => { all with tactics := all.tactics.push json }
  let addName (_ : Above) (info : Info) : IO Unit := do
    match info with
    | .ofTermInfo term =>
      if let .const name _ := term.expr then addReference file env found term.stx name term.isBinder
    | .ofFieldInfo field => addReference file env found field.stx field.projName false
    | _ => pure ()
  let runs ← runsOf unit (← unit.sequences) addName
  if sequenceOnly then
    for run in runs.toArray.map (·.2) |>.qsort (·.place < ·.place) do addTactic true run.above run.info
  else visitTrees unit.trees fun above info => do
    let .ofTacticInfo tactic := info | return
    let isCounted := match (rangeOf? tactic.stx).bind (runs[·]?) with
      | some run => address run.info == address tactic
      | none => false
    if isCounted || !holdsTactics tactic.stx then addTactic isCounted above tactic

/-! ## Declarations -/

private def describeDeclaration (text : SourceText) (unit : Elaborated) (added : Array (Name × ConstantInfo))
    (declared : Declared) : Json :=
  let env := unit.after.env
  let info? := declared.name?.bind env.find?
  let (hasSorry, uses) := match declared.name?, info? with
    | some name, some _ => dependencies env name added
    -- for what leaves no constant behind (examples, failures), Lean's own warning is all there is
    | _, _ => (unit.messages.any fun message => message.getObjValAs? String "kind" matches .ok "hasSorry", #[])
  let fullName := if declared.kind == "example" then none else declared.name?
  let textOr (name? : Option Name) (write : Name → String) : Json := match name? with
    | some name => .str (write name)
    | none => .null
  record ([
    ("kind", .str declared.kind),
    ("full_name", textOr fullName userText),
    ("lean_name", textOr declared.name? nameText),
    ("is_private", .bool (declared.name?.any isPrivateName)),
    ("mutual", .bool declared.isMutual),
    ("statement", record (text.range declared.statement.1 declared.statement.2)),
    ("elaborated", .bool info?.isSome),
    ("has_sorry", .bool hasSorry),
    ("uses", toJson (uses.map nameText)),
    ("is_prop", .bool (info? matches some (.thmInfo _)))] ++ text.range declared.range.1 declared.range.2)

private def theoremsMade (unit : Elaborated) : Array String :=
  unit.added.filterMap fun (name, info) =>
    if (info matches .thmInfo _) && !name.isInternalDetail then some (nameText name) else none

private def visitUnit (file : OpenFile) (found : IO.Ref Found) (sequenceOnly keepTrees : Bool) (unit : Elaborated) :
    IO Unit := do
  let command := record (("kind", .str (nameText unit.kind)) :: file.text.range unit.start unit.stop)
  let declared ← unit.declared
  let added := if declared.isEmpty then #[] else unit.added
  found.modify fun all => { all with
    commands := all.commands.push command
    messages := all.messages ++ unit.messages
    declarations := all.declarations ++ declared.map (describeDeclaration file.text unit added)
    made := if declared.isEmpty then all.made ++ theoremsMade unit else all.made
    trees := if keepTrees then all.trees ++ unit.trees.toArray else all.trees }
  collect file found sequenceOnly unit

private def trace (request : Request) : DojoM Json := do
  let file ← openText (.ofRequest request)
  let found ← IO.mkRef { messages := file.messages : Found }
  let keepTrees := request.flag "ilean"
  let state ← file.run fun unit => do
    (visitUnit file found (request.flag "sequenceOnly") keepTrees unit : IO Unit)
    return false
  let all ← (found.get : BaseIO Found)
  let ilean? ← if keepTrees then some <$> (ileanText (file.module?.getD .anonymous) file.text.fileMap all.trees : IO String)
    else pure none
  let olean? ← if request.flag "olean" then compiledModule? file state.env else pure none
  let module := match file.module? with
    | some module => Json.str (moduleText module)
    | none => .null
  return record [
    ("imports", toJson (file.imports.map moduleText)),
    ("module", module),
    ("messages", .arr all.messages),
    ("declarations", .arr all.declarations),
    ("tactics", .arr all.tactics),
    ("references", .arr all.references),
    ("made", toJson all.made),
    ("commands", .arr all.commands),
    ("in_memory", toJson (file.base.owners.map fun (module, _) => moduleText module))]
    [ilean?.map fun text => ("ilean", .str text), olean?.map fun text => ("olean", .str text)]

/-- Compiles a module of the project: what others import. -/
private def compileModule (request : Request) : DojoM Json := do
  let file ← openText (.ofRequest request)
  let state ← file.run fun _ => return false
  let olean? ← compiledModule? file state.env
  return record [] [olean?.map fun text => ("olean", .str text)]

def traceCommands : List Command := [
  { name := "dojo.trace"
    fields := textFields ++
      [ optional .boolean "compiled", optional .boolean "olean", optional .boolean "ilean",
        optional .boolean "sequenceOnly" ]
    run := trace },
  { name := "dojo.compile", fields := textFields ++ [optional .boolean "compiled"], run := compileModule }
]

end Dojo
