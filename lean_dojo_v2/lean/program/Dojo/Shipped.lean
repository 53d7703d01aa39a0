import Dojo.Constants

/-!
# The compiled program, without the library that it was compiled against

Lean's interpreter needs the code of the program. Of the functions of Lean that this calls, it needs only the signatures,
and their names in Lean's binary. A module with just these runs the program without importing Lean's library, which takes
a second and 300 MB if files cannot be mapped into memory.
-/

namespace Dojo

open Lean IR

/-- The program's own functions, and those that they call. -/
private def functionsOf (env : Environment) : Array Decl := Id.run do
  let own := getDecls env
  let mut known : NameSet := {}
  let mut all := #[]
  for decl in own do
    known := known.insert decl.name
    all := all.push decl
  for decl in own do
    for name in (collectUsedDecls env decl).toList do
      if known.contains name then continue
      known := known.insert name
      if let some used := findEnvDecl env name then all := all.push used
  return all

private def entries {α : Type} (rows : Array α) : Array EnvExtensionEntry := unsafe unsafeCast rows

/-- Writes the module that runs the program, which was elaborated in an environment. -/
def ship (env : Environment) (file : System.FilePath) : IO Unit := do
  -- some errors have no message, and what has one would fail only when it runs
  if let some (name, _) := (elaborated env).find? fun (_, info) => (valueOf? info).any (·.hasSorry) then
    throw (IO.userError s!"{name} has an error")
  let decls := (functionsOf env).qsort (Name.quickLt ·.name ·.name)
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
