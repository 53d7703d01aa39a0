import Dojo.Frontend

/-!
# Environments of compiled modules

A header that imports Mathlib costs seconds and gigabytes, so imported environments are kept in a cache that drops the
least recently used one.
-/

namespace Dojo

open Lean Elab

/-- The environment under a key of a cache, where it becomes the most recently used. It is loaded if it is not there. -/
def cached (cache : Memory → Array (String × Environment)) (put : Array (String × Environment) → Memory → Memory)
    (limit : Nat) (key : String) (load : DojoM Environment) : DojoM Environment := do
  let known? := (cache (← get)).find? (·.1 == key)
  let one ← known?.getDM (return (key, ← load))
  modify fun memory => put (keepLast (cache memory) limit (·.1 == key) one) memory
  return one.2

private def keyOf (imports : Array Import) : String :=
  let names := imports.toList.map fun one => s!"{if one.importAll then "all " else ""}{one.module}"
  " ".intercalate (names.eraseDups.toArray.qsort (· < ·)).toList

/-- Whether Lean finds the compiled file of a module. -/
def isCompiled (module : Name) : IO Bool := do
  return (← (← searchPathRef.get).findWithExt "olean" module).isSome

/-- Ends a request that imports a module which does not exist, and tells the user what to do. -/
def unknownModule {α} (module : Name) (importer? : Option Name := none) : DojoM α := do
  let importer := (importer?.map fun name => s!" (imported by {name})").getD ""
  let wayOut := if (← read).host.initialises then
      "; is it spelt right, and is the project built (`lake build`)?"
    else if [`Mathlib, `Batteries, `Aesop].contains module.getRoot then
      "; the embedded engine has Init, Std and Lean only: use the native engine for a project that needs it"
    else ""
  refuse "import" s!"unknown module {module}{importer}: neither in Lean's library nor in the project{wayOut}"

/-- The embedded Lean has 2 GB and never frees what it has imported. Above this limit it imports nothing more. -/
private def maxMegabytes : Nat := 1500

/-- Ends a request if there may be no room for more modules; the client then starts another process. -/
private def refuseWithoutRoom : DojoM Unit := do
  let memory ← ((← read).host.memory : IO (List (String × Nat)))
  if (memory.lookup "wasm_mb").any (· > maxMegabytes) then
    refuse "memory" s!"this engine has imported {maxMegabytes} MB of modules; start another"

/--
Imports compiled modules; see `Host.importModules`. If Lean refuses, the request fails with the kind `import`. `initialise`
runs before the extensions read their parts of the modules, and returns whether it has registered something. Lean gives
these parts only to extensions that it knew when it imported, so in that case it imports once more.
-/
def loadModules (imports library : Array Import) (initialise : Environment → DojoM Bool := fun _ => return false) :
    DojoM Environment := do
  refuseWithoutRoom
  let host := (← read).host
  let importing (act : IO Environment) : DojoM Environment := fun _ =>
    act.toEIO fun error => { error := "import", desc := toString error }
  let load := importing (host.importModules imports library)
  let mut bare ← load
  if ← initialise bare then bare ← load
  importing (host.extended bare)

/-- The same in the session's cache of compiled modules, with their count. -/
def kept (key : String) (load : DojoM Environment) : DojoM Environment := do
  let hit := (← get).environments.any (·.1 == key)
  let limit := (← read).host.maxEnvironments
  let env ← cached (·.environments) (fun environments memory => { memory with environments }) limit key load
  modify fun memory =>
    let (hits, misses) := memory.imports
    { memory with imports := if hit then (hits + 1, misses) else (hits, misses + 1) }
  return env

/-- The environment of compiled modules. -/
def importModules (imports : Array Import) : DojoM Environment :=
  kept (keyOf imports) do
    for one in imports do
      unless ← (isCompiled one.module : IO Bool) do unknownModule one.module
    loadModules imports imports

/--
The constants of compiled modules, for a judge. Their extensions are not loaded, because that would run their programs
(`initialize`).
-/
def importConstants (imports : Array Import) : DojoM Environment := do
  unless (← read).host.initialises do return ← importModules imports
  kept s!"constants {keyOf imports}" do
    for one in imports do
      unless ← (isCompiled one.module : IO Bool) do unknownModule one.module
    (Lean.importModules imports {} (trustLevel := 0) (loadExts := false) : IO Environment)

/-!
## The `initialize` commands of a project's modules

They make attributes, extensions of environments, and references. If Lean does not run them itself (`Host.initialises`),
they run here. What they register stays registered in the process, and Lean refuses to register it again. So they run only
once for each module, even if it is elaborated again on top of other modules.
-/

/-- Whether a module's initialisers still have to run. If they have failed, this fails with the same error. -/
def mustInitialise (module : Name) : DojoM Bool := do
  match (← get).initialised.lookup module with
  | none => return true
  | some none => return false
  | some (some desc) => refuse "import" desc

private def finish (module : Name) (error? : Option String) : DojoM Unit := do
  modify fun memory => { memory with initialised := (module, error?) :: memory.initialised }

/-- Records that a module's initialisers have all run, unless the request was cut short, and so perhaps its elaboration. -/
def initialised (module : Name) : DojoM Unit := do
  let cut ← match (← get).cancel with
    | some token => (token.isSet : BaseIO Bool)
    | none => pure false
  if !cut && (← mustInitialise module) then finish module none

/-- Refuses code that Lean could not elaborate: it contains `sorry`, and running that would end the program. -/
private def refuseSorry (env : Environment) (name program : Name) : IO Unit := do
  if ((env.find? program).bind valueOf?).any fun e => e.getUsedConstants.contains ``sorryAx then
    throw (IO.userError s!"{userText name} has an error")

/-- The initialiser of a constant; most have none. -/
private unsafe def actionOf? (env : Environment) (name : Name) : IO (Option (IO Unit)) := do
  if let some maker := getRegularInitFnNameFor? env name then
    refuseSorry env name maker
    return some (runInit env {} name maker)
  unless isIOUnitRegularInitFn env name do return none
  refuseSorry env name name
  return (evaluate (IO Unit) env name).toOption

/-- Runs the initialisers of some constants in the order of their text, and returns whether there were any. -/
private def runAll (env : Environment) (names : Array Name) : IO Bool := do
  let place (name : Name) : Position := ((rangesOf? env name).map (·.range.pos)).getD ⟨0, 0⟩
  let found ← names.filterMapM fun name => return (← unsafe actionOf? env name).map (place name, ·)
  withImporting ((found.qsort (·.1.lt ·.1)).forM (·.2))
  return !found.isEmpty

/--
Runs the initialisers of constants of a module in the order of its text, since one may use the result of another, and
returns whether there were any.
-/
def initialise (module : Name) (env : Environment) (names : Array Name) : DojoM Bool := do
  match ← (runAll env names).toBaseIO with
  | .ok ran =>
    if ran then modify ({ · with registered := true })
    return ran
  | .error error =>
    let desc := s!"{moduleText module}: its initializers fail: {error}"
    finish module (some desc)
    refuse "import" desc

/-- The constants of a compiled module that have an initialiser. -/
def declaredInitialisers (data : ModuleData) : Array Name := Id.run do
  let some (_, entries) := data.entries.find? fun (name, _) => name == ``Lean.regularInitAttr | return #[]
  let pairs : Array (Name × Name) := unsafe entries.map unsafeCast
  return pairs.map (·.1)

/-- An environment with room for everything that is registered by now. -/
def upToDate (env : Environment) : DojoM Environment := do
  if (← get).registered then (← read).host.grown env else return env

end Dojo
