import Dojo.Modules

/-!
# Texts of requests as files to elaborate

A file has a header, an environment that it starts from, and the name of its module.
-/

namespace Dojo

open Lean Elab

/-- The module of a text without a file name, as on Lean's command line. -/
private def unnamed : Name := `_stdin

/-- A text that is ready to be elaborated. -/
structure OpenFile where
  source : Source
  parserState : Parser.ModuleParserState
  /-- The command state before the first command. -/
  state : Command.State
  base : Base
  /-- The text's module, if it has one. -/
  module? : Option Name
  /-- Each imported module once. -/
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
  /-- Its name in messages. Inside the project, it also names the module. -/
  fileName : String := "<input>"
  /-- Whether it begins with imports of its own. Otherwise it continues the environment of the session. -/
  header : Bool := true
  /-- Without a header: whether namespaces that are open in the session are open in the text too, as for goals. -/
  inScope : Bool := false
  /-- Whether to import the project's modules from their compiled files. -/
  compiled : Bool := false
  /-- Whether the context and the project's modules are given to Lean's kernel. -/
  kernel : Bool := false
  options : List (String × Json) := []
  module? : Option Name := none

/-- The fields of a text in a request. -/
def textFields : List Field := [
  required .text "file", optional .text "fileName", optional .boolean "header", optional .natural "prefix",
  optional .object "options", optional .text "module"]

/-- Reads from a request how to open its text. -/
def Opening.ofRequest (request : Request) : Opening where
  file := request.text "file"
  fileName := request.text "fileName" "<input>"
  header := request.flag "header" true
  compiled := request.flag "compiled"
  options := request.object "options"
  module? := (request.text? "module").map (·.toName)

/-- Replaces the fresh scope of a text with the session's. -/
private def inScopeOfSession (state : Command.State) (opening : Opening) : DojoM Command.State := do
  let theirs := (← (← read).command.get).scopes.head!
  let own := state.scopes.head!
  let scope := { own with currNamespace := theirs.currNamespace, openDecls := theirs.openDecls }
  return { state with scopes := [if opening.options.isEmpty then { scope with opts := theirs.opts } else scope] }

/-- `include_str` looks in the folder of its file, and for Lean a bare file name has no folder. -/
private def placeOf (fileName : String) : String :=
  if fileName.endsWith ".lean" && !fileName.contains '/' then s!"./{fileName}" else fileName

/-- Opens a text. -/
def openText (opening : Opening) : DojoM OpenFile := do
  if opening.file.contains '\x00' then refuse "command" "file contains a NUL byte"
  let source := Source.ofText (.ofString opening.file) (placeOf opening.fileName)
  let module? := opening.module? <|> (← moduleOfFile? opening.fileName)
  let stateFor (env : Environment) : DojoM Command.State := commandState env opening.options (module?.getD unnamed)
  if opening.header then
    let header ← (parseHeader source : IO Header)
    let { imports, whole, messages, parserState, .. } := header
    let base ← header.locating (baseOf imports opening.compiled opening.kernel)
    let state := openWhole (← stateFor (← upToDate base.env)) whole opening.file
    return { source, parserState, state, base, module?, imports := imports.toList.eraseDups.toArray, messages }
  let base : Base := { env := ← sessionEnv, library := ← (← read).library.get, isImported := false }
  let state ← stateFor base.env
  let state ← if opening.inScope then inScopeOfSession state opening else pure state
  return { source, parserState := {}, state, base, module? }

/-- Elaborates a text. -/
def OpenFile.run (file : OpenFile) (visit : Elaborated → DojoM Bool) : DojoM Command.State := do
  return (← runSource file.source file.parserState file.state visit).2

/-! ## Beginnings of files, which stay elaborated for further requests about what follows them -/

/-- The number of elaborated beginnings that are kept; the least recently used is dropped first. -/
def maxBeginnings : Nat := 128

/-- A text that is opened after its beginning. -/
structure Opened where
  file : OpenFile
  /-- The family of its `Beginning`, if it has one. -/
  family? : Option String := none
  /-- Whether the beginning was already elaborated. -/
  warm : Bool := false

/-- What beginnings must have in common for one to continue another. -/
private def familyOf (file : OpenFile) (opening : Opening) : DojoM String := do
  let texts ← sourceKeys file.imports
  let options := (record opening.options).compress
  return s!"{file.module?} {file.imports} {options} {opening.kernel} {texts}"

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
Opens a request's text after the commands that end within its `prefix`, a number of bytes. The state there is kept for
further requests whose texts begin in the same way, and a longer beginning continues a shorter one. Only Lean's parser
knows where a command begins (at its docstring, at `open Foo in`, at `mutual`), so the prefix may end inside one. The kernel
looks at it only on request, which takes up to three quarters of the time.
-/
def openBehind (request : Request) (kernel := false) : DojoM Opened := do
  let opening := { Opening.ofRequest request with inScope := true, kernel }
  let file ← openText opening
  let stop := file.text.fromFile (request.nat "prefix")
  -- without a header the text continues the session, whose environment may change
  if stop == 0 || !opening.header then return { file }
  let family ← familyOf file opening
  let start := extractBytes file.text.lean 0 (min stop file.text.size)
  let nearest? ← longest? family start
  let entry ← match nearest? with
    | some nearest => if nearest.text == start then pure nearest else elaborateTo file family start nearest
    | none => elaborateTo { file with state := withKernel file.state opening.kernel } family start none
  let isSame (one : Beginning) : Bool := one.family == family && one.text == start
  keepLast (← read).beginnings maxBeginnings isSame { entry with used := entry.used + 1 }
  let { parserState, state, messages, .. } := entry
  let file := { file with parserState, state := withKernel state true, messages }
  return { file, family? := some family, warm := entry.used > 0 }

/-- The number of texts whose commands stay elaborated. They hold information trees, which are large. -/
def maxVisited : Nat := 4

/--
Elaborates a text as `OpenFile.run` does, but keeps its commands, and reuses those that it has kept for the last texts.
-/
def Opened.revisit (opened : Opened) (visit : Elaborated → DojoM Bool) : DojoM Unit := do
  let { file, family?, .. } := opened
  let some family := family? | discard <| file.run visit
  let start := file.parserState.pos.byteIdx
  let isSame (one : Visited) : Bool := one.family == family && one.start == start && one.text == file.text.lean
  let cache := (← read).visited
  let known := ((← cache.get).find? isSame).getD
    { family, text := file.text.lean, start, parserState := file.parserState, state := file.state }
  keepLast cache maxVisited isSame known
  for unit in known.units do
    if (← visit unit) || unit.isLast then return
  let further ← IO.mkRef (#[] : Array Elaborated)
  let (parserState, state) ← runSource file.source known.parserState known.state fun unit => do
    further.modify (·.push unit)
    visit unit
  keepLast cache maxVisited isSame { known with units := known.units ++ (← further.get), parserState, state }

end Dojo
