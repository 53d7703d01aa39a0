import Dojo.Constants

/-!
# The compiled program, without the library that it was compiled against

Lean's interpreter needs the code of the program. Of the functions of Lean that this calls, it needs only the signatures,
and their names in Lean's binary. A module with just these runs the program without importing Lean's library, which takes
a second and 300 MB if files cannot be mapped into memory.
-/

namespace Dojo

open Lean IR

/-- The program's own functions, and those that they call, sorted by name. -/
private def functionsOf (env : Environment) : Array Decl :=
  let own := getDecls env
  let called := setOf (own.toArray.flatMap fun decl => (collectUsedDecls env decl).toArray)
  let all := called.toList.filterMap (findEnvDecl env ·) ++ own
  let byName := all.foldl (init := ({} : NameMap Decl)) fun known decl => known.insert decl.name decl
  (byName.toList.map (·.2)).toArray

private def entries {α : Type} (rows : Array α) : Array EnvExtensionEntry := unsafe unsafeCast rows

/-- Writes the module that runs the program, which was elaborated in an environment. -/
def ship (env : Environment) (file : System.FilePath) : IO Unit := do
  -- some errors have no message, and what has one would fail only when it runs
  if let some (name, _) := (elaborated env).find? (valueHasSorry ·.2) then
    throw (IO.userError s!"{name} has an error")
  let decls := functionsOf env
  let exported : Array (Name × Name) := decls.filterMap fun decl => (exportAttr.getParam? env decl.name).map (decl.name, ·)
  let code : ModuleData := {
    isModule := false
    imports := #[]
    constNames := #[]
    constants := #[]
    extraConstNames := decls.map (·.name)
    entries := #[(declMapExt.name, entries decls), (exportAttr.ext.name, entries exported)]
  }
  saveModuleData file env.mainModule code

end Dojo
