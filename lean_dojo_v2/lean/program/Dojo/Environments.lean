import Dojo.Session

/-!
# Environments by header

A header that imports Mathlib costs seconds and gigabytes, so imported environments are kept, and the least recently
used goes first.
-/

namespace Dojo

open Lean Elab

/-- Looks in a cache; what is found becomes the most recently used. -/
def Imported.find? (cache : IO.Ref (Array Imported)) (key : String) : BaseIO (Option Environment) := do
  let all ← cache.get
  match all.find? (·.key == key) with
  | none => return none
  | some found =>
    cache.set ((all.filter (·.key != key)).push found)
    return some found.env

/-- Adds to a cache that holds `limit` environments at most. -/
def Imported.keep (cache : IO.Ref (Array Imported)) (limit : Nat) (key : String) (env : Environment) : BaseIO Unit :=
  cache.modify fun all =>
    let rest := all.filter (·.key != key)
    (rest.extract (rest.size + 1 - limit) rest.size).push { key, env }

private def keyOf (imports : Array Import) : String :=
  let names := imports.toList.map fun one => s!"{if isWhole one then "all " else ""}{one.module}"
  " ".intercalate (names.eraseDups.toArray.qsort (· < ·)).toList

/-- Whether Lean finds a compiled file of a module. -/
def isCompiled (module : Name) : IO Bool := do
  return (← (← searchPathRef.get).findWithExt "olean" module).isSome

/-- Ends a request that names a module which is nowhere, and says what a user may do. -/
def unknownModule {α} (module : Name) (importer? : Option Name := none) : DojoM α := do
  let importer := (importer?.map fun name => s!" (imported by {name})").getD ""
  let wayOut := if (← read).host.initialises then
      "; is it spelt right, and is the project built (`lake build`)?"
    else if [`Mathlib, `Batteries, `Aesop].contains module.getRoot then
      "; the embedded engine has Init, Std and Lean only: use the native engine for a project that needs it"
    else ""
  refuse "import" s!"unknown module {module}{importer}: neither in Lean's library nor in the project{wayOut}"

/-- The embedded Lean has 2 GB, and what an import has read stays there for good: no more is imported above this. -/
private def maxMegabytes : Nat := 1500

/-- Ends a request where there may be no room for another set of modules; whoever asks starts another process. -/
private def refuseWithoutRoom : DojoM Unit := do
  let memory ← ((← read).host.memory : IO (List (String × Nat)))
  if (memory.lookup "wasm_mb").any (· > maxMegabytes) then
    refuse "memory" s!"this engine has imported {maxMegabytes} MB of modules; start another"

/--
Imports compiled modules; see `Host.importModules`. `initialise` runs before the extensions read their parts of them, and
says whether it registered something. Lean hands their parts to the extensions that it knows when it imports, so then it
imports once more.
-/
def loadModules (imports library : Array Import) (initialise : Environment → DojoM Bool := fun _ => return false) :
    DojoM Environment := do
  refuseWithoutRoom
  let host := (← read).host
  let load : IO Environment := host.importModules imports library
  let mut bare ← load
  if ← initialise bare then bare ← load
  host.extended bare

/-- The environment that is kept under a key, or else is loaded now and kept. -/
def kept (key : String) (load : DojoM Environment) : DojoM Environment := do
  let session ← read
  if let some env ← Imported.find? session.environments key then
    session.hits.modify (· + 1)
    return env
  let env ← load
  session.misses.modify (· + 1)
  Imported.keep session.environments session.host.maxEnvironments key env
  return env

/-- The environment of compiled modules. -/
def importModules (imports : Array Import) : DojoM Environment :=
  kept (keyOf imports) do
    for one in imports do
      unless ← (isCompiled one.module : IO Bool) do unknownModule one.module
    loadModules imports imports

end Dojo
