import Lean
import Dojo.Compat

/-!
# Names and terms as text

Names as Lean writes them, and Pantograph's S-expressions.
-/

namespace Dojo

open Lean

/-- A name as Lean writes it; the anonymous name is empty. -/
def nameText (name : Name) : String :=
  if name.isAnonymous then "" else name.toString

/-- A module's name as in a path: Lean writes `«My-File»` where a part of it is no identifier. -/
def moduleText (name : Name) : String :=
  if name.isAnonymous then "" else name.toString (escape := false)

/-- Expressions share subterms; written out as trees they may explode. So many bytes are written at most. -/
private def maxSexp : Nat := 4000000

private partial def levelSexp (level : Level) : String :=
  let base := level.getLevelOffset
  let offset := level.getOffset
  let text := match base with
    | .max a b => s!"(:max {levelSexp a} {levelSexp b})"
    | .imax a b => s!"(:imax {levelSexp a} {levelSexp b})"
    | .param name => nameText name
    | .mvar id => s!"(:mv {nameText id.name})"
    | _ => "0"
  if offset == 0 then text
  else if base.isZero then toString offset
  else s!"(+ {text} {offset})"

private def binderMark : BinderInfo → String
  | .default => ""
  | .implicit => " :i"
  | .strictImplicit => " :si"
  | .instImplicit => " :ii"

private structure Written where
  known : Std.HashMap ExprStructEq String := {}
  size : Nat := 0

private abbrev WriteM := StateT Written (Except Unit)

private def literal : Literal → String
  | .natVal n => toString n
  | .strVal text => (Json.str text).compress

private partial def write (e : Expr) : WriteM String := do
  let text ← match (← get).known[ExprStructEq.mk e]? with
    | some text => pure text
    | none => fresh
  if text.utf8ByteSize > maxSexp || (← get).size > 4 * maxSexp then throw ()
  modify fun s => { s with known := s.known.insert ⟨e⟩ text, size := s.size + text.utf8ByteSize }
  return text
where
  binder (word : String) (name : Name) (type body : Expr) (info : BinderInfo) : WriteM String := do
    return s!"({word} {nameText name.eraseMacroScopes} {← write type} {← write body}{binderMark info})"
  fresh : WriteM String := do
    match e with
    | .bvar i => return toString i
    | .fvar id => return s!"(:fv {nameText id.name})"
    | .mvar id => return s!"(:mv {nameText id.name})"
    | .sort level => return s!"(:sort {levelSexp level})"
    | .const name _ => return s!"(:c {nameText name})"
    | .app .. =>
      let parts ← (e.getAppFn :: e.getAppArgs.toList).mapM write
      return s!"({" ".intercalate parts})"
    | .lam name type body info => binder ":lambda" name type body info
    | .forallE name type body info => binder ":forall" name type body info
    | .letE name type value body _ =>
      return s!"(:let {nameText name.eraseMacroScopes} {← write type} {← write value} {← write body})"
    | .lit value => return s!"(:lit {literal value})"
    | .mdata _ inner => write inner
    | .proj type i inner => return s!"(:proj {nameText type} {i} {← write inner})"

/-- An expression in Pantograph's S-expression form; `(:too-large)` where the text would exceed its bound. -/
def sexp (e : Expr) : String :=
  match (write e).run' {} with
  | .ok text => text
  | .error () => "(:too-large)"

end Dojo
