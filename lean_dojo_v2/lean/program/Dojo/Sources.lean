import Dojo.Sexp

/-!
# Where the modules of a project lie

In the project's folder itself; else in one of its source folders, or in a package inside it: these are nobody's to tell, so
the file with the shortest path that ends in the module's is taken.
-/

namespace Dojo

open Lean

/-- Folders that hold no sources; those that begin with a dot hold none either. -/
private def notSources : List String := ["build", "lake-packages", "node_modules"]

/-- Deeper folders are not looked into. -/
private def maxFolders : Nat := 16

private def inFolder (folder name : String) : String :=
  if folder.isEmpty then name else s!"{folder}/{name}"

/-- The folders in some folders of a project, sorted. -/
private def foldersIn (project : System.FilePath) (folders : Array String) : IO (Array String) := do
  let mut found := #[]
  for folder in folders do
    let place := if folder.isEmpty then project else project / folder
    unless ← place.isDir do continue
    for entry in ← place.readDir do
      let name := entry.fileName
      if name.startsWith "." || name.endsWith ".lean" || notSources.contains name then continue
      if ← entry.path.isDir then found := found.push (inFolder folder name)
  return found.qsort (· < ·)

/-- The file of a module, relative to the project. -/
def sourceOf? (project : System.FilePath) (module : Name) : IO (Option String) := do
  let own := s!"{"/".intercalate ((moduleText module).splitOn ".")}.lean"
  let isFile (file : String) : IO Bool := return (← (project / file).pathExists) && !(← (project / file).isDir)
  if ← isFile own then return some own
  let mut level := #["", ".lake/packages"]
  for _ in [0:maxFolders] do
    for folder in level do
      if !folder.isEmpty && (← isFile (inFolder folder own)) then return some (inFolder folder own)
    level ← foldersIn project level
    if level.isEmpty then return none
  return none

end Dojo
