import Dojo.Axioms
import Dojo.Options
import Dojo.Run
import Dojo.Taint
import Dojo.Text

/-!
# Elaborating a text, command by command

As Lean's own front end does (`Lean.Elab.Frontend`). A visitor sees each command with the state before it, its syntax,
messages and information trees.
-/

namespace Dojo

open Lean Elab

/-- A text ready for the parser. -/
structure Source where
  text : SourceText
  fileName : String
  input : Parser.InputContext

def Source.ofText (text : SourceText) (fileName : String) : Source :=
  { text, fileName, input := Parser.mkInputContext text.lean fileName }

/-- One command of a text. -/
structure Elaborated where
  /-- Where it begins, in bytes of Lean's text. -/
  start : Nat
  /-- Where it ends, trailing white space included. -/
  stop : Nat
  stx : Syntax
  /-- Its messages as JSON. -/
  messages : Array Json
  trees : List InfoTree
  before : Command.State
  after : Command.State

def Elaborated.kind (unit : Elaborated) : Name := unit.stx.getKind

/-- Whether it is the end of the text. -/
def Elaborated.isEnd (unit : Elaborated) : Bool := unit.kind == ``Parser.Command.eoi

/-- The constants that it added. -/
def Elaborated.added (unit : Elaborated) : Array (Name × ConstantInfo) := addedTo unit.before.env unit.after.env

/-- Messages as Lean serialises them: `{severity, pos, endPos, data, kind, caption, fileName, …}`. -/
def messagesJson (log : MessageLog) : BaseIO (Array Json) := log.toArray.mapM (·.toJson)

def isError (message : Json) : Bool := message.getObjValAs? String "severity" matches .ok "error"

/-- A command state to begin with; in `module?`, whose name private names carry, if one is given. -/
def commandState (env : Environment) (options : List (String × Json)) (module? : Option Name := none) :
    DojoM Command.State := do
  let env := match module? with
    | some module => env.setMainModule module
    | none => env
  return Command.mkState env {} (← MonadExcept.ofExcept (leanOptions options))

/-- What Lean's own parser reads in a header. -/
structure Header where
  /-- `Init` is among them unless the file begins with `prelude`. -/
  imports : Array Name
  /-- Those of `import all`. -/
  whole : Array Name
  messages : Array Json
  parserState : Parser.ModuleParserState

def parseHeader (source : Source) : IO Header := do
  let (header, parserState, log) ← Parser.parseHeader source.input
  let all := headerToImports header
  let whole := (all.filter isWhole).map (·.module)
  return { imports := all.map (·.module), whole, messages := ← messagesJson log, parserState }

private def parseCommand (source : Source) (parserState : Parser.ModuleParserState) (state : Command.State) :
    Syntax × Parser.ModuleParserState × MessageLog :=
  let scope := state.scopes.head!
  let context : Parser.ParserModuleContext :=
    { env := state.env, options := scope.opts, currNamespace := scope.currNamespace, openDecls := scope.openDecls }
  Parser.parseCommand source.input context parserState {}

/-- The trees of the last command, with what its tasks contributed filled in. -/
private def treesOf (state : Command.State) : List InfoTree :=
  state.infoState.substituteLazy.get.trees.toList

/-- What tasks of a command say: a text may have its proofs elaborated by some (`set_option Elab.async true`). -/
private def saidByTasks (state : Command.State) : MessageLog :=
  state.snapshotTasks.foldl (init := {}) fun log task =>
    task.get.getAll.foldl (init := log) fun log one => one.diagnostics.msgLog.unreported.foldl (·.add ·) log

/-- Elaborates one command. What elaborators throw is logged; an exception that gets here is an abort, silent in Lean. -/
private def elaborate (source : Source) (stx : Syntax) (state : Command.State) (position : Nat) :
    DojoM Command.State := do
  let context := commandContext source.fileName source.text.fileMap position (← (← read).cancel.get)
  let act : Command.CommandElabM Command.State := do
    try Command.elabCommandTopLevel stx catch _ => pure ()
    get
  match ← runCommand act context { state with messages := {}, infoState := { enabled := true } } with
  | .ok (after, _) => return { after with messages := after.messages ++ saidByTasks after, snapshotTasks := #[] }
  | .error _ => return state

private def elaborateUnit (source : Source) (stx : Syntax) (before : Command.State) (start stop : Nat)
    (complaints : Array Json) : DojoM Elaborated := do
  noteCommand before.env stx
  let after ← elaborate source stx before start
  notePretenders before.env after.env
  let trees := treesOf after
  let said ← messagesJson after.messages
  let messages := complaints ++ correctAxioms stx.getKind said trees after.env
  return { start, stop, stx, messages, trees, before, after }

private def isLast (stx : Syntax) : Bool :=
  stx.isOfKind ``Parser.Command.eoi || stx.isOfKind ``Parser.Command.exit

/--
Elaborates a text from a state on, until `visit` says to stop. With a `limit?` (a byte of Lean's text), only the
commands that end at or before it; one that ends there with a syntax error is not among them: it may be the beginning of
what follows, which Lean could not read.
-/
partial def runSource (source : Source) (parserState : Parser.ModuleParserState) (state : Command.State)
    (visit : Elaborated → DojoM Bool) (limit? : Option Nat := none) :
    DojoM (Parser.ModuleParserState × Command.State) := do
  let start := parserState.pos.byteIdx
  if limit?.any (start ≥ ·) then return (parserState, state)
  let (stx, next, log) := parseCommand source parserState state
  let stop := min next.pos.byteIdx source.text.size
  let complaints ← messagesJson log
  if limit?.any fun limit => stop > limit || (stop == limit && !complaints.isEmpty) then return (parserState, state)
  let unit ← elaborateUnit source stx state start stop complaints
  let finished ← visit unit
  if finished || isLast stx then return (next, unit.after)
  runSource source next unit.after visit limit?

end Dojo
