import Dojo.Environments
import Dojo.Options

/-!
# The start of a session

The arguments are `--imports=A,B`, `--project=FOLDER`, names of modules, and Lean options as `name=value`.
-/

namespace Dojo

open Lean Elab

/-- What a session is started with. -/
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

/-- Starts a session: imports what the arguments name. -/
def start (host : Host) (args : List String) : IO Session := do
  let orThrow {α} (result : Except Failure α) : IO α := IO.ofExcept (result.mapError (·.desc))
  let arguments ← orThrow (args.foldlM (init := {}) readArgument)
  let options ← orThrow (withLimits arguments.options [])
  let empty ← mkEmptyEnvironment
  let session : Session := {
    host
    project? := arguments.project?
    options
    settings := ← IO.mkRef {}
    command := ← IO.mkRef (Command.mkState empty)
    library := ← IO.mkRef empty
    states := ← IO.mkRef {}
    nextState := ← IO.mkRef 0
    environments := ← IO.mkRef #[]
    hits := ← IO.mkRef 0
    misses := ← IO.mkRef 0
    chains := ← IO.mkRef #[]
    initialised := ← IO.mkRef []
    registered := ← IO.mkRef false
    beginnings := ← IO.mkRef #[]
    grounds := ← IO.mkRef #[]
    tainted := ← IO.mkRef false
    told := ← IO.mkRef false
    cancel := ← IO.mkRef none
  }
  let begin : DojoM Unit := do
    let env ← importModules (arguments.imports.map ({ module := · }))
    setCommand (Command.mkState env {} (← MonadExcept.ofExcept (leanOptions options))) env
  match ← (begin session).toBaseIO with
  | .ok () => return session
  | .error failure => throw (IO.userError failure.desc)

end Dojo
