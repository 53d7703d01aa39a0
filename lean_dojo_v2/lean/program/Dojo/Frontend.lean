import Dojo.InfoTrees
import Dojo.Options

/-!
# Running Lean's monads and its front end

A proof state holds the contexts and states that its next step runs with. Lean itself makes the first of them from a
command state.
-/

namespace Dojo

open Lean Elab Meta

/-- An exception's text, without the hints that only an editor could show. -/
def exceptionText (exception : Exception) : BaseIO String := do
  let text ← exception.toMessageData.toString
  return text.replace "(invalid MessageData.lazy, missing context)" ""

/-- Runs a command's action on a command state. -/
def runCommand {α} (act : Command.CommandElabM α) (context : Command.Context) (state : Command.State) :
    BaseIO (Except Exception (α × Command.State)) :=
  (((act context).run state : EIO Exception (α × Command.State))).toBaseIO

/-- The same without a text; a Lean exception ends the request. -/
def performCommand {α} (act : Command.CommandElabM α) (state : Command.State) : DojoM (α × Command.State) := do
  match ← runCommand act (commandContext "<input>" (FileMap.ofString "") 0 none) state with
  | .ok result => return result
  | .error exception => refuse "exception" (← exceptionText exception)

/-- The contexts and initial states that Lean's `liftTermElabM` makes for a command state; failing terms are errors. -/
def Monads.ofCommand (state : Command.State) : DojoM Monads := do
  let act : TermElabM Monads := do
    return {
      termContext := { (← readThe Term.Context) with errToSorry := false }
      metaContext := ← readThe Meta.Context
      coreContext := ← readThe Core.Context
      termState := ← getThe Term.State
      metaState := ← getThe Meta.State
      coreState := ← getThe Core.State
    }
  return (← performCommand (Command.liftTermElabM act) state).1

/-- Runs an action. A Lean exception is returned as a value, along with the state at that point. -/
def Monads.attempt {α} (monads : Monads) (act : TermElabM α) : DojoM (Except Exception α × Monads) := do
  let cancelTk? := (← get).cancel
  let initHeartbeats ← (IO.getNumHeartbeats : BaseIO Nat)
  let core := { monads.coreContext with initHeartbeats, cancelTk? }
  let termRef ← IO.mkRef monads.termState
  let metaRef ← IO.mkRef monads.metaState
  let coreRef ← IO.mkRef monads.coreState
  let result ← (act monads.termContext termRef monads.metaContext metaRef core coreRef).toBaseIO
  let (termState, metaState, coreState) := (← termRef.get, ← metaRef.get, ← coreRef.get)
  return (result, { monads with termState, metaState, coreState })

/-- Runs an action. A Lean exception ends the request with an error of the given kind. -/
def Monads.run {α} (monads : Monads) (act : TermElabM α) (kind := "exception") : DojoM (α × Monads) := do
  match ← monads.attempt act with
  | (.ok value, monads) => return (value, monads)
  | (.error exception, _) => refuse kind (← exceptionText exception)

/-!
## The messages of `#print axioms`

The embedded engine's library has no proofs, so Lean itself would list each of its theorems as an axiom.
-/

/-- Whether a constant was imported from Lean's library. -/
def isLibrary (env : Environment) (name : Name) : Bool :=
  (moduleOf? env name).any fun module => [`Init, `Std, `Lean, `Lake].contains module.getRoot

private def axiomsSentence (env : Environment) (name : Name) : String := Id.run do
  let mut names := #[]
  let mut unseen := 0
  for (used, info?) in closureWith env.find? #[name] (!isLibrary env ·) do
    unless info? matches some (.axiomInfo _) do continue
    let kind? := getOriginalConstKind? env used
    if !isLibrary env used || kind? == some .axiom then names := names.push (userText used)
    else if kind? == some .thm then unseen := unseen + 1
  let known := if names.isEmpty then s!"'{userText name}' does not depend on any axioms"
    else s!"'{userText name}' depends on axioms: [{", ".intercalate (names.qsort (· < ·)).toList}]"
  if unseen == 0 then return known
  let theorems := if unseen == 1 then "a theorem of Lean's library" else s!"{unseen} theorems of Lean's library"
  return s!"{known}, besides those of {theorems}: the embedded engine has no proofs of these"

/-- Corrects the messages of `#print axioms` in an environment whose library has no proofs. -/
def correctAxioms (kind : Name) (messages : Array SerialMessage) (trees : List InfoTree) (env : Environment) :
    Array SerialMessage :=
  if kind != ``Parser.Command.printAxioms || hasProofs env then messages else
  let asked := (nodesOf trees).filterMap fun
    | (_, .ofTermInfo term) => term.expr.constName?
    | _ => none
  let isAnswer (message : SerialMessage) : Bool := message.severity matches .information
  if (messages.filter isAnswer).size != asked.size then messages else
  let correct (message : SerialMessage) : StateM (List Name) SerialMessage := do
    unless isAnswer message do return message
    let name :: rest ← get | return message
    set rest
    return { message with data := axiomsSentence env name }
  ((messages.mapM correct).run' asked.toList).run

/-!
## Elaborating a text, command by command

This follows Lean's own front end (`Lean.Elab.Frontend`). A visitor sees each command with the state before it, its
syntax, messages and information trees.
-/

/-- Whether this is the end of the text. -/
def Elaborated.isEnd (unit : Elaborated) : Bool := unit.stx.isOfKind ``Parser.Command.eoi

/-- Whether Lean reads nothing after it. -/
def Elaborated.isLast (unit : Elaborated) : Bool := unit.isEnd || unit.stx.isOfKind ``Parser.Command.exit

/-- The nodes of its information trees. -/
def Elaborated.nodes (unit : Elaborated) : Nodes := nodesOf unit.trees

/-- The constants that it added. -/
def Elaborated.added (unit : Elaborated) : Array (Name × ConstantInfo) := addedTo unit.before.env unit.after.env

/-- Messages as Lean serialises them. -/
def messagesOf (log : MessageLog) : BaseIO (Array SerialMessage) := log.toArray.mapM (·.serialize)

def isError (message : SerialMessage) : Bool := message.severity matches .error

/-- A fresh command state. If `module?` is given, private names carry its name. -/
def commandState (env : Environment) (given : List (String × Json) := []) (module? : Option Name := none) :
    DojoM Command.State := do
  let options ← MonadExcept.ofExcept (withLimits (← read).options given)
  let env := module?.elim env env.setMainModule
  return Command.mkState env {} (← MonadExcept.ofExcept (leanOptions options))

/-- Whether what follows is given to Lean's kernel. The judge gives it everything that a proof rests on. -/
def withKernel (state : Command.State) (kernel : Bool) : Command.State :=
  let scopes := state.scopes.map fun scope => { scope with opts := debug.skipKernelTC.set scope.opts !kernel }
  { state with scopes }

/-- A header as Lean's own parser reads it. -/
structure Header where
  /-- `Init` is among them unless the file begins with `prelude`. -/
  imports : Array Name
  /-- The modules of `import all`. -/
  whole : Array Name
  /-- The line and column of each written import, from 1. -/
  places : Array (Name × Nat × Nat)
  messages : Array SerialMessage
  parserState : Parser.ModuleParserState

def parseHeader (source : SourceText) : IO Header := do
  let (header, parserState, log) ← Parser.parseHeader source.input
  let all := headerToImports header
  let whole := (all.filter (·.importAll)).map (·.module)
  let mut places := #[]
  for stx in Syntax.topDown header do
    unless stx.isOfKind ``Parser.Module.import do continue
    if let (some (start, _), some name) := (rangeOf? stx, stx.find? (·.isIdent)) then
      places := places.push (name.getId, source.position start)
  return { imports := all.map (·.module), whole, places, messages := ← messagesOf log, parserState }

/-- Adds its line and column to a failed import: those of the first module in the header that the error mentions. -/
def Header.locating {α} (header : Header) (act : DojoM α) : DojoM α := do
  try act catch failure =>
    let words := wordsOf (failure.desc.map fun c => if "(),:".contains c then ' ' else c)
    let place? := words.findSome? fun word => header.places.findSome? fun (name, place) =>
      if moduleText name == word then some place else none
    let some (line, column) := place? | throw failure
    if failure.error != "import" then throw failure
    throw { failure with desc := s!"{line}:{column}: {failure.desc}" }

private def parseCommand (source : SourceText) (parserState : Parser.ModuleParserState) (state : Command.State) :
    Syntax × Parser.ModuleParserState × MessageLog :=
  let scope := state.scopes.head!
  let context : Parser.ParserModuleContext :=
    { env := state.env, options := scope.opts, currNamespace := scope.currNamespace, openDecls := scope.openDecls }
  Parser.parseCommand source.input context parserState {}

/-- Where the command ends that begins at a parser's state; `none` if the parser complains about it. -/
def cleanEnd? (source : SourceText) (parserState : Parser.ModuleParserState) (state : Command.State) : Option Nat :=
  let (_, next, log) := parseCommand source parserState state
  if log.hasUnreported || log.hasErrors then none else some next.pos.byteIdx

/-- The messages from the tasks of a command. A text may have tasks elaborate its proofs (`set_option Elab.async true`). -/
private def saidByTasks (state : Command.State) : MessageLog :=
  state.snapshotTasks.foldl (init := {}) fun log task =>
    task.get.getAll.foldl (init := log) fun log one => one.diagnostics.msgLog.unreported.foldl (·.add ·) log

/-- The number of tactics in the longest sequence of a piece of syntax, or `longest` if that is more. -/
private partial def longestSequence (longest : Nat) (stx : Syntax) : Nat :=
  let own := if isSequence stx then stx.getArgs.foldl (init := 0) fun most list => max most ((list.getNumArgs + 1) / 2) else 0
  stx.getArgs.foldl (init := max longest own) longestSequence

/-- Elaborates one command. Lean logs what elaborators throw; an exception that arrives here is a silent abort. -/
private def elaborate (source : SourceText) (stx : Syntax) (state : Command.State) (position : Nat) :
    DojoM Command.State := do
  let context := commandContext source.fileName source.input.fileMap position (← get).cancel
  let act : Command.CommandElabM Command.State := do
    let length := longestSequence 0 stx
    if length > maxTactics then
      logErrorAt stx m!"a sequence of {length} tactics, more than {maxTactics}"
    else
      try Command.elabCommandTopLevel stx catch _ => pure ()
    get
  match ← runCommand act context { state with messages := {}, infoState := { enabled := true } } with
  | .ok (after, _) => return { after with messages := after.messages ++ saidByTasks after, snapshotTasks := #[] }
  | .error _ => return state

private partial def runCommands {σ} (source : SourceText) (parserState : Parser.ModuleParserState) (state : Command.State)
    (found : σ) (visit : σ → Elaborated → DojoM (ForInStep σ)) (limit? : Option Nat) :
    DojoM (σ × Parser.ModuleParserState × Command.State) := do
  let start := parserState.pos.byteIdx
  if limit?.any (start ≥ ·) then return (found, parserState, state)
  let (stx, next, log) := parseCommand source parserState state
  let stop := min next.pos.byteIdx source.size
  let complaints ← messagesOf log
  if limit?.any fun limit => stop > limit || (stop == limit && !complaints.isEmpty) then
    return (found, parserState, state)
  let after ← elaborate source stx state start
  -- including those from its tasks
  let trees := after.infoState.substituteLazy.get.trees.toList
  let messages := complaints ++ correctAxioms stx.getKind (← messagesOf after.messages) trees after.env
  let unit := { start, stop, stx, messages, trees, before := state, after, next, isClean := complaints.isEmpty }
  match ← visit found unit with
  | .done found => return (found, next, after)
  | .yield found =>
    if unit.isLast then return (found, next, after)
    runCommands source next after found visit limit?

/--
Elaborates a text from a given state on, until `visit` is done with what it has `found`. With a `limit?` (a byte of Lean's
text), it elaborates only commands that end at or before the limit. It omits a command that ends there with a syntax error,
because that may be the beginning of what follows the limit.
-/
def runSource {σ} (source : SourceText) (parserState : Parser.ModuleParserState) (state : Command.State)
    (found : σ) (visit : σ → Elaborated → DojoM (ForInStep σ)) (limit? : Option Nat := none) :
    DojoM (σ × Parser.ModuleParserState × Command.State) := do
  let text := source.lean
  let start := parserState.pos.byteIdx
  let (sized, first) := (← get).sized
  unless first ≤ start && sized == text do
    if let some problem := sizeProblem? text start then refuse "command" s!"file: {problem}"
    modify ({ · with sized := (text, start) })
  runCommands source parserState state found visit limit?

end Dojo
