import Dojo.Modules

/-!
# A text of a request as a file to elaborate

Its header, the environment it starts from, and its own module name.
-/

namespace Dojo

open Lean Elab

/-- The module of a text without a name, as on Lean's command line. -/
private def unnamed : Name := `_stdin

/-- A text that is ready to be elaborated. -/
structure OpenFile where
  source : Source
  parserState : Parser.ModuleParserState
  /-- The command state before the first command. -/
  state : Command.State
  base : Base
  /-- The text's module, where it has one. -/
  module? : Option Name
  /-- Each once. -/
  imports : Array Name := #[]
  /-- Messages of the header. -/
  messages : Array Json := #[]

def OpenFile.text (file : OpenFile) : SourceText := file.source.text

/-- The environment that the text begins in. -/
def OpenFile.below (file : OpenFile) : Environment := file.state.env

/-- The module of a constant that was elaborated in memory. -/
def OpenFile.moduleOf? (file : OpenFile) (name : Name) : Option Name :=
  file.base.moduleOf? name <|> file.module?

/-- How a text is opened. -/
structure Opening where
  file : String
  /-- Its name in messages, and its module's name where that is inside the project. -/
  fileName : String := "<input>"
  /-- Whether it begins with imports of its own; else it continues the environment of the session. -/
  header : Bool := true
  /-- Without a header: whether what the session has opened is open in the text too, as it is for goals. -/
  inScope : Bool := false
  /-- Whether to import the project's modules from their compiled files. -/
  compiled : Bool := false
  options : List (String × Json) := []
  module? : Option Name := none

/-- The fields of a text in a request. -/
def textFields : List Field := [
  required .text "file", optional .text "fileName", optional .boolean "header", optional .natural "prefix",
  optional .object "options", optional .text "module"]

/-- What a request says of the text in it. -/
def Opening.ofRequest (request : Request) : Opening where
  file := request.text "file"
  fileName := request.text "fileName" "<input>"
  header := request.flag "header" true
  compiled := request.flag "compiled"
  options := request.object "options"
  module? := (request.text? "module").map (·.toName)

/-- The session's scope in place of a fresh one. -/
private def inScopeOfSession (state : Command.State) (opening : Opening) : DojoM Command.State := do
  let theirs := (← (← read).command.get).scopes.head!
  let own := state.scopes.head!
  let scope := { own with currNamespace := theirs.currNamespace, openDecls := theirs.openDecls }
  return { state with scopes := [if opening.options.isEmpty then { scope with opts := theirs.opts } else scope] }

/-- `include_str` looks beside its file, and a name alone is beside nothing to Lean. -/
private def placeOf (fileName : String) : String :=
  if fileName.endsWith ".lean" && !fileName.contains '/' then s!"./{fileName}" else fileName

/-- Opens a text. -/
def openText (opening : Opening) : DojoM OpenFile := do
  if opening.file.contains '\x00' then refuse "command" "file holds a NUL byte"
  if let some problem := nestingProblem? opening.file then refuse "command" s!"file: {problem}"
  let source := Source.ofText (.ofString opening.file) (placeOf opening.fileName)
  let module? := opening.module? <|> (← moduleOfFile? opening.fileName)
  let stateFor (env : Environment) : DojoM Command.State := commandState env opening.options (module?.getD unnamed)
  if opening.header then
    let { imports, whole, messages, parserState } ← (parseHeader source : IO Header)
    let base ← baseOf imports opening.compiled
    let state := openWhole (← stateFor (← upToDate base.env)) whole opening.file
    return { source, parserState, state, base, module?, imports := imports.toList.eraseDups.toArray, messages }
  let base : Base := { env := ← sessionEnv, library := ← (← read).library.get, isImported := false }
  let state ← stateFor base.env
  let state ← if opening.inScope then inScopeOfSession state opening else pure state
  return { source, parserState := {}, state, base, module? }

/-- Elaborates a text. -/
def OpenFile.run (file : OpenFile) (visit : Elaborated → DojoM Bool) : DojoM Command.State := do
  return (← runSource file.source file.parserState file.state visit).2

/-! ## Beginnings of files that stay elaborated, for requests about what follows them -/

/-- Elaborated beginnings that are kept; the least recently used goes first. -/
def maxBeginnings : Nat := 128

/-- A text that is opened behind its beginning. -/
structure Opened where
  file : OpenFile
  /-- Whether the beginning was there already. -/
  warm : Bool := false

/-- What beginnings must have in common to follow each other. -/
private def familyOf (file : OpenFile) (opening : Opening) : DojoM String := do
  let texts ← sourceKeys file.imports
  let options := (record opening.options).compress
  return s!"{file.module?} {file.imports} {options} {texts}"

/-- The longest kept beginning of a text. -/
private def longest? (family start : String) : DojoM (Option Beginning) := do
  let fitting := (← (← read).beginnings.get).filter fun one => one.family == family && start.startsWith one.text
  return fitting.foldl (init := none) fun best? one =>
    if best?.any fun (best : Beginning) => best.text.utf8ByteSize ≥ one.text.utf8ByteSize then best? else some one

private def elaborateTo (file : OpenFile) (family start : String) (from? : Option Beginning) : DojoM Beginning := do
  let said ← IO.mkRef ((from?.map (·.messages)).getD file.messages)
  let parserState := (from?.map (·.parserState)).getD file.parserState
  let state := (from?.map (·.state)).getD file.state
  let visit (unit : Elaborated) : DojoM Bool := do
    said.modify (· ++ unit.messages)
    return false
  let (parserState, state) ← runSource file.source parserState state visit (limit? := start.utf8ByteSize)
  return { family, text := start, parserState, state, messages := ← said.get }

/--
Opens a request's text behind the commands that end in its `prefix`, a number of bytes. The state there is kept for the
next request whose text begins the same, and a longer beginning goes on from a shorter one. Only Lean's parser knows
where a command begins (at its docstring, at `open Foo in`, at `mutual`), so the prefix may end inside one.
-/
def openBehind (request : Request) : DojoM Opened := do
  let opening := { Opening.ofRequest request with inScope := true }
  let file ← openText opening
  let stop := file.text.fromFile (request.nat "prefix")
  -- without a header the text continues the session, whose environment may change
  if stop == 0 || !opening.header then return { file }
  let family ← familyOf file opening
  let start := extractBytes file.text.lean 0 (min stop file.text.size)
  let nearest? ← longest? family start
  let entry ← match nearest? with
    | some nearest => if nearest.text == start then pure nearest else elaborateTo file family start nearest
    | none => elaborateTo file family start none
  let isSame (one : Beginning) : Bool := one.family == family && one.text == start
  keepLast (← read).beginnings maxBeginnings isSame { entry with used := entry.used + 1 }
  let { parserState, state, messages, .. } := entry
  return { file := { file with parserState, state, messages }, warm := entry.used > 0 }

end Dojo
