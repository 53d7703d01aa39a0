import Dojo.Constants
import Dojo.Frontend
import Dojo.Session

/-!
# Environments of compiled modules

A header that imports Mathlib costs seconds and gigabytes, so imported environments are kept, and the least recently
used goes first.
-/

namespace Dojo

open Lean Elab

/-- Looks in a cache; what is found becomes the most recently used. -/
def Imported.find? (cache : IO.Ref (Array Imported)) (limit : Nat) (key : String) : BaseIO (Option Environment) := do
  let some found := (← cache.get).find? (·.key == key) | return none
  keepLast cache limit (·.key == key) found
  return some found.env

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
  let limit := session.host.maxEnvironments
  if let some env ← Imported.find? session.environments limit key then
    session.imports.modify fun (hits, misses) => (hits + 1, misses)
    return env
  let env ← load
  session.imports.modify fun (hits, misses) => (hits, misses + 1)
  keepLast session.environments limit (·.key == key) { key, env }
  return env

/-- The environment of compiled modules. -/
def importModules (imports : Array Import) : DojoM Environment :=
  kept (keyOf imports) do
    for one in imports do
      unless ← (isCompiled one.module : IO Bool) do unknownModule one.module
    loadModules imports imports

/-!
## What the `initialize` commands of a project's modules make

Attributes, extensions of environments, references. Where Lean does not run them itself (`Host.initialises`), they run
here. What they register belongs to the process for good, and Lean refuses to register it again: a module's are run once,
whatever else it is elaborated on.
-/

/-- Whether a module's initialisers have still to run; the error that they ended with is an error again. -/
def mustInitialise (module : Name) : DojoM Bool := do
  match (← (← read).initialised.get).lookup module with
  | none => return true
  | some none => return false
  | some (some desc) => refuse "import" desc

private def finish (module : Name) (error? : Option String) : DojoM Unit := do
  (← read).initialised.modify ((module, error?) :: ·)

/-- Says that a module's initialisers have all run. -/
def initialised (module : Name) : DojoM Unit := do
  if ← mustInitialise module then finish module none

/-- What Lean could not elaborate holds `sorry`, and running that ends the program. -/
private def refuseSorry (env : Environment) (name program : Name) : IO Unit := do
  if ((env.find? program).bind valueOf?).any fun e => e.getUsedConstants.contains ``sorryAx then
    throw (IO.userError s!"{userText name} has an error")

/-- What is to be run for a constant; mostly nothing. -/
private unsafe def actionOf? (env : Environment) (name : Name) : IO (Option (IO Unit)) := do
  if let some maker := getRegularInitFnNameFor? env name then
    refuseSorry env name maker
    return some (runInit env {} name maker)
  unless isIOUnitRegularInitFn env name do return none
  refuseSorry env name name
  match evaluate (IO Unit) env name with
  | .ok act => return some act
  | .error _ => return none

private unsafe def runAllUnsafe (env : Environment) (names : Array Name) : IO Bool := do
  let acts ← names.filterMapM (actionOf? env)
  withImporting (acts.forM id)
  return !acts.isEmpty

/-- Runs what is to be run for some constants, and says whether there was anything. -/
@[implemented_by runAllUnsafe]
private opaque runAll (env : Environment) (names : Array Name) : IO Bool

/-- Runs the initialisers of constants of a module, in the order of their declaration. -/
def initialise (module : Name) (env : Environment) (names : Array Name) : DojoM Bool := do
  match ← (runAll env names).toBaseIO with
  | .ok ran =>
    if ran then (← read).registered.set true
    return ran
  | .error error =>
    let desc := s!"{moduleText module}: its initializers fail: {error}"
    finish module (some desc)
    refuse "import" desc

/--
The constants of a compiled module that have an initialiser, in the order of the text: one may read what another has
made, and Lean keeps them sorted by their names.
-/
def declaredInitialisers (env : Environment) (data : ModuleData) : Array Name := Id.run do
  let some (_, entries) := data.entries.find? fun (name, _) => name == ``Lean.regularInitAttr | return #[]
  let pairs : Array (Name × Name) := unsafe entries.map unsafeCast
  let line (name : Name) : Nat × Nat :=
    match rangesOf? env name with
    | some ranges => (ranges.range.pos.line, ranges.range.pos.column)
    | none => (0, 0)
  return pairs.map (·.1) |>.qsort fun a b =>
    let (lineA, columnA) := line a
    let (lineB, columnB) := line b
    lineA < lineB || (lineA == lineB && columnA < columnB)

/-- An environment that has room for all that is registered by now. -/
def upToDate (env : Environment) : DojoM Environment := do
  if ← (← read).registered.get then (← read).host.grown env else return env

end Dojo
