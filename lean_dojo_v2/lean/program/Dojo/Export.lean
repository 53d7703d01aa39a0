import Lean
import Dojo.Compat
import Dojo.Constants
import Dojo.Kernel
import Dojo.Request

/-!
# Terms and declarations as tables of JSON

What leaves the process is data that is parsed strictly, never memory. A row mentions earlier rows alone:

* names, from 1 (0 is anonymous): `[prefix, text or number]`;
* levels, from 1 (0 is zero): `["succ", l]`, `["max", l, l]`, `["imax", l, l]`, `["param", name]`, `["mvar", name]`;
* terms, from 0: `["bvar", n]`, `["sort", l]`, `["const", name, [l, …]]`, `["app", f, a]`,
  `["lam", name, type, body, info]`, `["pi", …]`, `["let", name, type, value, body, nondep]`, `["nat", "123"]`,
  `["str", text]`, `["proj", structure, index, e]`, `["fvar", name]`, `["mvar", name]`. Annotations are left out.

Free variables and metavariables are of proof states only; `closed` tables have none.
-/

namespace Dojo

open Lean

/-! ## Writing -/

/-- Tables that are being written. -/
structure Tables where
  names : Array Json := #[]
  levels : Array Json := #[]
  exprs : Array Json := #[]
  private nameRows : Std.HashMap Name Nat := {}
  private levelRows : Std.HashMap Level Nat := {}
  private exprRows : Std.HashMap ExprStructEq Nat := {}
  deriving Inhabited

abbrev TablesM := StateM Tables

private def row (word : String) (fields : List Json) : Json := .arr (.str word :: fields).toArray

def writeName : Name → TablesM Nat
  | .anonymous => return 0
  | .str parent part => do add (.str parent part) (← writeName parent) (.str part)
  | .num parent part => do add (.num parent part) (← writeName parent) (toJson part)
where
  add (name : Name) (parent : Nat) (part : Json) : TablesM Nat := do
    if let some known := (← get).nameRows[name]? then return known
    modifyGet fun tables =>
      let number := tables.names.size + 1
      (number, { tables with
        names := tables.names.push (.arr #[toJson parent, part]), nameRows := tables.nameRows.insert name number })

private def addLevel (level : Level) (json : Json) : TablesM Nat :=
  modifyGet fun tables =>
    let number := tables.levels.size + 1
    (number, { tables with levels := tables.levels.push json, levelRows := tables.levelRows.insert level number })

partial def writeLevel (level : Level) : TablesM Nat := do
  if let some known := (← get).levelRows[level]? then return known
  match level with
  | .zero => return 0
  | .succ l => addLevel level (row "succ" [toJson (← writeLevel l)])
  | .max a b => addLevel level (row "max" [toJson (← writeLevel a), toJson (← writeLevel b)])
  | .imax a b => addLevel level (row "imax" [toJson (← writeLevel a), toJson (← writeLevel b)])
  | .param name => addLevel level (row "param" [toJson (← writeName name)])
  | .mvar id => addLevel level (row "mvar" [toJson (← writeName id.name)])

def infoNumber : BinderInfo → Nat
  | .default => 0
  | .implicit => 1
  | .strictImplicit => 2
  | .instImplicit => 3

partial def writeExpr (e : Expr) : TablesM Nat := do
  if let .mdata _ inner := e then return ← writeExpr inner
  if let some known := (← get).exprRows[(⟨e⟩ : ExprStructEq)]? then return known
  let name (n : Name) : TablesM Json := return toJson (← writeName n)
  let term (e : Expr) : TablesM Json := return toJson (← writeExpr e)
  let binder (word : String) (n : Name) (type body : Expr) (info : BinderInfo) : TablesM Json := do
    return row word [← name n, ← term type, ← term body, toJson (infoNumber info)]
  let json ← match e with
    | .bvar i => pure (row "bvar" [toJson i])
    | .fvar id => pure (row "fvar" [← name id.name])
    | .mvar id => pure (row "mvar" [← name id.name])
    | .sort level => pure (row "sort" [toJson (← writeLevel level)])
    | .const n levels => pure (row "const" [← name n, toJson (← levels.mapM writeLevel)])
    | .app f a => pure (row "app" [← term f, ← term a])
    | .lam n type body info => binder "lam" n type body info
    | .forallE n type body info => binder "pi" n type body info
    | .letE n type value body nondep =>
      pure (row "let" [← name n, ← term type, ← term value, ← term body, .bool nondep])
    | .lit (.natVal n) => pure (row "nat" [.str (toString n)])
    | .lit (.strVal text) => pure (row "str" [.str text])
    | .proj n i inner => pure (row "proj" [← name n, toJson i, ← term inner])
    | .mdata _ inner => term inner
  modifyGet fun tables =>
    let number := tables.exprs.size
    (number, { tables with exprs := tables.exprs.push json, exprRows := tables.exprRows.insert ⟨e⟩ number })

/-- The tables as members of a JSON object. -/
def Tables.members (tables : Tables) : List (String × Json) :=
  [("names", .arr tables.names), ("levels", .arr tables.levels), ("exprs", .arr tables.exprs)]

/-! ## Reading -/

/-- Tables that were read. -/
structure Read where
  names : Array Name := #[.anonymous]
  levels : Array Level := #[.zero]
  exprs : Array Expr := #[]

namespace Read

private def wrong {α} (what : String) (json : Json) : Except String α :=
  throw s!"{what}: {(toString json.compress).take 80}"

private def natural (json : Json) : Except String Nat :=
  match json.getNat? with
  | .ok n => return n
  | .error _ => wrong "expected a natural number" json

private def at? {α} (what : String) (table : Array α) (json : Json) : Except String α := do
  match table[← natural json]? with
  | some value => return value
  | none => wrong s!"there is no earlier {what} of that number" json

def name (read : Read) (json : Json) : Except String Name := at? "name" read.names json
def level (read : Read) (json : Json) : Except String Level := at? "level" read.levels json
def expr (read : Read) (json : Json) : Except String Expr := at? "term" read.exprs json

/-- The items of a list. -/
def list (json : Json) : Except String (List Json) :=
  match json with
  | .arr items => return items.toList
  | json => wrong "expected a list" json

private def addName (read : Read) (json : Json) : Except String Read := do
  let name ← match ← list json with
    | [parent, .str part] => pure (.str (← read.name parent) part)
    | [parent, part] => pure (.num (← read.name parent) (← natural part))
    | _ => wrong "this is no name" json
  return { read with names := read.names.push name }

private def addLevel (closed : Bool) (read : Read) (json : Json) : Except String Read := do
  let level ← match ← list json with
    | [.str "succ", l] => pure (.succ (← read.level l))
    | [.str "max", a, b] => pure (.max (← read.level a) (← read.level b))
    | [.str "imax", a, b] => pure (.imax (← read.level a) (← read.level b))
    | [.str "param", n] => pure (.param (← read.name n))
    | [.str "mvar", n] => if closed then wrong "a metavariable" json else pure (.mvar ⟨← read.name n⟩)
    | _ => wrong "this is no level" json
  return { read with levels := read.levels.push level }

def info (json : Json) : Except String BinderInfo := do
  match ← natural json with
  | 0 => return .default
  | 1 => return .implicit
  | 2 => return .strictImplicit
  | 3 => return .instImplicit
  | _ => wrong "this is no binder" json

private def digits (text : String) : Except String Nat :=
  match text.toNat? with
  | some n => return n
  | none => throw s!"this is no number: {text.take 80}"

private def addExpr (closed : Bool) (read : Read) (json : Json) : Except String Read := do
  let e ← match ← list json with
    | [.str "bvar", i] => pure (.bvar (← natural i))
    | [.str "sort", l] => pure (.sort (← read.level l))
    | [.str "const", n, levels] => pure (.const (← read.name n) (← (← list levels).mapM read.level))
    | [.str "app", f, a] => pure (.app (← read.expr f) (← read.expr a))
    | [.str "lam", n, t, b, i] => pure (.lam (← read.name n) (← read.expr t) (← read.expr b) (← info i))
    | [.str "pi", n, t, b, i] => pure (.forallE (← read.name n) (← read.expr t) (← read.expr b) (← info i))
    | [.str "let", n, t, v, b, .bool nondep] =>
      pure (.letE (← read.name n) (← read.expr t) (← read.expr v) (← read.expr b) nondep)
    | [.str "nat", .str text] => pure (.lit (.natVal (← digits text)))
    | [.str "str", .str text] => pure (.lit (.strVal text))
    | [.str "proj", n, i, e] => pure (.proj (← read.name n) (← natural i) (← read.expr e))
    | [.str "fvar", n] => if closed then wrong "a free variable" json else pure (.fvar ⟨← read.name n⟩)
    | [.str "mvar", n] => if closed then wrong "a metavariable" json else pure (.mvar ⟨← read.name n⟩)
    | _ => wrong "this is no term" json
  return { read with exprs := read.exprs.push e }

/-- Reads the tables of a JSON object. -/
def tables (json : Json) (closed : Bool) : Except String Read := do
  let rows (name : String) : Except String (List Json) := do list (← json.getObjVal? name)
  let read ← (← rows "names").foldlM addName {}
  let read ← (← rows "levels").foldlM (addLevel closed) read
  (← rows "exprs").foldlM (addExpr closed) read

end Read

/-!
## What theorems rest on beyond the library, as plain data

For a process that judges them without having seen their text (`dojo.judge`). Constructors and recursors are not written:
the kernel makes them. What is missing, unsafe or not finished is left out, and the judge finds it missing.
-/

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
def writeDeclaration : Declaration → TablesM Json
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

/-- What constants rest on beyond `base`, in finished declarations that are not unsafe. -/
def declarationsToWrite (env : Environment) (base : Kernel.Environment) (roots : Array Name) : Array Declaration :=
  (declarationsBehind env base roots).1.filterMap fun (info, declaration) =>
    if info.isUnsafe || info.isPartial || !(partsOfDeclaration declaration).2.all isFinished then none
    else some declaration

/-- What theorems of an environment rest on beyond the library; each goes by what it is called in the answer. -/
def exportTheorems (library env : Environment) (theorems : Array (String × Name)) : Json :=
  let declarations := declarationsToWrite env library.toKernelEnv (theorems.map (·.2))
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

/-!
## Reading an export

It may come from a process that a hostile program runs: every row must have exactly the form of its kind, and mention
only rows before it.
-/

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

def readDeclaration (tables : Read) (json : Json) : Except String Declaration := do
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
