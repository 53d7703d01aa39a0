import Dojo.Kernel
import Dojo.Tables

/-!
# What theorems rest on beyond the library, as plain data

For a process that judges them without having seen their text (`Judge.lean`). Constructors and recursors are not written:
the kernel makes them. What is missing, unsafe or not finished is left out, and the judge finds it missing.
-/

namespace Dojo

open Lean

/-- The version of the format. -/
def exportFormat : Nat := 1

private def isFinished (e : Expr) : Bool := !e.hasMVar && !e.hasFVar

private def hintsJson : ReducibilityHints → Json
  | .opaque => .str "opaque"
  | .abbrev => .str "abbrev"
  | .regular height => toJson height.toNat

private def declarationRow (kind : String) (parts : Array Json) : Json := .arr (#[.str kind] ++ parts)

private def writeHead (info : ConstantVal) : TablesM (Array Json) := do
  let levels ← info.levelParams.mapM writeName
  return #[toJson (← writeName info.name), toJson levels, toJson (← writeExpr info.type)]

private def writeTyped (name : Name) (type : Expr) : TablesM (Array Json) := do
  return #[toJson (← writeName name), toJson (← writeExpr type)]

private def writeType (type : InductiveType) : TablesM Json := do
  let constructors ← type.ctors.mapM fun one => writeTyped one.name one.type
  return .arr ((← writeTyped type.name type.type).push (toJson constructors))

/-- The row of a declaration. -/
private def writeDeclaration : Declaration → TablesM Json
  | .axiomDecl info => do return declarationRow "axiom" (← writeHead info.toConstantVal)
  | .defnDecl info => do
    let value := #[toJson (← writeExpr info.value), hintsJson info.hints]
    return declarationRow "def" ((← writeHead info.toConstantVal) ++ value)
  | .thmDecl info => do
    return declarationRow "theorem" ((← writeHead info.toConstantVal).push (toJson (← writeExpr info.value)))
  | .opaqueDecl info => do
    return declarationRow "opaque" ((← writeHead info.toConstantVal).push (toJson (← writeExpr info.value)))
  | .inductDecl levels parameters types _ => do
    let levels ← levels.mapM writeName
    return declarationRow "inductive" #[toJson levels, toJson parameters, toJson (← types.mapM writeType)]
  | _ => return declarationRow "quot" #[]

private inductive ExportStep where
  | enter (name : Name)
  | leave (declaration : Declaration)

private instance : Inhabited ExportStep := ⟨.enter .anonymous⟩

/-- The declarations that constants rest on beyond the library, each behind those that it mentions. -/
private def declarationsBehind (env : Environment) (base : Kernel.Environment) (roots : Array Name) :
    Array Declaration := Id.run do
  let mut done : NameSet := {}
  let mut found := #[]
  let mut steps := roots.reverse.map ExportStep.enter
  while !steps.isEmpty do
    let step := steps.back!
    steps := steps.pop
    match step with
    | .leave declaration => found := found.push declaration
    | .enter name =>
      if done.contains name || (base.find? name).isSome then continue
      done := done.insert name
      let some info := env.find? name | continue
      if info.isUnsafe || info.isPartial then continue
      let plan := addPlan env info
      if let some declaration := plan.declaration? then
        if (partsOfDeclaration declaration).2.all isFinished then steps := steps.push (.leave declaration)
      steps := steps ++ plan.uses.reverse.map ExportStep.enter
  return found

/-- What theorems of an environment rest on beyond the library; each goes by what it is called in the answer. -/
def exportTheorems (library env : Environment) (theorems : Array (String × Name)) : Json :=
  let declarations := declarationsBehind env library.toKernelEnv (theorems.map (·.2))
  let write : TablesM (Array Json × List (String × Json)) := do
    let rows ← declarations.mapM writeDeclaration
    let names ← theorems.toList.mapM fun (word, name) => return (word, toJson (← writeName name))
    return (rows, names)
  let ((rows, names), tables) := write.run {}
  Json.mkObj ([
    ("format", toJson exportFormat),
    ("imports", toJson (library.header.imports.map fun one => moduleText one.module).toList.eraseDups),
    ("declarations", .arr rows),
    ("theorems", Json.mkObj names)] ++ tables.members)

end Dojo
