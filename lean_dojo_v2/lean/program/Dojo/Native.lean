import Dojo.Session

/-!
# The host of a native Lean

Nothing is to be done for an environment. A task of its own watches the time.
-/

namespace Dojo

open Lean

/-- The host of a program that a native Lean runs. -/
def nativeHost : IO Host := do
  initSearchPath (← findSysroot)
  /- `lean` has done so for this file; from 4.30 on, `importModules` refuses to load extensions unless somebody has. -/
  unsafe enableInitializersExecution
  /- Counts orders: a watch whose order is over does nothing. -/
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
    ranProgram := return false
    maxEnvironments := 8
    initialises := true
  }

end Dojo
