import Dojo.Session

/-!
# Options of Lean, and the settings of a session

Values of Lean's options are given as JSON, or as `name=value` on the command line. Two limits apply to every request.
-/

namespace Dojo

open Lean

/-- Lean's own defaults; heartbeats are in thousands of small allocations. -/
def defaultLimits : List (String × Json) := [("maxHeartbeats", toJson (200000 : Nat)), ("maxRecDepth", toJson (512 : Nat))]

/-- Lean's `Options` of names and values. -/
def leanOptions (values : List (String × Json)) : Except Failure Options :=
  values.foldlM (init := {}) fun options (name, value) => do
    match value with
    | .bool value => return options.set name.toName value
    | .str value => return options.set name.toName value
    | value =>
      if let .ok n := value.getNat? then
        if n < 2147483648 then return options.set name.toName n
      throw {
        error := "operation"
        desc := s!"Lean option {name}: expected a boolean, a natural number or a text" }

/-- The options of a request over those of the command line over the defaults; a limit of 0 is refused. -/
def withLimits (base request : List (String × Json)) : Except Failure (List (String × Json)) := do
  let values := record (defaultLimits ++ base ++ request)
  for (limit, _) in defaultLimits do
    if (values.getObjValAs? Nat limit).toOption.getD 0 == 0 then
      throw { error := "operation", desc := s!"Lean option {limit} must be a positive number" }
  return Request.members values

/-- Reads `name=value`; the value determines its type. -/
def parseAssignment (text : String) : Except Failure (String × Json) := do
  let parts := text.splitOn "="
  let name := trimmed (parts.headD "")
  if parts.length < 2 || name.isEmpty then
    throw { error := "parse", desc := s!"{text} is not of the form name=value" }
  match "=".intercalate parts.tail with
  | "true" => return (name, .bool true)
  | "false" => return (name, .bool false)
  | value => return (name, (value.toNat?.map toJson).getD (.str value))

/-! ## Settings of a session -/

private def settingFields : List Field :=
  (Request.members (toJson ({} : Settings))).map fun (name, value) =>
    optional (if name == "timeout" then .natural else .boolean) name

private def setOptions (request : Request) : DojoM Json := do
  let now := toJson (← settings)
  let next := (Request.members request.payload).foldl (fun all (name, value) => all.setObjVal! name value) now
  let settings ← orRefuse "command" (fromJson? next)
  modify ({ · with settings })
  return record []

private def stat (_ : Request) : DojoM Json := do
  let memory := (← (← read).host.memory).map fun (name, n) => (name, toJson n)
  let { imports := (hits, misses), states, .. } ← get
  let environments := record [("hits", toJson hits), ("misses", toJson misses)]
  return record ([("nGoals", toJson states.size), ("environments", environments)] ++ memory)

private def reset (_ : Request) : DojoM Json := do
  let count := (← get).states.size
  modify ({ · with states := {}, nextState := 0 })
  return record [("nGoals", toJson count)]

def settingsCommands : List Command := [
  { name := "options.set", fields := settingFields, run := setOptions },
  { name := "options.print", run := fun _ => return toJson (← settings) },
  { name := "stat", run := stat },
  { name := "reset", run := reset }
]

end Dojo
