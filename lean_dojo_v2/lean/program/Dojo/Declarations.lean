import Dojo.Axioms
import Dojo.Frontend

/-!
# The declarations of a command

Kind, name, and where statement and proof lie, read off its syntax; and what each rests on.
-/

namespace Dojo

open Lean Elab

/-- A declaration of a command; ranges are bytes of Lean's text. -/
structure Declared where
  kind : String
  /-- The constant, where the command binds one. -/
  name? : Option Name
  range : Nat × Nat
  statement : Nat × Nat
  isMutual : Bool

/-- The declaration nodes in a command, those inside `mutual … end` and `open … in …` too. -/
private partial def declarationNodes (stx : Syntax) (isMutual : Bool) (found : Array (Syntax × Bool)) :
    Array (Syntax × Bool) :=
  let kind := kindOf stx
  if kind == ``Parser.Command.declaration then found.push (stx, isMutual)
  else if (`Lean.Parser.Term).isPrefixOf kind || (`Lean.Parser.Tactic).isPrefixOf kind then found
  else
    let isMutual := isMutual || kind == ``Parser.Command.mutual
    stx.getArgs.foldl (init := found) fun found child => declarationNodes child isMutual found

/-- Where a proof or value begins. -/
private def isValueNode (stx : Syntax) : Bool :=
  let kind := kindOf stx
  kind == ``Parser.Command.declValSimple || kind == ``Parser.Command.declValEqns ||
    kind == ``Parser.Command.whereStructInst

/-- The value may be wrapped in an optional node. -/
private def holdsValue (stx : Syntax) : Bool :=
  isValueNode stx || (kindOf stx == nullKind && stx.getArgs.any isValueNode)

/-- The end of the last part before the value: the statement without `:=`, `by`, `|` or `where`. -/
private def statementEnd (body : Syntax) (start stop : Nat) : Nat := Id.run do
  let parts := body.getArgs
  let some value := parts.findIdx? holdsValue | return stop
  let mut last := start
  for part in parts.extract 0 value do
    if let some (_, partEnd) := rangeOf? part then last := partEnd
  return last

/-- Where the name begins: the first token of `declId`. -/
private def nameStart? (body : Syntax) : Option Nat := do
  let id ← body.getArgs.findSome? fun part =>
    let id := if kindOf part == nullKind then part[0] else part
    if kindOf id == ``Parser.Command.declId then some id else none
  return (← rangeOf? id[0]).1

/-- The names that a command binds, by the bytes where they stand. -/
private def boundNames (trees : List InfoTree) : IO (Std.HashMap Nat Name) := do
  let names ← IO.mkRef ({} : Std.HashMap Nat Name)
  visitTrees trees fun _ info => do
    let .ofTermInfo term := info | return
    unless term.isBinder do return
    let .const name _ := term.expr | return
    let some (start, _) := rangeOf? term.stx | return
    names.modify fun names => if names.contains start then names else names.insert start name
  names.get

private def kindText (body : Syntax) : String :=
  match kindOf body with
  | .str _ "definition" => "def"
  | .str _ "classInductive" => "class inductive"
  | .str _ kind => kind
  | _ => ""

/-- What a command declares, in the order of its text. -/
def Elaborated.declared (unit : Elaborated) : IO (Array Declared) := do
  let nodes := declarationNodes unit.stx false #[]
  if nodes.isEmpty then return #[]
  let names ← boundNames unit.trees
  return nodes.filterMap fun (stx, isMutual) => do
    let body := stx[1]
    let range ← rangeOf? stx
    /- What has no name is bound at its keyword, behind `scoped` and `local`. -/
    let keyword := (body.getArgs.find? (kindOf · != ``Parser.Term.attrKind)).getD body
    let start := (nameStart? body).getD ((rangeOf? keyword).getD range).1
    let statement := (range.1, statementEnd body range.1 range.2)
    return { kind := kindText body, name? := names[start]?, range, statement, isMutual }

/--
What a declaration rests on, itself and what the same command added for it: whether `sorry` is there, and the constants
(not the library's) that it uses.
-/
def dependencies (env : Environment) (name : Name) (added : Array (Name × ConstantInfo)) : Bool × Array Name :=
  let own := added.foldl (init := ({} : NameSet).insert name) fun own (name, _) => own.insert name
  let reached := closureOf env #[name] own.contains
  let uses := reached.filterMap fun (used, _) => if own.contains used || isLibrary env used then none else some used
  (reached.any (·.1 == ``sorryAx), uses)

end Dojo
