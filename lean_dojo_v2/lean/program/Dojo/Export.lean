import Dojo.Kernel
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

/-- A table that is being written, and the row of each object in it. -/
structure Rows (α : Type) [BEq α] [Hashable α] where
  first : Nat := 1
  items : Array Json := #[]
  known : Known α Nat := {}
  deriving Inhabited

@[inline] def Rows.add {α : Type} [BEq α] [Hashable α] (rows : Rows α) (object : α) (items : Array Json) : Nat × Rows α :=
  let row := rows.first + rows.known.size
  (row, { rows with items := rows.items ++ items, known := rows.known.insert object row })

/-- Tables that are being written. -/
structure Tables where
  names : Rows Name := {}
  levels : Rows Level := {}
  exprs : Rows ExprStructEq := { first := 0 }
  deriving Inhabited

abbrev TablesM := StateM Tables

partial def writeName (name : Name) : TablesM Nat := do
  if let some known := (← get).names.known.find? name then return known
  match name with
  | .anonymous => return 0
  | .str parent part => add #[← writeName parent, part]
  | .num parent part => add #[← writeName parent, part]
where
  add (items : Array Json) : TablesM Nat := modifyGet fun tables =>
    let (row, names) := tables.names.add name items
    (row, { tables with names })

partial def writeLevel (level : Level) : TablesM Nat := do
  if let some known := (← get).levels.known.find? level then return known
  match level with
  | .zero => return 0
  | .succ l => add #[0, ← writeLevel l]
  | .max a b => add #[1, ← writeLevel a, ← writeLevel b]
  | .imax a b => add #[2, ← writeLevel a, ← writeLevel b]
  | .param name => add #[3, ← writeName name]
  | .mvar id => add #[4, ← writeName id.name]
where
  add (items : Array Json) : TablesM Nat := modifyGet fun tables =>
    let (row, levels) := tables.levels.add level items
    (row, { tables with levels })

partial def writeExpr (e : Expr) : TablesM Nat := do
  if let .mdata _ inner := e then return ← writeExpr inner
  if let some known := (← get).exprs.known.find? ⟨e⟩ then return known
  let items ← row
  modifyGet fun tables =>
    let (row, exprs) := tables.exprs.add ⟨e⟩ items
    (row, { tables with exprs })
where
  row : TablesM (Array Json) := do
    match e with
    | .app .. =>
      let arguments := e.getAppArgs
      let mut items : Array Json := #[3, ← writeExpr e.getAppFn, arguments.size]
      for argument in arguments do items := items.push (← writeExpr argument)
      return items
    | .bvar i => return #[0, i]
    | .sort level => return #[1, ← writeLevel level]
    | .const name levels =>
      let mut items : Array Json := #[2, ← writeName name, levels.length]
      for level in levels do items := items.push (← writeLevel level)
      return items
    | .lam name type body info => binder 4 name type body info
    | .forallE name type body info => binder 5 name type body info
    | .letE name type value body nondep =>
      return #[6, ← writeName name, ← writeExpr type, ← writeExpr value, ← writeExpr body, nondep.toNat]
    | .lit (.natVal n) => return #[7, toString n]
    | .lit (.strVal text) => return #[8, text]
    | .proj name i inner => return #[9, ← writeName name, i, ← writeExpr inner]
    | .fvar id => return #[10, ← writeName id.name]
    | .mvar id => return #[11, ← writeName id.name]
    | .mdata .. => return #[]
  binder (tag : Nat) (name : Name) (type body : Expr) (info : BinderInfo) : TablesM (Array Json) := do
    return #[tag, ← writeName name, ← writeExpr type, ← writeExpr body, info.toUInt64.toNat]

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

private def at? {α} (what : String) (table : Array α) (json : Json) : Except String α :=
  match table[naturalOf json]? with
  | some value => return value
  | none => throw s!"no {what} has this number: {(toString json.compress).take 80}"

def name (read : Read) (json : Json) : Except String Name := at? "name" read.names json
def level (read : Read) (json : Json) : Except String Level := at? "level" read.levels json
def expr (read : Read) (json : Json) : Except String Expr := at? "term" read.exprs json

def infoOf? (n : Nat) : Option BinderInfo :=
  #[BinderInfo.default, .implicit, .strictImplicit, .instImplicit][n]?

/-- Reads a table. `row?` finds the object of the row at a place, and the size of the row. -/
@[specialize] private partial def readRows {α : Type} (what : String) (items : Array Json)
    (row? : Array α → Nat → Option (α × Nat)) (found : Array α) (i : Nat := 0) : Except String (Array α) :=
  if i ≥ items.size then return found else
  match row? found i with
  | some (one, size) => readRows what items row? (found.push one) (i + size)
  | none => throw s!"{what}: no row at {i}"

private def nameAt? (items : Array Json) (names : Array Name) (i : Nat) : Option (Name × Nat) := do
  let parent ← names[naturalAt items i]?
  if let some (.str part) := items[i + 1]? then return (.str parent part, 2)
  let part := naturalAt items (i + 1)
  guard (part < noNatural)
  return (.num parent part, 2)

private def levelAt? (closed : Bool) (names : Array Name) (items : Array Json) (levels : Array Level) (i : Nat) :
    Option (Level × Nat) := do
  let level? (k : Nat) : Option Level := levels[naturalAt items (i + k)]?
  let name? (k : Nat) : Option Name := names[naturalAt items (i + k)]?
  match naturalAt items i with
  | 0 => return (.succ (← level? 1), 2)
  | 1 => return (.max (← level? 1) (← level? 2), 3)
  | 2 => return (.imax (← level? 1) (← level? 2), 3)
  | 3 => return (.param (← name? 1), 2)
  | 4 => if closed then none else return (.mvar ⟨← name? 1⟩, 2)
  | _ => none

/-- The rows whose numbers are the `count` items from `i` on. -/
private def someOf? {α} (table : Array α) (items : Array Json) (i count : Nat) : Option (Array α) := do
  guard (i + count ≤ items.size)
  (items.extract i (i + count)).mapM fun item => table[naturalOf item]?

private def maxSmall : Nat := 1048576

private def exprAt? (closed : Bool) (names : Array Name) (levels : Array Level) (items : Array Json) (exprs : Array Expr)
    (i : Nat) : Option (Expr × Nat) := do
  let expr? (k : Nat) : Option Expr := exprs[naturalAt items (i + k)]?
  let name? (k : Nat) : Option Name := names[naturalAt items (i + k)]?
  let small? (k : Nat) : Option Nat :=
    let n := naturalAt items (i + k)
    if n < maxSmall then some n else none
  match naturalAt items i with
  | 3 =>
    let count := naturalAt items (i + 2)
    return (mkAppN (← expr? 1) (← someOf? exprs items (i + 3) count), 3 + count)
  | 0 => return (.bvar (← small? 1), 2)
  | 2 =>
    let count := naturalAt items (i + 2)
    return (.const (← name? 1) (← someOf? levels items (i + 3) count).toList, 3 + count)
  | 4 => return (.lam (← name? 1) (← expr? 2) (← expr? 3) (← infoOf? (naturalAt items (i + 4))), 5)
  | 5 => return (.forallE (← name? 1) (← expr? 2) (← expr? 3) (← infoOf? (naturalAt items (i + 4))), 5)
  | 1 => return (.sort (← levels[naturalAt items (i + 1)]?), 2)
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

/-- Reads three tables. -/
def ofItems (names levels exprs : Json) (closed : Bool) : Except String Read := do
  let (nameItems, levelItems, exprItems) := (← names.getArr?, ← levels.getArr?, ← exprs.getArr?)
  let names ← readRows "names" nameItems (nameAt? nameItems) #[.anonymous]
  let levels ← readRows "levels" levelItems (levelAt? closed names levelItems) #[.zero]
  return { names, levels, exprs := ← readRows "exprs" exprItems (exprAt? closed names levels exprItems) #[] }

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

private def hintsJson : ReducibilityHints → Json
  | .opaque => .str "opaque"
  | .abbrev => .str "abbrev"
  | .regular height => toJson height.toNat

private def writeConstant (kind : String) (info : ConstantVal) (value? : Option Expr := none)
    (more : Array Json := #[]) : TablesM Json := do
  let levels ← info.levelParams.mapM writeName
  let head := #[.str kind, toJson (← writeName info.name), toJson levels, toJson (← writeExpr info.type)]
  let value ← value?.toArray.mapM writeExpr
  return .arr (head ++ value.map toJson ++ more)

private def writeTyped (name : Name) (type : Expr) : TablesM (Array Json) := do
  return #[toJson (← writeName name), toJson (← writeExpr type)]

private def writeType (type : InductiveType) : TablesM Json := do
  let constructors ← type.ctors.mapM fun one => writeTyped one.name one.type
  return .arr ((← writeTyped type.name type.type).push (toJson constructors))

/-- The row of a declaration. -/
def writeDeclaration : Declaration → TablesM Json
  | .axiomDecl info => writeConstant "axiom" info.toConstantVal
  | .defnDecl info => writeConstant "def" info.toConstantVal info.value #[hintsJson info.hints]
  | .thmDecl info => writeConstant "theorem" info.toConstantVal info.value
  | .opaqueDecl info => writeConstant "opaque" info.toConstantVal info.value
  | .inductDecl levels parameters types _ => do
    let levels ← levels.mapM writeName
    return .arr #[.str "inductive", toJson levels, toJson parameters, toJson (← types.mapM writeType)]
  | _ => return .arr #[.str "quot"]

/-- The finished, safe declarations that constants depend on beyond `base`. -/
def declarationsToWrite (env : Environment) (base : Kernel.Environment) (roots : Array Name) :
    Array (ConstantInfo × Declaration) :=
  (declarationsBehind env base roots).filter fun (info, declaration) =>
    !info.isUnsafe && !info.isPartial && (partsOfDeclaration declaration).2.all fun e => !e.hasMVar && !e.hasFVar

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
    if samePointer known info then ((id : Nat), exported) else fresh
  | none => fresh
where
  fresh : Json × Exported :=
    -- if the meaning of a name has changed, it gets a new number
    let id := exported.next
    let known := exported.known.insert info.name (info, id)
    (.arr #[id, exportRow declaration], { known, next := id + 1 })

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

/-- The content of an export. -/
structure Export where
  imports : Array Name := #[]
  /-- Declarations, each with the client's number of its content; `none` if the judge already has it. -/
  context : Array (Nat × Option Declaration) := #[]
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
  (← json.getArr?).toList.mapM tables.name

private def readConstant (tables : Read) (name levels type : Json) : Except String ConstantVal := do
  return { name := ← tables.name name, levelParams := ← readNames tables levels, type := ← tables.expr type }

private def readConstructor (tables : Read) (json : Json) : Except String Constructor := do
  let #[name, type] ← json.getArr? | throw "a constructor has a name and a type"
  return { name := ← tables.name name, type := ← tables.expr type }

private def readType (tables : Read) (json : Json) : Except String InductiveType := do
  let #[name, type, constructors] ← json.getArr? | throw "a type has a name, a type and constructors"
  let constructors ← (← constructors.getArr?).toList.mapM (readConstructor tables)
  return { name := ← tables.name name, type := ← tables.expr type, ctors := constructors }

def readDeclaration (tables : Read) (json : Json) : Except String Declaration := do
  match (← json.getArr?).toList with
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
    let types ← (← types.getArr?).toList.mapM (readType tables)
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
  let #[names, levels, exprs, row] ← json.getArr? | throw "a declaration has three tables and a row"
  readDeclaration (← Read.ofItems names levels exprs (closed := true)) row

private def readNumbered (json : Json) : Except String (Nat × Option Declaration) := do
  match json with
  | .arr #[key, row] => return (← smallNumber maxKey key, some (← readRow row))
  | key => return (← smallNumber maxKey key, none)
where
  maxKey := 9007199254740992

/-- Reads an export, or says what is wrong with it. -/
def readExport (data : Json) : Except String Export := do
  let given := (Request.members data).map (·.1)
  unless given.length == exportFields.length && exportFields.all given.contains do
    throw s!"it must have the fields {", ".intercalate exportFields}"
  let format := data.getObjValD "format"
  unless format == toJson exportFormat do throw s!"its format is {format.compress}, not {exportFormat}"
  let within {α} (field : String) (read : Json → Except String α) : Except String (Array α) := do
    ((← data.getObjVal? field >>= Json.getArr?).mapM read).mapError (s!"{field}: {·}")
  let names ← Read.ofItems (data.getObjValD "names") (.arr #[]) (.arr #[]) (closed := true)
  let constants ← match data.getObjValD "constants" with
    | .obj pairs => (Request.members (.obj pairs)).mapM fun (word, name) => return (word, ← names.name name)
    | _ => throw "constants must be an object"
  return {
    imports := ← within "imports" readModuleName, context := ← within "context" readNumbered
    declarations := ← within "declarations" readRow, constants }

end Dojo
