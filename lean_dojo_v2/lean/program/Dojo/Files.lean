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
  text : SourceText
  parserState : Parser.ModuleParserState
  /-- The command state before the first command. -/
  state : Command.State
  base : Base
  /-- The text's module, if it has one. -/
  module? : Option Name
  /-- Each imported module once. -/
  imports : Array Name := #[]
  /-- The modules of `import all`. -/
  whole : Array Name := #[]
  /-- Messages of what is before the commands. -/
  messages : Array SerialMessage := #[]
  /-- What was elaborated of it before, if that is kept. -/
  beginning? : Option Beginning := none
  /-- Whether that was elaborated already. -/
  warm : Bool := false

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
  /-- Whether the project's modules are given to Lean's kernel. -/
  kernel : Bool := false
  options : List (String × Json) := []
  module? : Option Name := none

/-- The fields of a text in a request. -/
def textFields : List Field := [
  required .text "file", optional .text "fileName", optional .boolean "header", optional .object "options",
  optional .text "module"]

/-- The fields of a text that is opened behind its beginning. -/
def behindFields : List Field := textFields ++ [optional .natural "prefix", optional .boolean "kernel"]

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
  let theirs := (← get).command.scopes.head!
  let own := state.scopes.head!
  let scope := { own with currNamespace := theirs.currNamespace, openDecls := theirs.openDecls }
  return { state with scopes := [if opening.options.isEmpty then { scope with opts := theirs.opts } else scope] }

/-- Opens a text. -/
def openText (opening : Opening) : DojoM OpenFile := do
  if countOf "\x00" opening.file > 0 then refuse "command" "file contains a NUL byte"
  let text := SourceText.ofString opening.file (placeOf opening.fileName)
  let module? := opening.module? <|> (← moduleOfFile? opening.fileName)
  let stateFor (env : Environment) : DojoM Command.State := commandState env opening.options (module?.getD unnamed)
  if opening.header then
    let header ← (parseHeader text : IO Header)
    let { imports, whole, messages, parserState, .. } := header
    let base ← header.locating (baseOf imports opening.compiled opening.kernel)
    let state := openWhole (← stateFor (← upToDate base.env)) whole opening.file
    return { text, parserState, state, base, module?, imports := imports.toList.eraseDups.toArray, whole, messages }
  let base : Base := { env := ← sessionEnv, key := "", library := (← get).library, isImported := false }
  let state ← stateFor base.env
  let state ← if opening.inScope then inScopeOfSession state opening else pure state
  return { text, parserState := {}, state, base, module? }

/-- Elaborates a text, and returns what `visit` has found in its commands, its messages and the state after it. -/
def OpenFile.run {σ} (file : OpenFile) (found : σ) (visit : σ → Elaborated → DojoM σ) :
    DojoM (σ × Array SerialMessage × Command.State) := do
  let visit := fun (found, messages) (unit : Elaborated) => (do
    return .yield (← visit found unit, messages ++ unit.messages) : DojoM (ForInStep _))
  let ((found, messages), _, state) ← runSource file.text file.parserState file.state (found, file.messages) visit
  return (found, messages, state)

/--
Opens a request's text after the commands that end within its `prefix`, a number of bytes. With `"kernel": false`, Lean's
kernel looks neither at them nor at what follows, which saves up to three quarters of the time.
-/
def openBehind (request : Request) : DojoM OpenFile := do
  let kernel := request.flag "kernel" true
  let opening := { Opening.ofRequest request with inScope := true, kernel }
  let file ← openText opening
  let file := { file with state := withKernel file.state kernel }
  let stop := file.text.fromFile (request.nat "prefix")
  -- without a header the text continues the session, whose environment may change
  if stop == 0 || !opening.header then return file
  let family := familyOf file.module? file.text file.base file.whole kernel opening.options
  let first := firstStop file.messages file.parserState (← inOwnScope file.state)
  let { beginning, parserState, state, messages, warm } ←
    elaborateTo family file.text first (some (min stop file.text.size))
  return { file with beginning? := some beginning, parserState, state, messages, warm }

/-- The number of texts whose commands stay elaborated. They hold information trees, which are large. -/
def maxVisited : Nat := 4

/--
Elaborates a text until `visit` is done, but keeps its commands, and reuses those that it has kept for the last texts.
-/
def OpenFile.revisit {σ} (file : OpenFile) (found : σ) (visit : σ → Elaborated → DojoM (ForInStep σ)) : DojoM σ := do
  let some beginning := file.beginning?
    | return (← runSource file.text file.parserState file.state found visit).1
  let { family, text, .. } := beginning
  let start := file.parserState.pos.byteIdx
  let isSame (one : Visited) : Bool := one.family == family && one.start == start && one.text == text
  let keep (one : Visited) : DojoM Unit :=
    modify fun memory => { memory with visited := keepLast memory.visited maxVisited isSame one }
  let known := ((← get).visited.find? isSame).getD { family, text, start }
  keep known
  let mut soFar := found
  for unit in known.units do
    match ← visit soFar unit with
    | .done last => return last
    | .yield next => soFar := next
    if unit.isLast then return soFar
  let (parserState, state) := match known.units.back? with
    | some last => (last.next, last.after)
    | none => (file.parserState, file.state)
  let visit := fun (found, units) (unit : Elaborated) => (do return match ← visit found unit with
    | .done found => .done (found, units.push unit)
    | .yield found => .yield (found, units.push unit) : DojoM (ForInStep _))
  let ((found, units), _) ← runSource file.text parserState state (soFar, known.units) visit
  keep { known with units }
  beginning.keepFurther units
  return found

end Dojo
