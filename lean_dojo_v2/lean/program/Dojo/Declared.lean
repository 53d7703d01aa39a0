import Dojo.Constants
import Dojo.Tables

/-!
# Constants as rows of a table, and back through the kernel
-/

namespace Dojo

open Lean

private def numbers (list : List Nat) : Json := toJson list

private def writeHints : ReducibilityHints → Json
  | .opaque => "opaque"
  | .abbrev => "abbrev"
  | .regular height => toJson height.toNat

/-- A constant as a row; `["other", name]` for what a row cannot hold. -/
def writeConstant (name : Name) (info : ConstantInfo) : TablesM Json := do
  let shared : List Json := [
    toJson (← writeName name), numbers (← info.levelParams.mapM writeName), toJson (← writeExpr info.type)]
  let row (word : String) (more : List Json) : Json := .arr (.str word :: shared ++ more).toArray
  match info with
  | .axiomInfo _ => return row "axiom" []
  | .defnInfo value => return row "def" [toJson (← writeExpr value.value), writeHints value.hints]
  | .thmInfo value => return row "theorem" [toJson (← writeExpr value.value)]
  | .opaqueInfo value => return row "opaque" [toJson (← writeExpr value.value)]
  | _ => return .arr #["other", toJson (← writeName name)]

private def readHints (json : Json) : Except String ReducibilityHints :=
  match json with
  | .str "opaque" => return .opaque
  | .str "abbrev" => return .abbrev
  | json => match json.getNat? with
    | .ok n => return .regular n.toUInt32
    | .error _ => throw "this is no hint of reducibility"

/-- A declaration that was read; `none` stands for what a row cannot hold. -/
structure ReadConstant where
  name : Name
  declaration? : Option Declaration
  uses : List Name

/-- Reads a row of a constant. -/
def Read.constant (read : Read) (json : Json) : Except String ReadConstant := do
  let shared (n levels type : Json) : Except String ConstantVal := do
    return {
      name := ← read.name n, levelParams := ← (← list levels).mapM read.name, type := ← read.expr type }
  let made (val : ConstantVal) (value? : Option Expr) (declaration : Declaration) : ReadConstant :=
    let terms := val.type :: value?.toList
    { name := val.name, declaration? := some declaration, uses := terms.flatMap (·.getUsedConstants.toList) }
  match ← list json with
  | [.str "axiom", n, levels, type] =>
    let val ← shared n levels type
    return made val none (.axiomDecl { val with isUnsafe := false })
  | [.str "def", n, levels, type, value, hints] =>
    let val ← shared n levels type
    let value ← read.expr value
    return made val value (.defnDecl { val with value, hints := ← readHints hints, safety := .safe })
  | [.str "theorem", n, levels, type, value] =>
    let val ← shared n levels type
    let value ← read.expr value
    return made val value (.thmDecl { val with value })
  | [.str "opaque", n, levels, type, value] =>
    let val ← shared n levels type
    let value ← read.expr value
    return made val value (.opaqueDecl { val with value, isUnsafe := false })
  | [.str "other", n] => return { name := ← read.name n, declaration? := none, uses := [] }
  | _ => throw s!"this is no constant: {(toString json.compress).take 80}"

/-- Adds constants through the kernel, each behind those that it mentions. -/
partial def addConstants (constants : List ReadConstant) : CoreM Unit := do
  let waiting ← IO.mkRef (constants.foldl (init := ({} : NameMap ReadConstant)) fun all one => all.insert one.name one)
  let rec add (one : ReadConstant) : CoreM Unit := do
    waiting.modify (·.erase one.name)
    if (← getEnv).contains one.name then return
    for used in one.uses do
      if let some next := (← waiting.get).find? used then add next
    let some declaration := one.declaration?
      | throwError "{one.name} is of a kind that cannot be loaded; load its text"
    addDecl declaration
  for one in constants do
    if (← waiting.get).contains one.name then add one

end Dojo
