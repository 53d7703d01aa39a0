import Dojo.Environments
import Dojo.Importing
import Dojo.Statement

/-!
# `dojo.judge`: what Lean's kernel says of theorems that another process has elaborated

This process has only the library, and runs nothing of theirs: it gets finished declarations as data, and the kernel adds
each to the library's environment. Axioms and statements are read from what the kernel took.
-/

namespace Dojo

open Lean

/-- What the kernel has taken so far, and of each name that was declared what it has against that. -/
private structure Court where
  kernel : Kernel.Environment
  problems : NameMap (Option Problem) := {}

private def Court.hear (court : Court) (declaration : Declaration) (cancel? : Option IO.CancelToken) : IO Court := do
  let (names, terms) := partsOfDeclaration declaration
  let used := terms.foldl (init := #[]) fun all e => all ++ e.getUsedConstants
  let inherited? := used.findSome? fun name => (court.problems.find? name).join
  let (kernel, own?) ← match ← addToKernel court.kernel declaration cancel? with
    | .ok kernel => pure (kernel, none)
    | .error message => pure (court.kernel, some { constant := userText (names.getD 0 .anonymous), message })
  let problem? := inherited? <|> own?
  return { kernel, problems := names.foldl (init := court.problems) fun all name => all.insert name problem? }

private def verdict (library : Environment) (court : Court) (name : Name) : Json :=
  let base := library.toKernelEnv
  let problem? := (court.problems.find? name).join
  match court.kernel.find? name, base.find? name with
  | some info, none =>
    let rest := restWith court.kernel.find? court.kernel #[name] library
    record ([("exists", .bool true), ("kind", .str (kindWord info)), ("lean_name", .str (nameText name)),
      ("statement", .str (statementText court.kernel.find? base info)), ("kernel", toJson problem?)] ++ rest.json)
  | _, _ => record [("exists", .bool false), ("kernel", toJson problem?)]

private def judge (request : Request) : DojoM Json := do
  if ← ((← read).isTainted : IO Bool) then
    refuse "tainted" "this engine has run a program of a text; ask another one"
  let data := (request.get? "export").getD .null
  let found ← match readExport data with
    | .ok found => pure found
    | .error why => refuse "export" s!"export: {why}"
  let library ← importModules (found.imports.map ({ module := · }))
  let cancel? ← (← read).cancel.get
  let mut court : Court := { kernel := library.toKernelEnv }
  for declaration in found.declarations do court ← (court.hear declaration cancel? : IO Court)
  let verdicts := found.theorems.map fun (word, name) => (word, verdict library court name)
  return record [("declarations", record verdicts)]

def judgeCommands : List Command := [
  { name := "dojo.judge", fields := [required .object "export"], run := judge }
]

end Dojo
