import Dojo.Files
import Dojo.Grounds

/-!
# `frontend.track`: whether a text proves and defines what another one states
-/

namespace Dojo

open Lean

private structure Side where
  messages : Array Json
  file : OpenFile
  env : Environment
  /-- What the text adds, in the order of its lines. -/
  added : Array (Name × ConstantInfo)

private def sideOf (text : String) : DojoM Side := do
  let file ← openText { file := text, header := false, inScope := true }
  let messages ← IO.mkRef file.messages
  let state ← file.run fun unit => do
    messages.modify (· ++ unit.messages)
    return false
  let line (name : Name) : Nat := ((rangesOf? state.env name).map (·.range.pos.line)).getD 1000000000
  let keyed := (addedTo file.below state.env).map fun (name, info) => (line name, nameText name, name, info)
  let sorted := keyed.qsort fun a b => a.1 < b.1 || (a.1 == b.1 && a.2.1 < b.2.1)
  return { messages := ← messages.get, file, env := state.env, added := sorted.map fun (_, _, one) => one }

private def Side.find? (side : Side) (name : Name) : Option ConstantInfo :=
  (side.added.find? (·.1 == name)).map (·.2)

private def valueHasSorry (info : ConstantInfo) : Bool := (valueOf? info).any (·.hasSorry)

/-- What Lean makes beside a declaration differs with its value, and states nothing. -/
private def isInternal (name : Name) : Bool :=
  name.isInternalDetail || match name with
    | .str (.str ..) part => part.startsWith "_"
    | _ => false

/-- Whether a constant is the one that was stated: only a value with a `sorry` may be another one. -/
private def fitsStated (stated given : ConstantInfo) : Bool :=
  kindWord stated == kindWord given && stated.isUnsafe == given.isUnsafe &&
    match valueOf? stated, valueOf? given with
    | none, _ => true
    | some was, some is => was.hasSorry || was == is
    | some was, none => was.hasSorry

private def differenceOf? (source target : Side) : Option String := Id.run do
  for (name, info) in target.added do
    let text := nameText name
    if info.type.hasSorry then return some s!"the type of {text} has a sorry"
    if valueHasSorry info then return some s!"the value of {text} has a sorry"
    match source.find? name with
    | none => if info matches .axiomInfo _ then return some s!"{text} is a new axiom"
    | some stated =>
      if stated.type != info.type then return some s!"{text} has another type"
      if stated.levelParams != info.levelParams then return some s!"{text} has other universe parameters"
      unless fitsStated stated info do return some s!"{text} is defined in another way"
  let missing? := source.added.find? fun (name, _) => (target.find? name).isNone && !isInternal name
  return missing?.map fun (name, _) => s!"{nameText name} is missing"

/-- What a program put there past the kernel. -/
private def unchecked? (target : Side) : DojoM (Option String) := do
  let theorems := target.added.filter fun (_, info) => info matches .thmInfo _
  let problems ← problemsOf target.file.base.library target.file.below target.env (theorems.map (·.1))
  return (problems.findSome? id).map fun problem => s!"the kernel refuses {problem.constant}: {problem.message}"

private def track (request : Request) : DojoM Json := do
  let source ← sideOf (request.text "src")
  let target ← sideOf (request.text "dst")
  let failed := source.messages.any isError || target.messages.any isError
  let failure? ← if failed then pure none else match differenceOf? source target with
    | some difference => pure (some difference)
    | none => unchecked? target
  return record [("srcMessages", .arr source.messages), ("dstMessages", .arr target.messages)]
    [failure?.map fun failure => ("failure", .str failure)]

def trackCommands : List Command := [
  { name := "frontend.track", run := track, fields := [required .text "src", required .text "dst"] }
]

end Dojo
