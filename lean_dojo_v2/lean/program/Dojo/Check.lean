import Dojo.Exporting
import Dojo.Grounds
import Dojo.Sexp
import Dojo.Statement
import Dojo.Warm

/-!
# `dojo.check`: elaborates a text and says what its declarations rest on
-/

namespace Dojo

open Lean Elab

/-- A declaration that is asked for, or that stands in the text. -/
private structure Wanted where
  /-- What its user calls it. -/
  written : String
  name? : Option Name
  place? : Option DeclarationRange := none

private def placeJson (range : DeclarationRange) : List (String × Json) :=
  let point (position : Position) : Json := toJson #[position.line, position.column + 1]
  [("start", point range.pos), ("end", point range.endPos)]

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
    found := found.push { written, name? := some name, place? := some ranges.range }
  return found

private def describe (library env : Environment) (info : ConstantInfo) : List (String × Json) :=
  [ ("exists", .bool true),
    ("kind", .str (kindWord info)),
    ("lean_name", .str (nameText info.name)),
    ("module", (moduleOf? env info.name).elim .null fun module => .str (moduleText module)),
    ("universes", toJson (info.levelParams.map nameText)),
    ("type", .str (sexp info.type)),
    ("statement", .str (statementText env.find? library.toKernelEnv info)) ] ++ (restsOn env #[info.name] library).json

/-- What is said of the declarations that are wanted; theorems go to the kernel once more. -/
private def describeAll (library below env : Environment) (wanted : Array Wanted) : DojoM Json := do
  let theorems := wanted.filterMap fun one => one.name?.filter fun name => env.find? name matches some (.thmInfo _)
  let problems ← problemsOf library below env theorems
  let mut all := Json.mkObj []
  for { written, name?, place? } in wanted do
    let json := match name?.bind env.find? with
      | none => record [("exists", .bool false)]
      | some info =>
        let problem := match (theorems.zip problems).find? (·.1 == info.name) with
          | some (_, some problem) => toJson problem
          | _ => Json.null
        record (describe library env info ++ (place?.map placeJson).getD [] ++ [("kernel", problem)])
    all := all.setObjVal! written json
  return all

private def constantJson (env : Environment) (name : Name) (info : ConstantInfo) : Json :=
  let implemented? := Compiler.getImplementedBy? env name
  let isExtern := (getExternAttrData? env name).isSome
  record [("name", .str (userText name)), ("kind", .str (kindWord info)), ("unsafe", .bool info.isUnsafe)]
    [ implemented?.map fun other => ("implemented_by", .str (nameText other)),
      if isExtern then some ("extern", .bool true) else none ]

/-- What changes when one of the project's own modules behind some imports does. -/
private def sourcesText (imports : Array Name) : DojoM String := do
  let texts := (← sourcesOf imports).map fun module => s!"{module.name} {hash module.text} {module.text.utf8ByteSize}"
  -- never empty: that is what an engine says which cannot tell
  return "\n".intercalate ("sources" :: texts.toList)

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

def checkCommands : List Command := [
  { name := "dojo.check"
    fields := textFields ++ [optional .texts "names", optional .boolean "all", optional .boolean "export"]
    run := checkText }
]

end Dojo
