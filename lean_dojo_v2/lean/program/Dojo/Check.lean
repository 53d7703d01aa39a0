import Dojo.Canonical
import Dojo.Environments
import Dojo.Export
import Dojo.Files
import Dojo.Pretty
import Dojo.Session

/-!
# `dojo.check` and `dojo.judge`: what declarations rest on

`dojo.check` elaborates a text. `dojo.judge` gets what another process has elaborated as data, and runs nothing of theirs:
the kernel adds each declaration to the library's environment, and axioms and statements are read from what it took.
-/

namespace Dojo

open Lean Elab

/-- A declaration that is asked for, or that stands in the text. -/
private structure Wanted where
  /-- What its user calls it. -/
  written : String
  name? : Option Name
  start? : Option Position := none

/--
The Lean name of what a user calls `written`: the private name of this module, which hides a public constant of the
library as it does in the text, or else the name itself.
-/
private def lookUp (env : Environment) (written : String) : Option Name :=
  let name := written.toName
  [mkPrivateName env name, name].find? fun candidate => (env.find? candidate).isSome

/--
Those of the added constants that stand in the text: Lean makes others by itself (equation lemmas, matchers, parts of
proofs). Of two that a program gave one name, the second goes by its whole name.
-/
private def writtenIn (env : Environment) (added : Array (Name × ConstantInfo)) : Array Wanted := Id.run do
  let mut found := #[]
  let mut taken : Std.HashSet String := {}
  for (name, _) in added do
    let some ranges := rangesOf? env name | continue
    let user := userText name
    let written := if taken.contains user then exactName name else user
    taken := taken.insert written
    found := found.push { written, name? := some name, start? := some ranges.range.pos }
  return found

/--
What is said of a constant. `find?` gives what is there, and `kernel` what Lean's kernel took of it, whose problem with the
constant is `problem?`.
-/
private def description (library : Environment) (find? : Name → Option ConstantInfo) (kernel : Kernel.Environment)
    (info? : Option ConstantInfo) (problem? : Option Problem) : List (String × Json) :=
  match info? with
  | none => [("exists", .bool false), ("kernel", toJson problem?)]
  | some info => [
      ("exists", .bool true), ("kind", .str (kindWord info)), ("lean_name", .str (nameText info.name)),
      ("statement", .str (statementText find? library.toKernelEnv info)), ("kernel", toJson problem?)] ++
    (restWith find? kernel #[info.name] library).json

/-- What is said of the declarations that are wanted; theorems go to the kernel once more. -/
private def describeAll (library below env : Environment) (wanted : Array Wanted) : DojoM Json := do
  let theorems := wanted.filterMap fun one => one.name?.filter fun name => env.find? name matches some (.thmInfo _)
  let problems ← problemsOf library below env theorems
  let one (wanted : Wanted) : String × Json :=
    let info? := wanted.name?.bind env.find?
    let problem? := ((theorems.zip problems).find? fun (name, _) => wanted.name? == some name).bind (·.2)
    let start := wanted.start?.toList.map fun start => ("start", toJson #[start.line, start.column + 1])
    (wanted.written, record (start ++ description library env.find? env.toKernelEnv info? problem?))
  return record (wanted.map one).toList

private def constantJson (env : Environment) (name : Name) (info : ConstantInfo) : Json :=
  let implemented? := Compiler.getImplementedBy? env name
  let isExtern := (getExternAttrData? env name).isSome
  record [("name", .str (userText name)), ("kind", .str (kindWord info)), ("unsafe", .bool info.isUnsafe)]
    [ implemented?.map fun other => ("implemented_by", .str (nameText other)),
      if isExtern then some ("extern", .bool true) else none ]

/-- What changes when one of the project's own modules behind some imports does. -/
private def sourcesText (imports : Array Name) : DojoM String := do
  -- never empty: that is what an engine says which cannot tell
  return "\n".intercalate ("sources" :: (← sourceKeys imports).toList)

private def checkText (request : Request) : DojoM Json := do
  let { file, warm } ← openBehind request
  let said ← IO.mkRef file.messages
  let state ← file.run fun unit => do
    said.modify (· ++ unit.messages)
    return false
  let env := state.env
  let added := addedTo file.below env
  let asked := (request.texts "names").toArray.map fun written => { written, name? := lookUp env written : Wanted }
  let wanted := (if request.flag "all" then writtenIn env added else #[]) ++ asked
  let theorems := wanted.filterMap fun one => do
    let name ← one.name?
    guard (env.find? name matches some (.thmInfo _))
    return (one.written, name)
  let isTainted ← ((← read).isTainted : IO Bool)
  let exported? := if request.flag "export" && isTainted then some (exportTheorems file.base.library env theorems) else none
  return record [
    ("messages", .arr (← said.get)),
    ("declarations", ← describeAll file.base.library file.below env wanted),
    ("new_constants", .arr (added.map fun (name, info) => constantJson env name info)),
    ("sources", .str (← sourcesText file.imports)),
    ("warm", .bool warm)]
    [exported?.map fun json => ("export", json)]

private def verdict (library : Environment) (court : Court) (name : Name) : Json :=
  let find? := court.kernel.find?
  let info? := if (library.toKernelEnv.find? name).isSome then none else find? name
  record (description library find? court.kernel info? (court.refused.find? name))

private def judge (request : Request) : DojoM Json := do
  if ← ((← read).isTainted : IO Bool) then
    refuse "tainted" "this engine has run a program of a text; ask another one"
  let data := (request.get? "export").getD .null
  let found ← match readExport data with
    | .ok found => pure found
    | .error why => refuse "export" s!"export: {why}"
  let library ← importModules (found.imports.map ({ module := · }))
  let cancel? ← (← read).cancel.get
  let empty : Court := { kernel := library.toKernelEnv }
  let court ← (found.declarations.foldlM (init := empty) fun court one => court.hear one cancel? : IO Court)
  let verdicts := found.theorems.map fun (word, name) => (word, verdict library court name)
  return record [("declarations", record verdicts)]

def checkCommands : List Command := [
  { name := "dojo.check"
    fields := textFields ++ [optional .texts "names", optional .boolean "all", optional .boolean "export"]
    run := checkText },
  { name := "dojo.judge", fields := [required .object "export"], run := judge }
]

end Dojo
