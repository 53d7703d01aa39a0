import Dojo.Digest
import Dojo.Files
import Dojo.Parts

/-!
# `dojo.trace` and `dojo.compile`: everything that tracing needs, from one elaboration of a file
-/

namespace Dojo

open Lean Elab

/--
The compiled file of a module as a list of its bytes, which Lean's own code prints, so that nothing is interpreted for each
byte. `none` if Lean cannot write it, or if one of its imports was elaborated in memory.
-/
def compiledModule? (file : OpenFile) (env : Environment) : DojoM (Option String) := do
  unless file.base.isImported do return none
  let some module := file.module? | return none
  let env ← upToDate env
  let written ← (do
    let data ← mkModuleData env
    let (_, path) ← IO.FS.createTempFile
    try
      saveModuleData path module data
      return some (toString (← IO.FS.readBinFile path).toList)
    finally
      IO.FS.removeFile path : IO (Option String)).toBaseIO
  return written.toOption.join

/-- The references of a module to constants, as `lean -i` would write them. -/
def ileanText (module : Name) (fileMap : FileMap) (trees : Array InfoTree) : IO String := do
  let references := Server.findModuleRefs fileMap trees (localVars := false)
  let file := record [
    ("version", toJson (5 : Nat)), ("module", toJson module), ("references", ← referencesJson references)]
  return file.compress

/-! ## Collecting what a trace records -/

private structure Found where
  declarations : Array Json := #[]
  tactics : Array Json := #[]
  commands : Array Json := #[]
  /-- The theorems of commands that declare nothing in their own syntax, such as macros. -/
  made : Array String := #[]
  /-- For Lean's own collection of references. -/
  trees : Array InfoTree := #[]
  /-- Constants that were mentioned. -/
  named : NameSet := {}
  references : Array Json := #[]

/-! ## Printing goals

Tracing spends most of its time on printing, and the same goals appear at many nodes. A goal without metavariables prints
the same everywhere; any other goal prints the same if the metavariables are the same.
-/

/-- The address of a live object. It only saves work and does not change what is printed. -/
@[inline] private def address {α : Type} (a : α) : USize := unsafe ptrAddrUnsafe a

/-- What was already printed of the goals of a command. -/
private structure Printed where
  /-- Texts and digests. -/
  texts : IO.Ref (Std.HashMap (USize × USize × Bool) String)
  spelt : IO.Ref SpeltTerms

/-- Whether a goal mentions no metavariables, so that nothing can change it. -/
private def isSettled (decl : MetavarDecl) : Bool :=
  !decl.type.hasMVar && decl.lctx.decls.all fun local? =>
    local?.all fun decl => !decl.type.hasMVar && !(decl.value?.any (·.hasMVar))

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
  let printing := printContextAt context mctx
  return stateText (← goals.mapM fun goal => rememberGoal printed mctx goal false (goalText printing goal))

/-! ## Tactics and references -/

/-- The digest of the first goal before a tactic, as `dojo.digest` gives it. -/
private def firstDigest (printed : Printed) (info : TacticInfo) : IO Json := do
  let goal :: _ := info.goalsBefore | return .null
  let mctx := info.mctxBefore
  return .str (← rememberGoal printed mctx goal true do
    let digest? ← printed.spelt.modifyGet (goalDigest? mctx goal |>.run ·)
    return digest?.getD "")

private def tacticJson (text : SourceText) (printed : Printed) (ran : Ran) : IO Json := do
  let { above, info, range := (start, stop) } := ran
  return record [
    ("tactic", .str (text.slice start stop)), ("bytes", text.bytes start stop),
    ("state_before", .str (← printGoals printed above.context info.mctxBefore info.goalsBefore)),
    ("state_after", .str (← printGoals printed above.context info.mctxAfter info.goalsAfter)),
    ("digest", ← firstDigest printed info)]

/-- A constant, and where it is declared. -/
private def homeJson (file : OpenFile) (env : Environment) (name : Name) : Json :=
  let ranges? := rangesOf? env name
  let place (of : DeclarationRange → Position) : Json := ranges?.elim .null fun ranges =>
    let position := of ranges.selectionRange
    toJson #[position.line, position.column + 1]
  let module? := moduleOf? env name <|> file.base.moduleOf? name <|> file.module?
  record [
    ("lean_name", .str (nameText name)), ("module", module?.elim .null fun module => .str (moduleText module)),
    ("def_pos", place (·.pos)), ("def_end_pos", place (·.endPos))]

/-- The syntax of a node that mentions a constant, and the constant. -/
private def mention? : Info → Option (Syntax × Name)
  | .ofTermInfo term => term.expr.constName?.map (term.stx, ·)
  | .ofFieldInfo field => some (field.stx, field.projName)
  | _ => none

/-- Collects tactics and references. Printing is expensive, so only the members of tactic sequences are printed, once. -/
private def collect (file : OpenFile) (unit : Elaborated) (nodes : Nodes) : StateT Found IO Unit := do
  let env := unit.after.env
  for (_, info) in nodes do
    let some (stx, name) := mention? info | continue
    if (rangeOf? stx).isNone || (← get).named.contains name then continue
    let reference := homeJson file env name
    modify fun all => { all with named := all.named.insert name, references := all.references.push reference }
  let printed : Printed := { texts := ← IO.mkRef {}, spelt := ← IO.mkRef {} }
  let runs := (runsOf nodes (unit.sequences nodes)).toArray.map (·.2)
  for run in runs.qsort (·.place < ·.place) do
    let json ← tacticJson file.text printed run.toRan
    modify fun all => { all with tactics := all.tactics.push json }

/-! ## Declarations -/

private def declarationJson (text : SourceText) (unit : Elaborated) (added : Array (Name × ConstantInfo))
    (declared : Declared) : Json :=
  let env := unit.after.env
  let uses := (declared.name?.filter fun name => (env.find? name).isSome).elim #[] (usesOf env · added)
  let bytes (range : ByteRange) : String × Json := ("bytes", text.bytes range.1 range.2)
  record [
    ("lean_name", declared.name?.elim .null fun name => .str (nameText name)), ("uses", toJson (uses.map nameText)),
    bytes declared.range, ("statement", record [bytes declared.statement])]

private def visitUnit (file : OpenFile) (unit : Elaborated) : StateT Found IO Unit := do
  let nodes := unit.nodes
  let declared := unit.declared nodes
  let added := unit.added
  let made := if declared.isEmpty then added.filter fun (name, info) => (info matches .thmInfo _) && !name.isInternalDetail
    else #[]
  modify fun all => { all with
    commands := all.commands.push (record [("bytes", file.text.bytes unit.start unit.stop)])
    declarations := all.declarations ++ declared.map (declarationJson file.text unit added)
    made := all.made ++ made.map (nameText ·.1)
    trees := all.trees ++ unit.trees.toArray }
  collect file unit nodes

private def trace (request : Request) : DojoM Json := do
  let file ← openText (.ofRequest request)
  let (all, messages, state) ← file.run ({} : Found) fun found unit => return (← ((visitUnit file unit).run found : IO _)).2
  let ilean ← (ileanText (file.module?.getD .anonymous) file.text.input.fileMap all.trees : IO String)
  let olean? ← if request.flag "olean" then compiledModule? file state.env else pure none
  return record [
    ("module", file.module?.elim .null fun module => .str (moduleText module)),
    ("messages", toJson messages), ("declarations", .arr all.declarations), ("tactics", .arr all.tactics),
    ("references", .arr all.references), ("made", toJson all.made), ("commands", .arr all.commands),
    ("in_memory", toJson (file.base.owners.map fun (module, _) => moduleText module)), ("ilean", .str ilean)]
    [olean?.map fun text => ("olean", .str text)]

/-- Compiles a module of the project, so that others can import it. -/
private def compileModule (request : Request) : DojoM Json := do
  let file ← openText (.ofRequest request)
  let (_, _, state) ← file.run () fun _ _ => return
  let olean? ← compiledModule? file state.env
  return record [] [olean?.map fun text => ("olean", .str text)]

def traceCommands : List Command := [
  { name := "dojo.trace"
    fields := textFields ++ [optional .boolean "compiled", optional .boolean "olean"]
    run := trace },
  { name := "dojo.compile", fields := textFields ++ [optional .boolean "compiled"], run := compileModule }
]

end Dojo
