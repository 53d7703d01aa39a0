import Dojo.Text

/-!
# Settings of tactics that are plain data

Tactics evaluate the values of their settings (`simp (maxSteps := 200)`). A completion may use only plain data there; see
the screening of tactics. This wall protects engines from being disturbed by a completion. No verdict rests on it.
-/

namespace Dojo

open Lean

/-- Attributes that evaluate nothing. -/
private def plainAttributes : List Name := [`Lean.Parser.Attr.simp, `Lean.Parser.Attr.grind, `Lean.Parser.Attr.ext,
  `Lean.Parser.Attr.instance, `Lean.Parser.Attr.recursor, `Lean.Parser.Attr.specialize]
private def plainWords : List Name := [`simp, `ext, `inline, `noinline, `reducible, `irreducible, `semireducible, `grind,
  `refl, `symm, `trans, `elab_as_elim, `instance, `default_instance, `match_pattern, `congr, `simps, `to_additive, `norm_cast]

private def isPlainAttribute (stx : Syntax) : Bool :=
  let kind := kindOf stx
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
def hasPlainSettings (stx : Syntax) : Bool := isPlainIn false .anonymous stx

end Dojo
