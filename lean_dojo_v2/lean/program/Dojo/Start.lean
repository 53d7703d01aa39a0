import Dojo.Environments

/-!
# The start of a session

The arguments are `--imports=A,B`, `--project=FOLDER`, names of modules, and Lean options as `name=value`.
-/

namespace Dojo

open Lean Elab

/-- The arguments of a session. -/
structure Arguments where
  imports : Array Name := #[]
  project? : Option System.FilePath := none
  options : List (String × Json) := []

private def readArgument (all : Arguments) (word : String) : Except Failure Arguments := do
  if word.startsWith "--project=" then return { all with project? := some (behind "--project=" word) }
  if word.startsWith "--imports=" then
    let names := (behind "--imports=" word).splitOn "," |>.filter (!·.isEmpty)
    return { all with imports := all.imports ++ (names.map (·.toName)).toArray }
  if word.contains '=' then return { all with options := all.options ++ [← parseAssignment word] }
  return { all with imports := all.imports.push word.toName }

/-- Starts a session with the imports that the arguments name. -/
def start (host : Host) (args : List String) : IO Session := do
  let arguments ← IO.ofExcept (args.foldlM (init := {}) readArgument)
  let options ← IO.ofExcept (withLimits arguments.options [])
  let empty ← mkEmptyEnvironment
  let session : Session := {
    host
    project? := arguments.project?
    options
    memory := ← IO.mkRef { command := Command.mkState empty, library := empty }
  }
  let begin : DojoM Unit := do
    let env ← importModules (arguments.imports.map ({ module := · }))
    setCommand (Command.mkState env {} (← MonadExcept.ofExcept (leanOptions options))) env
  IO.ofExcept (← (begin session).toBaseIO)
  return session

/-- The host of a native Lean: its environments need no changes, and a separate task watches the time. -/
def nativeHost : IO Host := do
  initSearchPath (← findSysroot)
  /- `lean` has done this for this file, and since 4.30 `importModules` refuses to load extensions without it. -/
  unsafe enableInitializersExecution
  /- The number of the current order; a watch for an earlier order does nothing. -/
  let order ← IO.mkRef 0
  return {
    importModules := fun imports _ => Lean.importModules imports {} (trustLevel := 0) (loadExts := true)
    arm := fun token milliseconds => do
      let mine ← order.modifyGet fun n => (n + 1, n + 1)
      discard <| IO.asTask (prio := .dedicated) do
        IO.sleep milliseconds.toUInt32
        if (← order.get) == mine then token.set
    disarm := order.modify (· + 1)
    memory := return []
    grown := fun env => return env
    asImported := fun env => return env
    extended := fun env => return env
    maxEnvironments := 8
    initialises := true
  }

end Dojo
