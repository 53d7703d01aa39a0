import Lean
import Dojo.Compat

/-!
# Names, levels and terms as tables of JSON

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

private def infoNumber : BinderInfo → Nat
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

private def info (json : Json) : Except String BinderInfo := do
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

end Dojo
