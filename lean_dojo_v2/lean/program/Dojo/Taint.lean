import Dojo.Constants
import Dojo.InfoTrees
import Dojo.Session

/-!
# Whether a program of a text has run

A text's `#eval`, `elab`, macro, attribute handler or `native_decide` may change tables of the whole process, or its memory
as it likes. A session says so with every answer from then on, and whoever uses it gives nobody else's text to it.

Two things tell. A host may see that Lean's interpreter ran something else than this program; the embedded one does. And
the syntax of a text is asked whether it holds anything that may have Lean evaluate what the text says: where that is not
known, it does.
-/

namespace Dojo

open Lean Elab

/-- Commands that evaluate nothing of what stands in them, but for terms, tactics and attributes. -/
private def plainCommands : List Name := [
  ``Parser.Command.declaration, ``Parser.Command.mutual, ``Parser.Command.in, ``Parser.Command.namespace,
  ``Parser.Command.section, ``Parser.Command.end, ``Parser.Command.open, ``Parser.Command.export,
  ``Parser.Command.variable, ``Parser.Command.universe, ``Parser.Command.set_option, ``Parser.Command.attribute,
  ``Parser.Command.deriving, ``Parser.Command.moduleDoc, ``Parser.Command.check, ``Parser.Command.print,
  ``Parser.Command.printAxioms, ``Parser.Command.omit, ``Parser.Command.include, ``Parser.Command.eoi,
  ``Parser.Command.exit, `lemma]

/-- Syntax that holds commands: where they stand in it. -/
private def commandsIn (stx : Syntax) : Array Syntax :=
  let kind := kindOf stx
  if kind == ``Parser.Command.in then #[stx[0], stx[2]]
  else if kind == ``Parser.Command.mutual then stx[1].getArgs
  else #[]

private partial def isPlainCommand (stx : Syntax) : Bool :=
  plainCommands.contains (kindOf stx) && (commandsIn stx).all isPlainCommand

/--
Terms and tactics that evaluate what a text says, by the last part of their kinds; and `unsafe`: what it marks can be
evaluated where it stands in a type (`autoParam`), and do anything then; and a comment in Verso, whose code Lean runs.
-/
private def evaluating : List String :=
  ["unsafe", "nativeDecide", "runTac", "byElab", "bvDecide", "bvCheck", "bvTrace", "termEval%_", "elabTermEval",
    "versoCommentBody"]

/-- Attributes that evaluate nothing of what they are given to. -/
private def plainAttributes : List Name := [`Lean.Parser.Attr.simp, `Lean.Parser.Attr.grind, `Lean.Parser.Attr.ext,
  `Lean.Parser.Attr.instance, `Lean.Parser.Attr.recursor, `Lean.Parser.Attr.specialize]
private def plainWords : List Name := [`simp, `ext, `inline, `noinline, `reducible, `irreducible, `semireducible, `grind,
  `refl, `symm, `trans, `elab_as_elim, `instance, `default_instance, `match_pattern, `congr, `simps, `to_additive, `norm_cast]

private def isPlainAttribute (stx : Syntax) : Bool :=
  let kind := kindOf stx
  if kind == `Lean.Parser.Attr.simple then plainWords.contains stx[0].getId else plainAttributes.contains kind

/-- Syntax of settings, whose values tactics evaluate. -/
private def settingKinds : List Name := [`Lean.Parser.Tactic.valConfigItem, `Lean.Parser.Tactic.config]

/-- What the value of a setting may be made of to be data. -/
private def dataKinds : List Name := settingKinds ++ [nullKind, numLitKind, strLitKind, `Lean.Parser.Term.structInst,
  `Lean.Parser.Term.structInstFields, `Lean.Parser.Term.structInstField, `Lean.Parser.Term.structInstFieldDef,
  `Lean.Parser.Term.structInstLVal, `Lean.Parser.Term.optEllipsis, `Lean.Parser.Term.dotIdent]

/-- Where an identifier names a field or a constructor of the setting's own type. -/
private def namingKinds : List Name := settingKinds ++ [`Lean.Parser.Term.structInstLVal, `Lean.Parser.Term.dotIdent]

/--
Whether a text has declared what the value of a setting may mean: an instance that gives numerals, or a `true` or `false`
of its own.
-/
private def redefinesData (env : Environment) : Bool :=
  let redefines (name : Name) (info : ConstantInfo) : Bool :=
    let head := info.type.getForallBody.getAppFn.constName?
    head == some ``OfNat || head == some ``NatCast || (name matches .str _ "true") || (name matches .str _ "false")
  env.constants.foldStage2 (fun found name info => found || redefines name info) false

/-- Whether the settings in a piece of syntax are data, and, with `all`, nothing else in it is evaluated. -/
private partial def isPlainIn (env : Environment) (all inSetting : Bool) (parent : Name) (stx : Syntax) : Bool :=
  match stx with
  | .node _ kind parts => Id.run do
    let isSetting := settingKinds.contains kind
    if (inSetting || isSetting) && !dataKinds.contains kind then return false
    if all && isSetting && !inSetting && redefinesData env then return false
    if all then
      if let .str _ ending := kind then
        if evaluating.contains ending || (ending == "posConfigItem" && stx[1].getId == `native) then return false
      -- syntax of the text's own, or of something that was elaborated in memory, expands by a program
      if env.contains kind && (env.getModuleIdxFor? kind).isNone then return false
    if kind == `Lean.Parser.Term.attrInstance && !isPlainAttribute stx[1] then return false
    let mut parent := if kind == nullKind then parent else kind
    for part in parts do
      unless isPlainIn env all (inSetting || isSetting) parent part do return false
      -- behind it stands a value
      if isSetting && part.getAtomVal == ":=" then parent := .anonymous
    return true
  | .ident _ _ name _ =>
    if all && inSetting && name == `native then false
    else !inSetting || namingKinds.contains parent || name == `true || name == `false
  | _ => true

/-- Whether the settings in a tactic are data: tactics evaluate them. -/
def hasPlainSettings (env : Environment) (stx : Syntax) : Bool := isPlainIn env false false .anonymous stx

/-- Whether a tactic or a term has Lean evaluate nothing that stands in it but data. -/
def isPlain (env : Environment) (stx : Syntax) : Bool := isPlainIn env true false .anonymous stx

private def noteProgram : DojoM Unit := do (← read).tainted.set true

/-- Notes what a tactic or a term may have run. -/
def noteSyntax (env : Environment) (stx : Syntax) : DojoM Unit := do
  unless isPlain env stx do noteProgram

/-- Notes what a command may run. -/
def noteCommand (env : Environment) (stx : Syntax) : DojoM Unit := do
  unless isPlainCommand stx && isPlain env stx do noteProgram

/-- Whether the whole of Lean's library is below a text, as it is unless the text begins with `prelude`. -/
private def hasLibrary (env : Environment) : Bool := (env.getModuleIdx? `Init).isSome

/--
Notes constants that may pretend to be Lean's: what Lean's code looks up by its name must be Lean's own. With only a part
of the library below it, a text may give any name the meaning that Lean's code evaluates; a theorem is never evaluated.
-/
def notePretenders (before after : Environment) : DojoM Unit := do
  unless ← (← read).tainted.get do
    let hasAll := hasLibrary before
    let mayPretend (name : Name) (info : ConstantInfo) : Bool :=
      name.getRoot == `Lean || (!hasAll && !(info matches .thmInfo _))
    if (addedTo before after).any fun (name, info) => mayPretend name info then noteProgram

end Dojo
