import Dojo.Session

/-!
# `options.set`, `options.print`, `stat`, `reset`
-/

namespace Dojo

open Lean

private def settingFields : List Field :=
  (Request.members (toJson ({} : Settings))).map fun (name, value) =>
    optional (if name == "timeout" then .natural else .boolean) name

private def setOptions (request : Request) : DojoM Json := do
  let now := toJson (← settings)
  let next := (Request.members request.payload).foldl (fun all (name, value) => all.setObjVal! name value) now
  (← read).settings.set (← orRefuse "command" (fromJson? next))
  return record []

/-- Memory in megabytes, and the number of states. -/
private def memory : DojoM (List (String × Json)) := do
  let session ← read
  let numbers ← session.host.memory
  let states := (← session.states.get).size
  return numbers.map (fun (name, n) => (name, toJson n)) ++ [("states", toJson states)]

private def stat (_ : Request) : DojoM Json := do
  let session ← read
  let states := (← session.states.get).size
  let cache := [("hits", toJson (← session.hits.get)), ("misses", toJson (← session.misses.get))]
  return record ([("nGoals", toJson states), ("environments", record cache)] ++ (← memory))

private def reset (_ : Request) : DojoM Json := do
  let session ← read
  let count := (← session.states.get).size
  session.states.set {}
  session.nextState.set 0
  return record [("nGoals", toJson count)]

def settingsCommands : List Command := [
  { name := "options.set", fields := settingFields, run := setOptions },
  { name := "options.print", run := fun _ => return toJson (← settings) },
  { name := "stat", run := stat },
  { name := "dojo.memory", run := fun _ => return record (← memory) },
  { name := "reset", run := reset }
]

end Dojo
