import Dojo.Files

/-!
# Compiled modules, and Lean's own list of references

The files that Lean itself writes: `.olean`, and the text of an `.ilean`.
-/

namespace Dojo

open Lean Elab

/--
A module as the file that Lean writes for it, as the numbers of its bytes: Lean's own code spells these, so that nothing is
interpreted for each of them. None where Lean cannot write it, or where something that it imports was elaborated in memory.
-/
def compiledModule? (file : OpenFile) (env : Environment) : DojoM (Option String) := do
  unless file.base.isImported do return none
  let some module := file.module? | return none
  let env ← upToDate env
  let written ← (do
    let data ← mkModuleData env
    let (_, path) ← IO.FS.createTempFile
    try
      saveModuleData path module data
      return some (toString (← IO.FS.readBinFile path).toList)
    finally
      IO.FS.removeFile path : IO (Option String)).toBaseIO
  return written.toOption.join

/-- What `lean -i` would write for a module: where it names which constant. -/
def ileanText (module : Name) (fileMap : FileMap) (trees : Array InfoTree) : IO String := do
  let references := Server.findModuleRefs fileMap trees (localVars := false)
  let file := record [
    ("version", toJson (5 : Nat)), ("module", toJson module), ("references", ← referencesJson references)]
  return file.compress

end Dojo
