import Dojo.Exporting
import Dojo.Request

/-!
# Reading an export

It may come from a process that a hostile program runs: every row must have exactly the form of its kind, and mention
only rows before it.
-/

namespace Dojo

open Lean

/-- What an export holds. -/
structure Export where
  imports : Array Name := #[]
  declarations : Array Declaration := #[]
  /-- Theorems by what they are called. -/
  theorems : List (String × Name) := []

private def smallNumber (limit : Nat) (json : Json) : Except String Nat := do
  let n ← json.getNat?
  if n < limit then return n else throw s!"{n} is too large"

private def hintsOf : Json → Except String ReducibilityHints
  | .str "opaque" => return .opaque
  | .str "abbrev" => return .abbrev
  | json => do return .regular (← smallNumber 4294967295 json).toUInt32

private def readNames (tables : Read) (json : Json) : Except String (List Name) := do
  (← Read.list json).mapM tables.name

private def readConstant (tables : Read) (name levels type : Json) : Except String ConstantVal := do
  return { name := ← tables.name name, levelParams := ← readNames tables levels, type := ← tables.expr type }

private def readConstructor (tables : Read) (json : Json) : Except String Constructor := do
  let [name, type] ← Read.list json | throw "a constructor has a name and a type"
  return { name := ← tables.name name, type := ← tables.expr type }

private def readType (tables : Read) (json : Json) : Except String InductiveType := do
  let [name, type, constructors] ← Read.list json | throw "a type has a name, a type and constructors"
  let constructors ← (← Read.list constructors).mapM (readConstructor tables)
  return { name := ← tables.name name, type := ← tables.expr type, ctors := constructors }

private def readDeclaration (tables : Read) (json : Json) : Except String Declaration := do
  match ← Read.list json with
  | [.str "axiom", name, levels, type] =>
    return .axiomDecl { toConstantVal := ← readConstant tables name levels type, isUnsafe := false }
  | [.str "def", name, levels, type, value, hints] =>
    let constant ← readConstant tables name levels type
    return .defnDecl {
      toConstantVal := constant, value := ← tables.expr value, hints := ← hintsOf hints, safety := .safe }
  | [.str "theorem", name, levels, type, value] =>
    return .thmDecl { toConstantVal := ← readConstant tables name levels type, value := ← tables.expr value }
  | [.str "opaque", name, levels, type, value] =>
    let constant ← readConstant tables name levels type
    return .opaqueDecl { toConstantVal := constant, value := ← tables.expr value, isUnsafe := false }
  | [.str "inductive", levels, parameters, types] =>
    let types ← (← Read.list types).mapM (readType tables)
    if types.isEmpty then throw "there is no type"
    return .inductDecl (← readNames tables levels) (← smallNumber 1048576 parameters) types false
  | [.str "quot"] => return .quotDecl
  | _ => throw "there is no such declaration"

private def isModulePart (part : String) : Bool :=
  match part.toList with
  | first :: rest => (first.isAlpha || first == '_') && rest.all fun c => c.isAlphanum || c == '_' || c == '-'
  | [] => false

private def readModuleName (json : Json) : Except String Name := do
  let parts := (← json.getStr?).splitOn "."
  unless parts.all isModulePart do throw "no module has such a name"
  return parts.foldl (init := .anonymous) .str

private def exportFields : List String := ["format", "imports", "names", "levels", "exprs", "declarations", "theorems"]

/-- Reads an export; the error says what is wrong. -/
def readExport (data : Json) : Except String Export := do
  let given := (Request.members data).map (·.1)
  unless given.length == exportFields.length && exportFields.all given.contains do
    throw s!"it must have the fields {", ".intercalate exportFields}"
  let format := data.getObjValD "format"
  unless format == toJson exportFormat do throw s!"its format is {format.compress}, not {exportFormat}"
  let imports ← (← Read.list (data.getObjValD "imports")).mapM readModuleName
  let tables ← Read.tables data (closed := true)
  let rows ← Read.list (data.getObjValD "declarations")
  let declarations ← rows.mapM fun row => (readDeclaration tables row).mapError fun why => s!"declarations: {why}"
  let theorems ← match data.getObjValD "theorems" with
    | .obj pairs => (Request.members (.obj pairs)).mapM fun (word, name) => return (word, ← tables.name name)
    | _ => throw "theorems must be an object"
  return { imports := imports.toArray, declarations := declarations.toArray, theorems }

end Dojo
