import Dojo.States

/-!
# Looking into environments, terms and syntax: `env.*`, `expr.echo`, `dojo.parse_tactic`, `dojo.tactic_words`
-/

namespace Dojo

open Lean Elab Meta

private def nameList (list : List Name) : Json := toJson (list.map nameText)

/-- Pantograph's `inductInfo`, `constructorInfo` and `recursorInfo`. -/
private def structureOf (info : ConstantInfo) (shown : Expr → IO Json) : IO (List (String × Json)) := do
  match info with
  | .inductInfo value => return [("inductInfo", record [
      ("numParams", toJson value.numParams), ("numIndices", toJson value.numIndices), ("all", nameList value.all),
      ("ctors", nameList value.ctors), ("isRec", toJson value.isRec), ("isReflexive", toJson value.isReflexive),
      ("isNested", toJson value.isNested)])]
  | .ctorInfo value => return [("constructorInfo", record [
      ("induct", .str (nameText value.induct)), ("cidx", toJson value.cidx), ("numParams", toJson value.numParams),
      ("numFields", toJson value.numFields)])]
  | .recInfo value =>
    let rules ← value.rules.mapM fun rule => return record [
      ("ctor", .str (nameText rule.ctor)), ("nFields", toJson rule.nfields), ("rhs", ← shown rule.rhs)]
    return [("recursorInfo", record [
      ("all", nameList value.all), ("numParams", toJson value.numParams), ("numIndices", toJson value.numIndices),
      ("numMotives", toJson value.numMotives), ("numMinors", toJson value.numMinors), ("rules", .arr rules.toArray),
      ("k", toJson value.k)])]
  | _ => return []

private def inspect (request : Request) : DojoM Json := do
  let monads ← Monads.ofCommand (← get).command
  let env := monads.coreState.env
  let name := (request.text "name").toName
  let some info := env.find? name | refuse "index" s!"Symbol not found {request.text "name"}"
  let wanted := request.flag "value" (default := info matches .defnInfo _)
  let value? := if wanted then valueOf? info else none
  let shown := expressionRecord (← settings) monads.printContext
  let used (e : Expr) : Json := nameList e.getUsedConstants.toList
  let dependencies := if !request.flag "dependency" then [] else
    ("typeDependency", used info.type) :: (value?.map fun value => ("valueDependency", used value)).toList
  let value ← value?.mapM fun value => return ("value", ← (shown value : IO Json))
  let ranges? := if request.flag "source" then rangesOf? env name else none
  let place (ranges : DeclarationRanges) : List (String × Json) :=
    [("sourceStart", toJson ranges.range.pos), ("sourceEnd", toJson ranges.range.endPos)]
  let publicName := if isPrivateName name then [("publicName", Json.str (userText name))] else []
  return record ([
    ("type", ← (shown info.type : IO Json)), ("isUnsafe", .bool info.isUnsafe), ("kind", .str (kindWord info)),
    ("levels", nameList info.levelParams)] ++ dependencies ++ publicName ++ (← (structureOf info shown : IO _)) ++
    ranges?.elim [] place)
    [value, (moduleOf? env name).map fun module => ("module", .str (moduleText module))]

private def describeEnv (_ : Request) : DojoM Json := do
  let env ← sessionEnv
  return record [
    ("imports", nameList (env.imports.map (·.module)).toList), ("modules", nameList env.allImportedModuleNames.toList)]

/-- The imports and the constants of one module. -/
private def readModule (request : Request) : DojoM Json := do
  let env ← sessionEnv
  let module := request.text "module"
  let index? := env.allImportedModuleNames.findIdx? (nameText · == module)
  let some data := index?.bind fun i => env.header.moduleData[i]? | refuse "exception" s!"Module not found {module}"
  return record [
    ("imports", nameList (data.imports.map (·.module)).toList), ("constNames", nameList data.constNames.toList),
    ("extraConstNames", nameList data.extraConstNames.toList)]

/-- Whether a name is one of Lean's own auxiliaries. -/
private def isHidden (name : Name) : Bool :=
  name.hasMacroScopes || match name with
    | .str _ part => part.startsWith "_proof_" || part.startsWith "_simp_"
    | _ => false

/-- The kind that a constant was declared as, even if the library has no proofs. -/
private def declaredKind (env : Environment) (name : Name) (info : ConstantInfo) : String :=
  match info with
  | .axiomInfo _ =>
    match getOriginalConstKind? env name with
    | some .thm => "theorem"
    | some .defn => "def"
    | _ => "axiom"
  | info => kindWord info

/-- Every safe constant except Lean's own auxiliaries, each after the first letter of its kind, as in `dNat.add`. -/
private def catalog (request : Request) : DojoM Json := do
  let env ← sessionEnv
  let pre? := request.text? "modulePrefix"
  let invert := request.flag "invertFilter"
  let isWanted (module? : Option Name) : Bool :=
    pre?.all (fun pre => module?.any fun module => (nameText module).startsWith pre) != invert
  let symbolsOf (found : Array String) (entries : Array (Name × ConstantInfo)) : Array String :=
    entries.foldl (init := found) fun found (name, info) =>
      if isHidden name || info.isUnsafe then found
      else found.push s!"{(declaredKind env name info).front}{nameText name}"
  let mut symbols := #[]
  for module in env.allImportedModuleNames, data in env.header.moduleData do
    if isWanted module then symbols := symbolsOf symbols (data.constNames.zip data.constants)
  if isWanted none then symbols := symbolsOf symbols (elaborated env)
  return record [("symbols", toJson symbols)]

/-- The term in a field of a request, and its type if the request gives one. -/
private def givenTerm (request : Request) (field : String) : DojoM (Expr × Option Expr × Monads) := do
  let monads ← Monads.ofCommand (← get).command
  let monads := monads.withLevels ((request.texts "levels").map (·.toName))
  let (type?, monads) ← match request.text? "type" with
    | none => pure (none, monads)
    | some text => let (type, monads) ← elaborateText monads text Term.elabType; pure (some type, monads)
  let (term, monads) ← elaborateText monads (request.text field) (Term.elabTermEnsuringType · type?)
  return (term, type?, monads)

private def echo (request : Request) : DojoM Json := do
  let (e, _, monads) ← givenTerm request "expr"
  let (type, monads) ← monads.run (kind := "typing") do instantiateMVars (← inferType e)
  let shown := expressionRecord (← settings) monads.printContext
  return record [("expr", ← (shown e : IO Json)), ("type", ← (shown type : IO Json))]

/-- Adds a definition or theorem to the session's environment. -/
private def addConstant (request : Request) : DojoM Json := do
  if request.flag "typeErrorsAsGoals" then refuse "command" "env.add: typeErrorsAsGoals can only be false"
  let command := (← get).command
  let levelParams := (request.texts "levels").map (·.toName)
  let (value, expected?, monads) ← givenTerm request "value"
  let (type, monads) ← monads.run do instantiateMVars (← expected?.getDM (inferType value))
  let name := (request.text "name").toName
  if type.hasExprMVar || value.hasExprMVar then refuse "expr" s!"{request.text "name"}: something is left open"
  let declaration : Declaration := if request.flag "isTheorem" then .thmDecl { name, levelParams, type, value }
    else .defnDecl { name, levelParams, type, value, hints := .abbrev, safety := .safe }
  let (_, monads) ← monads.run do addDecl declaration
  let env := monads.coreState.env
  modify ({ · with command := { command with env } })
  return record []

/-- Parses one piece of syntax at the beginning of a text, and returns the byte where it ends. -/
private def parsePiece (request : Request) : DojoM Json := do
  let env ← sessionEnv
  let category := request.text "category"
  unless Parser.isParserCategory env category.toName do refuse "parse" s!"there is no syntax category {category}"
  let (_, state) ← orRefuse "parse" (runParser env (request.text "input") (Parser.categoryParserFn category.toName))
  return record [("pos", toJson state.pos.byteIdx)]

/-!
## Settings of tactics that are plain data

Tactics evaluate the values of their settings (`simp (maxSteps := 200)`). A completion may use only plain data there; see
the screening of tactics. This wall protects engines from being disturbed by a completion. No verdict rests on it.
-/

/-- Attributes that evaluate nothing. -/
private def plainAttributes : List Name := [`Lean.Parser.Attr.simp, `Lean.Parser.Attr.grind, `Lean.Parser.Attr.ext,
  `Lean.Parser.Attr.instance, `Lean.Parser.Attr.recursor, `Lean.Parser.Attr.specialize]
private def plainWords : List Name := [`simp, `ext, `inline, `noinline, `reducible, `irreducible, `semireducible, `grind,
  `refl, `symm, `trans, `elab_as_elim, `instance, `default_instance, `match_pattern, `congr, `simps, `to_additive, `norm_cast]

private def isPlainAttribute (stx : Syntax) : Bool :=
  let kind := stx.getKind
  if kind == `Lean.Parser.Attr.simple then plainWords.contains stx[0].getId else plainAttributes.contains kind

/-- Kinds of syntax of settings, whose values tactics evaluate. -/
private def settingKinds : List Name := [`Lean.Parser.Tactic.valConfigItem, `Lean.Parser.Tactic.config]

/-- The kinds of syntax in a value that is plain data. -/
private def dataKinds : List Name := settingKinds ++ [nullKind, numLitKind, strLitKind, `Lean.Parser.Term.structInst,
  `Lean.Parser.Term.structInstFields, `Lean.Parser.Term.structInstField, `Lean.Parser.Term.structInstFieldDef,
  `Lean.Parser.Term.structInstLVal, `Lean.Parser.Term.optEllipsis, `Lean.Parser.Term.dotIdent]

/-- The kinds of syntax in which an identifier names a field or a constructor of the setting's own type. -/
private def namingKinds : List Name := settingKinds ++ [`Lean.Parser.Term.structInstLVal, `Lean.Parser.Term.dotIdent]

private partial def isPlainIn (inSetting : Bool) (parent : Name) (stx : Syntax) : Bool :=
  match stx with
  | .node _ kind parts => Id.run do
    let isSetting := settingKinds.contains kind
    if (inSetting || isSetting) && !dataKinds.contains kind then return false
    if kind == `Lean.Parser.Term.attrInstance && !isPlainAttribute stx[1] then return false
    let mut parent := if kind == nullKind then parent else kind
    for part in parts do
      unless isPlainIn (inSetting || isSetting) parent part do return false
      -- what follows is a value
      if isSetting && part.getAtomVal == ":=" then parent := .anonymous
    return true
  | .ident _ _ name _ => !inSetting || namingKinds.contains parent || name == `true || name == `false
  | _ => true

/-- Whether all settings in a tactic are plain data. -/
private def hasPlainSettings (stx : Syntax) : Bool := isPlainIn false .anonymous stx

/-! ## `dojo.parse_tactic`, `dojo.tactic_words`: nothing is elaborated and nothing runs -/

/-- The environment of the request's state; without one, the session's. -/
private def envOf (request : Request) : DojoM Environment := do
  match request.nat? "stateId" with
  | some id => return (← getState id).env
  | none => sessionEnv

private def parseTactic (request : Request) : DojoM Json := do
  let env ← envOf request
  match parseText env `tactic (request.text "tactic") with
  | .error problem => return record [("parseError", .str problem)]
  | .ok stx =>
    let mut kinds := #[]
    let mut identifiers := #[]
    let mut atoms := #[]
    for part in stx.topDown do
      match part with
      | .missing => pure ()
      | .node _ kind _ => kinds := kinds.push (nameText kind)
      | .atom _ text => atoms := atoms.push text
      | .ident _ _ name _ => identifiers := identifiers.push (nameText name)
    let once (texts : Array String) : Json := toJson texts.toList.eraseDups
    return record [
      ("kind", .str (nameText stx.getKind)), ("kinds", once kinds), ("identifiers", once identifiers),
      ("atoms", once atoms)]
      [if hasPlainSettings stx then none else some ("evaluates", .bool true)]

/-- Kinds of syntax that stand for many tokens. -/
private def openKinds : List SyntaxNodeKind :=
  [identKind, numLitKind, strLitKind, charLitKind, nameLitKind, scientificLitKind, interpolatedStrKind, fieldIdxKind]

/-- The tokens that a tactic may begin with. Lean itself has a parser of any identifier, for the message "unknown tactic". -/
private def tacticWords (request : Request) : DojoM Json := do
  let some category := (Parser.parserExtension.getState (← envOf request)).categories.find? `tactic
    | refuse "parse" "there are no tactics"
  let (ofKinds, ofTokens) := category.tables.leadingTable.toList.partition (openKinds.contains ·.1)
  let words := ofTokens.map (·.1.getString!)
  let other := ofKinds.any (fun (kind, parsers) => kind != identKind || parsers.length > 1)
  let other := other || !category.tables.leadingParsers.isEmpty
  return record [("words", toJson words), ("other", .bool other)]

def inspectCommands : List Command := [
  { name := "env.inspect", run := inspect, fields := [
      required .text "name", optional .boolean "value", optional .boolean "dependency", optional .boolean "source"] },
  { name := "env.describe", run := describeEnv },
  { name := "env.module_read", run := readModule, fields := [required .text "module"] },
  { name := "env.catalog", run := catalog, fields := [optional .text "modulePrefix", optional .boolean "invertFilter"] },
  { name := "env.parse", run := parsePiece, fields := [required .text "input", required .text "category"] },
  { name := "expr.echo", run := echo, fields := [required .text "expr", optional .text "type", optional .texts "levels"] },
  { name := "env.add", run := addConstant, fields := [
      required .text "name", optional .texts "levels", optional .text "type", required .text "value",
      optional .boolean "isTheorem", optional .boolean "typeErrorsAsGoals"] },
  { name := "dojo.parse_tactic", fields := [required .text "tactic", optional .natural "stateId"], run := parseTactic },
  { name := "dojo.tactic_words", fields := [optional .natural "stateId"], run := tacticWords }
]

end Dojo
