import Dojo.Constants
import Dojo.Frontend

/-!
# What the `initialize` commands of a project's modules make

Attributes, extensions of environments, references. Where Lean does not run them itself (`Host.initialises`), they run
here. What they register belongs to the process for good, and Lean refuses to register it again: a module's are run once,
whatever else it is elaborated on.
-/

namespace Dojo

open Lean

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
