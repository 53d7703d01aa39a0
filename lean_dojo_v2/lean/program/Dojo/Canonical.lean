import Dojo.Constants

/-!
# Terms and statements as texts that can be compared

Two terms have the same canonical text exactly if they differ only in the names of binders and universes. The text is a
table of their distinct subterms, each after its own subterms, so it is as long as the shared term and not as the tree.
-/

namespace Dojo

open Lean

private def quotedName : Name → String
  | .anonymous => ""
  | .str parent part => s!"{quotedName parent}.{part.quote}"
  | .num parent part => s!"{quotedName parent}.{part}"

/-- A text that is unique to a name: programs can make different names that Lean prints alike. -/
def exactName (name : Name) : String :=
  let text := name.toString
  if text.contains '»' then quotedName name else text

/-- Numbers of names, by their first mention. -/
abbrev Numbers := Known Name Nat

/-- Gives a name the next number, unless it has one. -/
def Numbers.add (numbers : Numbers) (name : Name) : Numbers :=
  if numbers.contains name then numbers else numbers.insert name numbers.size

private structure Table where
  rows : Array String := #[]
  places : Known String Nat := {}
  known : Known ExprStructEq Nat := {}
  variables : Numbers

private structure Spelling where
  constant : Name → String
  universes : Numbers

private partial def levelText (universes : Numbers) : Level → String
  | .zero => "0"
  | .succ level => s!"S({levelText universes level})"
  | .max a b => s!"max({levelText universes a},{levelText universes b})"
  | .imax a b => s!"imax({levelText universes a},{levelText universes b})"
  | .param name =>
    match universes.find? name with
    | some place => s!"u{place}"
    | none => s!"?{name}"
  | .mvar id => s!"?{id.name}"

private def literalText : Literal → String
  | .natVal n => toString n
  | .strVal text => text.quote

private def enterRow (row : String) : StateM Table Nat := fun table =>
  match table.places.find? row with
  | some place => (place, table)
  | none =>
    let place := table.rows.size
    (place, { table with rows := table.rows.push row, places := table.places.insert row place })

private def numberOf (name : Name) : StateM Table Nat := fun table =>
  match table.variables.find? name with
  | some number => (number, table)
  | none =>
    let number := table.variables.size
    (number, { table with variables := table.variables.insert name number })

private partial def visitTerm (spelling : Spelling) (e : Expr) : StateM Table Nat := do
  let visit := visitTerm spelling
  match e with
  | .bvar i => enterRow s!"#{i}"
  | .lit literal => enterRow s!"lit {literalText literal}"
  | .mdata _ inner => visit inner
  | _ =>
    if let some place := (← get).known.find? ⟨e⟩ then return place
    let place ← match e with
      | .fvar id => do enterRow s!"fvar {← numberOf id.name}"
      | .mvar id => do enterRow s!"mvar {← numberOf id.name}"
      | .sort level => enterRow s!"sort {levelText spelling.universes level}"
      | .const name levels =>
        let levels := levels.map (levelText spelling.universes)
        enterRow s!"const {spelling.constant name} {" ".intercalate levels}"
      | .app function argument => do enterRow s!"app {← visit function} {← visit argument}"
      | .lam _ type body info => do enterRow s!"lam {info.toUInt64} {← visit type} {← visit body}"
      | .forallE _ type body info => do enterRow s!"all {info.toUInt64} {← visit type} {← visit body}"
      | .letE _ type value body _ => do enterRow s!"let {← visit type} {← visit value} {← visit body}"
      | .proj structName index inner => do
        enterRow s!"proj {spelling.constant structName} {index} {← visit inner}"
      | _ => enterRow "?"
    modify fun table => { table with known := table.known.insert ⟨e⟩ place }
    return place

/-- Numbers in the order of an array. -/
def numbered (names : Array Name) : Numbers := names.foldl .add {}

/--
The canonical text of a term. Free variables and metavariables are written as numbers; `variables` holds those that
already have one, and is returned with all of them.
-/
def canonical (e : Expr) (universes : Numbers) (constant : Name → String := exactName) (variables : Numbers := {}) :
    String × Numbers :=
  let (_, table) := (visitTerm { constant, universes } e).run { variables }
  (";".intercalate table.rows.toList, table.variables)

/-!
## Statements that can be compared

The text of a statement includes all definitions that it depends on beyond the library, so a redefined symbol makes a
different statement. Definitions are identified by their content, not by their names: Lean makes many itself (matchers,
parts of proofs), and reuses an existing one from any declaration. Types, axioms and opaque constants also keep their names.
-/

/-- How constants are written, and the numbered texts of those that are identified by their content. -/
private structure Labels where
  library : Kernel.Environment
  labels : NameMap String := {}
  texts : Array String := #[]
  places : Known String Nat := {}

/-- The module of a constant of the library: two modules of a project may declare the same name. -/
private def moduleSuffix (library : Kernel.Environment) (name : Name) : String :=
  match library.const2ModIdx[name]?.bind fun index => library.header.moduleNames[index.toNat]? with
  | some module => s!"@{module}"
  | none => ""

/-- Whether a constant is identified by its content: another one with the same content is the same. -/
private def isTransparent (info : ConstantInfo) : Bool :=
  info matches .defnInfo _ || info matches .thmInfo _

/-- The content of a constant. The proof of a cited theorem does not matter. -/
private def said (info : ConstantInfo) : List Expr :=
  match info with
  | .defnInfo value => [info.type, value.value]
  | _ => [info.type]

mutual

/-- Labels a constant, and the constants that it needs. -/
private partial def addLabel (own : NameMap ConstantInfo) (name : Name) : StateM Labels Unit := do
  if (← get).labels.contains name then return
  let label (text : String) : StateM Labels Unit := modify fun all => { all with labels := all.labels.insert name text }
  let some info := own.find? name | label (exactName name ++ moduleSuffix (← get).library name)
  -- for constants that mention themselves
  label s!"!{exactName name}"
  unless isTransparent info do return
  let text ← contentOf own info
  let place ← modifyGet fun all =>
    match all.places.find? text with
    | some place => (place, all)
    | none =>
      let place := all.texts.size
      (place, { all with texts := all.texts.push text, places := all.places.insert text place })
  label s!"~{place}"

/-- The canonical text of a term, with labels for what it mentions. -/
private partial def labelled (own : NameMap ConstantInfo) (universes : Numbers) (e : Expr) : StateM Labels String := do
  e.getUsedConstants.forM (addLabel own)
  let labels := (← get).labels
  return (canonical e universes fun name => (labels.find? name).getD (exactName name)).1

private partial def contentOf (own : NameMap ConstantInfo) (info : ConstantInfo) : StateM Labels String :=
  return s!"{kindWord info}:{":".intercalate (← (said info).mapM (labelled own (numbered info.levelParams.toArray)))}"

end

/-- The canonical text of a constant's statement. `find?` looks up constants; `base` is the library's environment. -/
def statementText (find? : Name → Option ConstantInfo) (base : Kernel.Environment) (info : ConstantInfo) : String := Id.run do
  let isLocal (name : Name) : Bool := (base.find? name).isNone
  let parts (info : ConstantInfo) : Array Name :=
    if info matches .thmInfo _ then info.type.getUsedConstants else constantsOf info
  let mut own : NameMap ConstantInfo := {}
  for (name, info?) in closureWith find? info.type.getUsedConstants isLocal parts do
    if isLocal name then
      if let some info := info? then own := own.insert name info
  let written := (own.toList.filter fun (_, info) => !isTransparent info).map fun (name, info) => (exactName name, info)
  let sorted := written.toArray.qsort fun (a, _) (b, _) => a < b
  let all : StateM Labels (Array String) := do
    let type ← labelled own (numbered (collectLevelParams {} info.type).params) info.type
    return #[type] ++ (← sorted.mapM fun (key, info) => return s!"{key}:{← contentOf own info}")
  let (texts, labels) := all.run { library := base }
  return "|".intercalate (texts ++ labels.texts).toList

end Dojo
