import Lean
import Dojo.Compat
import Dojo.Constants
import Dojo.Kernel
import Dojo.Known
import Dojo.Request

/-!
# Terms and declarations as tables of numbers

Only data that is parsed strictly crosses from one process to another, never memory. A table is a flat list of JSON
numbers, and of texts in names and literals. Each row refers only to earlier rows:

* names, from 1 (0 is anonymous): `prefix, part`, where the part is a text or a number;
* levels, from 1 (0 is zero): `0, l` (successor), `1, l, m` (max), `2, l, m` (imax), `3, name` (parameter),
  `4, name` (metavariable);
* terms, from 0: `0, n` (bound variable), `1, l` (sort), `2, name, k, l…` (constant with k levels), `3, f, k, a…`
  (application to k arguments), `4, name, type, body, binder` (lambda), `5, name, type, body, binder` (pi),
  `6, name, type, value, body, nondep` (let), `7, "123"` (number), `8, "text"`, `9, structure, index, e` (projection),
  `10, name` (free variable), `11, name` (metavariable).

A binder is 0 for `(x)`, 1 for `{x}`, 2 for `⦃x⦄` and 3 for `[x]`. Annotations are omitted. Free variables
and metavariables occur only in proof states; `closed` tables have none.
-/

namespace Dojo

open Lean

/-! ## Writing -/

/-- A table that is being written, and the number of its rows. -/
structure Rows where
  items : Array Json := #[]
  count : Nat := 0
  deriving Inhabited

@[inline] def numberJson (n : Nat) : Json := .num (JsonNumber.fromNat n)

def Rows.add (rows : Rows) (items : Array Json) : Rows := { items := rows.items ++ items, count := rows.count + 1 }

/-- Tables that are being written, with the row of each object in them. -/
structure Tables where
  names : Rows := {}
  levels : Rows := {}
  exprs : Rows := {}
  private nameRows : Known Name Nat := {}
  private levelRows : Known Level Nat := {}
  private exprRows : Known ExprStructEq Nat := {}
  deriving Inhabited

abbrev TablesM := StateM Tables

partial def writeName (name : Name) : TablesM Nat := do
  if let some known := (← get).nameRows.find? name then return known
  match name with
  | .anonymous => return 0
  | .str parent part => add (← writeName parent) (.str part)
  | .num parent part => add (← writeName parent) (numberJson part)
where
  add (parent : Nat) (part : Json) : TablesM Nat :=
    modifyGet fun tables =>
      let row := tables.names.count + 1
      (row, { tables with
        names := tables.names.add #[numberJson parent, part], nameRows := tables.nameRows.insert name row })

partial def writeLevel (level : Level) : TablesM Nat := do
  if let some known := (← get).levelRows.find? level then return known
  match level with
  | .zero => return 0
  | .succ l => add #[numberJson 0, numberJson (← writeLevel l)]
  | .max a b => add #[numberJson 1, numberJson (← writeLevel a), numberJson (← writeLevel b)]
  | .imax a b => add #[numberJson 2, numberJson (← writeLevel a), numberJson (← writeLevel b)]
  | .param name => add #[numberJson 3, numberJson (← writeName name)]
  | .mvar id => add #[numberJson 4, numberJson (← writeName id.name)]
where
  add (items : Array Json) : TablesM Nat :=
    modifyGet fun tables =>
      let row := tables.levels.count + 1
      (row, { tables with levels := tables.levels.add items, levelRows := tables.levelRows.insert level row })

partial def writeExpr (e : Expr) : TablesM Nat := do
  if let .mdata _ inner := e then return ← writeExpr inner
  if let some known := (← get).exprRows.find? ⟨e⟩ then return known
  let items ← match e with
    | .app .. => do
      let arguments := e.getAppArgs
      let mut items := #[numberJson 3, numberJson (← writeExpr e.getAppFn), numberJson arguments.size]
      for argument in arguments do items := items.push (numberJson (← writeExpr argument))
      pure items
    | .bvar i => pure #[numberJson 0, numberJson i]
    | .sort level => pure #[numberJson 1, numberJson (← writeLevel level)]
    | .const name levels => do
      let mut items := #[numberJson 2, numberJson (← writeName name), numberJson levels.length]
      for level in levels do items := items.push (numberJson (← writeLevel level))
      pure items
    | .lam name type body info => binder 4 name type body info
    | .forallE name type body info => binder 5 name type body info
    | .letE name type value body nondep =>
      pure #[numberJson 6, numberJson (← writeName name), numberJson (← writeExpr type), numberJson (← writeExpr value),
        numberJson (← writeExpr body), numberJson nondep.toNat]
    | .lit (.natVal n) => pure #[numberJson 7, .str (toString n)]
    | .lit (.strVal text) => pure #[numberJson 8, .str text]
    | .proj name i inner => pure #[numberJson 9, numberJson (← writeName name), numberJson i, numberJson (← writeExpr inner)]
    | .fvar id => pure #[numberJson 10, numberJson (← writeName id.name)]
    | .mvar id => pure #[numberJson 11, numberJson (← writeName id.name)]
    | .mdata .. => pure #[]
  modifyGet fun tables =>
    let row := tables.exprs.count
    (row, { tables with exprs := tables.exprs.add items, exprRows := tables.exprRows.insert ⟨e⟩ row })
where
  binder (tag : Nat) (name : Name) (type body : Expr) (info : BinderInfo) : TablesM (Array Json) := do
    return #[numberJson tag, numberJson (← writeName name), numberJson (← writeExpr type), numberJson (← writeExpr body),
      numberJson info.toUInt64.toNat]

/-- The tables as members of a JSON object. -/
def Tables.members (tables : Tables) : List (String × Json) :=
  [("names", .arr tables.names.items), ("levels", .arr tables.levels.items), ("exprs", .arr tables.exprs.items)]

/-! ## Reading -/

/-- Tables that were read. -/
structure Read where
  names : Array Name := #[.anonymous]
  levels : Array Level := #[.zero]
  exprs : Array Expr := #[]

/-- The number that any other item is read as; no table has that many rows. -/
private def noNatural : Nat := 4294967295

@[inline] private def naturalOf : Json → Nat
  | .num ⟨.ofNat n, 0⟩ => n
  | _ => noNatural

@[inline] private def naturalAt (items : Array Json) (i : Nat) : Nat :=
  match items[i]? with
  | some item => naturalOf item
  | none => noNatural

namespace Read

private def wrong {α} (what : String) (json : Json) : Except String α :=
  throw s!"{what}: {(toString json.compress).take 80}"

private def at? {α} (what : String) (table : Array α) (json : Json) : Except String α :=
  match table[naturalOf json]? with
  | some value => return value
  | none => wrong s!"no {what} has this number" json

def name (read : Read) (json : Json) : Except String Name := at? "name" read.names json
def level (read : Read) (json : Json) : Except String Level := at? "level" read.levels json
def expr (read : Read) (json : Json) : Except String Expr := at? "term" read.exprs json

/-- The items of a list. -/
def list (json : Json) : Except String (List Json) :=
  match json with
  | .arr items => return items.toList
  | json => wrong "expected a list" json

def infoOf? (n : Nat) : Option BinderInfo :=
  #[BinderInfo.default, .implicit, .strictImplicit, .instImplicit][n]?

def info (json : Json) : Except String BinderInfo :=
  match infoOf? (naturalOf json) with
  | some info => return info
  | none => wrong "not a kind of binder" json

private partial def readNames (items : Array Json) (i : Nat) (found : Array Name) : Except String (Array Name) :=
  if i ≥ items.size then return found else
  match found[naturalAt items i]?, items[i + 1]? with
  | some parent, some (.str part) => readNames items (i + 2) (found.push (.str parent part))
  | some parent, some part =>
    let n := naturalOf part
    if n < noNatural then readNames items (i + 2) (found.push (.num parent n)) else wrong "not a part of a name" part
  | _, _ => throw s!"names: no row at {i}"

private partial def readLevels (closed : Bool) (names : Array Name) (items : Array Json) (i : Nat) (found : Array Level) :
    Except String (Array Level) :=
  if i ≥ items.size then return found else
  let next (size : Nat) (level? : Option Level) : Except String (Array Level) :=
    match level? with
    | some level => readLevels closed names items (i + size) (found.push level)
    | none => throw s!"levels: no row at {i}"
  let level? (k : Nat) : Option Level := found[naturalAt items (i + k)]?
  let name? (k : Nat) : Option Name := names[naturalAt items (i + k)]?
  match naturalAt items i with
  | 0 => next 2 (return .succ (← level? 1))
  | 1 => next 3 (return .max (← level? 1) (← level? 2))
  | 2 => next 3 (return .imax (← level? 1) (← level? 2))
  | 3 => next 2 (return .param (← name? 1))
  | 4 => if closed then throw "levels: a metavariable" else next 2 (return .mvar ⟨← name? 1⟩)
  | _ => throw s!"levels: no row at {i}"

/-- The rows whose numbers are the `count` items from `i` on. -/
private def someOf? {α} (table : Array α) (items : Array Json) (i count : Nat) : Option (Array α) := Id.run do
  if i + count > items.size then return none
  let mut found := #[]
  for k in [i:i + count] do
    match table[naturalAt items k]? with
    | some one => found := found.push one
    | none => return none
  return some found

private def maxSmall : Nat := 1048576

/-- The term of the row at `i`, and the size of the row. -/
private def rowAt? (closed : Bool) (read : Read) (items : Array Json) (i : Nat) : Option (Expr × Nat) := do
  let expr? (k : Nat) : Option Expr := read.exprs[naturalAt items (i + k)]?
  let name? (k : Nat) : Option Name := read.names[naturalAt items (i + k)]?
  let small? (k : Nat) : Option Nat :=
    let n := naturalAt items (i + k)
    if n < maxSmall then some n else none
  match naturalAt items i with
  | 3 =>
    let count := naturalAt items (i + 2)
    return (mkAppN (← expr? 1) (← someOf? read.exprs items (i + 3) count), 3 + count)
  | 0 => return (.bvar (← small? 1), 2)
  | 2 =>
    let count := naturalAt items (i + 2)
    return (.const (← name? 1) (← someOf? read.levels items (i + 3) count).toList, 3 + count)
  | 4 => return (.lam (← name? 1) (← expr? 2) (← expr? 3) (← infoOf? (naturalAt items (i + 4))), 5)
  | 5 => return (.forallE (← name? 1) (← expr? 2) (← expr? 3) (← infoOf? (naturalAt items (i + 4))), 5)
  | 1 => return (.sort (← read.levels[naturalAt items (i + 1)]?), 2)
  | 6 =>
    let nondep := naturalAt items (i + 5)
    guard (nondep < 2)
    return (.letE (← name? 1) (← expr? 2) (← expr? 3) (← expr? 4) (nondep == 1), 6)
  | 7 =>
    let .str digits ← items[i + 1]? | none
    guard (!digits.isEmpty && digits.all Char.isDigit)
    return (.lit (.natVal (← digits.toNat?)), 2)
  | 8 =>
    let .str text ← items[i + 1]? | none
    return (.lit (.strVal text), 2)
  | 9 => return (.proj (← name? 1) (← small? 2) (← expr? 3), 4)
  | 10 => if closed then none else return (.fvar ⟨← name? 1⟩, 2)
  | 11 => if closed then none else return (.mvar ⟨← name? 1⟩, 2)
  | _ => none

private partial def readExprs (closed : Bool) (items : Array Json) (i : Nat) (read : Read) : Except String Read :=
  if i ≥ items.size then return read else
  match rowAt? closed read items i with
  | some (e, size) => readExprs closed items (i + size) { read with exprs := read.exprs.push e }
  | none => throw s!"exprs: no term at {i}"

private def items (json : Json) : Except String (Array Json) :=
  match json with
  | .arr items => return items
  | json => wrong "expected a list" json

/-- Reads three tables. -/
def ofItems (names levels exprs : Json) (closed : Bool) : Except String Read := do
  let names ← readNames (← items names) 0 #[.anonymous]
  let levels ← readLevels closed names (← items levels) 0 #[.zero]
  readExprs closed (← items exprs) 0 { names, levels }

/-- Reads the tables of a JSON object. -/
def tables (json : Json) (closed : Bool) : Except String Read := do
  ofItems (← json.getObjVal? "names") (← json.getObjVal? "levels") (← json.getObjVal? "exprs") closed

end Read

/-!
## What constants depend on beyond the library, as plain data

A judge, which has not seen their text, reads this (`dojo.judge`). Constructors and recursors are not written, because the
kernel makes them. Declarations that are unsafe or unfinished are omitted, so the judge finds them missing.
-/

/-- The version of the format. -/
def exportFormat : Nat := 2

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

/-- The finished, safe declarations that constants depend on beyond `base`. -/
def declarationsToWrite (env : Environment) (base : Kernel.Environment) (roots : Array Name) :
    Array (ConstantInfo × Declaration) :=
  (declarationsBehind env base roots).filter fun (info, declaration) =>
    !info.isUnsafe && !info.isPartial && (partsOfDeclaration declaration).2.all isFinished

/-- A declaration with tables of its own. -/
def exportRow (declaration : Declaration) : Json :=
  let (row, tables) := (writeDeclaration declaration).run {}
  .arr #[.arr tables.names.items, .arr tables.levels.items, .arr tables.exprs.items, row]

/-- The declarations that a session has exported as parts of contexts, each with its number. -/
structure Exported where
  known : Std.HashMap Name (ConstantInfo × Nat) := {}
  next : Nat := 0
  deriving Inhabited

/-- The number of a constant's declaration, along with the declaration if it was not exported before. -/
private def Exported.write (exported : Exported) (info : ConstantInfo) (declaration : Declaration) : Json × Exported :=
  match exported.known[info.name]? with
  | some (known, id) =>
    if samePointer known info then (numberJson id, exported) else fresh
  | none => fresh
where
  fresh : Json × Exported :=
    -- if the meaning of a name has changed, it gets a new number
    let id := exported.next
    let known := exported.known.insert info.name (info, id)
    (.arr #[numberJson id, exportRow declaration], { known, next := id + 1 })

/--
Exports what constants depend on beyond the library, under the names that they have in the answer. The text's context is
`below`, the environment that it began with: its declarations have numbers, and are written once in a session.
-/
def exportConstants (library below env : Environment) (constants : Array (String × Name)) (exported : Exported) :
    Json × Exported := Id.run do
  let mut exported := exported
  let mut context := #[]
  let mut declarations := #[]
  for (info, declaration) in declarationsToWrite env library.toKernelEnv (constants.map (·.2)) do
    if (below.find? info.name).any (samePointer · info) then
      let (entry, next) := exported.write info declaration
      exported := next
      context := context.push entry
    else declarations := declarations.push (exportRow declaration)
  let (names, tables) := (constants.toList.mapM fun (word, name) => return (word, toJson (← writeName name)) :
    TablesM (List (String × Json))).run {}
  let json := Json.mkObj [
    ("format", toJson exportFormat),
    ("imports", toJson (library.header.imports.map fun one => moduleText one.module).toList.eraseDups),
    ("context", .arr context), ("declarations", .arr declarations),
    ("names", .arr tables.names.items), ("constants", Json.mkObj names)]
  return (json, exported)

/-!
## Reading an export

An export may come from a process in which a hostile program runs, so everything must have exactly the right form.
-/

/-- A declaration of a context, and the number that the client has given it by its content. -/
structure Numbered where
  key : Nat
  /-- `none` if the judge already has it. -/
  declaration? : Option Declaration

/-- The content of an export. -/
structure Export where
  imports : Array Name := #[]
  context : Array Numbered := #[]
  declarations : Array Declaration := #[]
  /-- Constants by the names that they have in answers. -/
  constants : List (String × Name) := []

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
    if types.isEmpty then throw "an inductive declaration needs a type"
    return .inductDecl (← readNames tables levels) (← smallNumber 1048576 parameters) types false
  | [.str "quot"] => return .quotDecl
  | _ => throw "not a declaration"

private def isModulePart (part : String) : Bool :=
  match part.toList with
  | first :: rest => (first.isAlpha || first == '_') && rest.all fun c => c.isAlphanum || c == '_' || c == '-'
  | [] => false

private def readModuleName (json : Json) : Except String Name := do
  let parts := (← json.getStr?).splitOn "."
  unless parts.all isModulePart do throw "not the name of a module"
  return parts.foldl (init := .anonymous) .str

private def exportFields : List String := ["format", "imports", "context", "declarations", "names", "constants"]

private def readRow (json : Json) : Except String Declaration := do
  let [names, levels, exprs, row] ← Read.list json | throw "a declaration has three tables and a row"
  readDeclaration (← Read.ofItems names levels exprs (closed := true)) row

private def readNumbered (json : Json) : Except String Numbered := do
  match json with
  | .arr #[key, row] => return { key := ← smallNumber maxKey key, declaration? := some (← readRow row) }
  | key => return { key := ← smallNumber maxKey key, declaration? := none }
where
  maxKey := 9007199254740992

/-- Reads an export, or says what is wrong with it. -/
def readExport (data : Json) : Except String Export := do
  let given := (Request.members data).map (·.1)
  unless given.length == exportFields.length && exportFields.all given.contains do
    throw s!"it must have the fields {", ".intercalate exportFields}"
  let format := data.getObjValD "format"
  unless format == toJson exportFormat do throw s!"its format is {format.compress}, not {exportFormat}"
  let imports ← (← Read.list (data.getObjValD "imports")).mapM readModuleName
  let within {α} (field : String) (read : Json → Except String α) : Except String (Array α) := do
    let items ← (← Read.list (data.getObjValD field)).mapM fun one => (read one).mapError fun why => s!"{field}: {why}"
    return items.toArray
  let names ← Read.ofItems (data.getObjValD "names") (.arr #[]) (.arr #[]) (closed := true)
  let constants ← match data.getObjValD "constants" with
    | .obj pairs => (Request.members (.obj pairs)).mapM fun (word, name) => return (word, ← names.name name)
    | _ => throw "constants must be an object"
  return {
    imports := imports.toArray, context := ← within "context" readNumbered
    declarations := ← within "declarations" readRow, constants }

end Dojo
