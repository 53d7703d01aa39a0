import Lean

/-!
# Information trees

What the elaborator has recorded about tactics, terms and names.
-/

namespace Dojo

open Lean Elab

/-- The byte range of syntax in Lean's text; `none` for syntax that is not from the text. -/
def rangeOf? (stx : Syntax) : Option (Nat × Nat) := do
  let start ← stx.getPos? (canonicalOnly := true)
  let stop ← stx.getTailPos? (canonicalOnly := true)
  return (start.byteIdx, stop.byteIdx)

/-- A syntax node's kind; anonymous for atoms, identifiers and missing syntax. -/
def kindOf : Syntax → Name
  | .node _ kind _ => kind
  | _ => .anonymous

/-- What the program needs to know of the ancestors of a node in a tree. -/
structure Above where
  context : ContextInfo
  /-- The syntax of the nearest tactic above the node. -/
  tactic? : Option Syntax := none
  /-- Whether the node is inside a `sorry` or `admit` tactic. -/
  inSorry : Bool := false
  /--
  The environment before the nearest command above the node, if another part of the same command ran before it: the
  `attribute …` of `attribute … in`, or the first of several commands that a macro expands to.
  -/
  before? : Option Environment := none

def isSorryTactic (info : Info) : Bool :=
  match info with
  | .ofTacticInfo tactic =>
    let kind := kindOf tactic.stx
    kind == ``Parser.Tactic.tacticSorry || kind == ``Parser.Tactic.tacticAdmit
  | _ => false

/-- Whether syntax is a sequence of tactics, as in a `by` block. -/
def isSequence (stx : Syntax) : Bool :=
  let kind := kindOf stx
  kind == ``Parser.Tactic.tacticSeq || kind == ``Parser.Tactic.tacticSeq1Indented ||
    kind == ``Parser.Tactic.tacticSeqBracketed

/-- Whether a tactic is a member of a tactic sequence. -/
def Above.isMember (above : Above) : Bool :=
  above.tactic?.any isSequence

/-- The environment after a command that is a part of another one. -/
private def behindCommand? : InfoTree → Option Environment
  | .context (.commandCtx context) (.node (.ofCommandInfo _) _) => some context.env
  | _ => none

private partial def visitTree (visit : Above → Info → IO Unit) (above? : Option Above) : InfoTree → IO Unit
  | .context part tree => do
    match part.mergeIntoOuter? (above?.map (·.context)) with
    | none => return
    | some context =>
      let above := match above? with
        | some above => { above with context }
        | none => { context }
      visitTree visit (some above) tree
  | .node info children => do
    let some above := above? | children.forM (visitTree visit none)
    visit above info
    if children.isEmpty then return
    let inside := match info with
      | .ofTacticInfo tactic =>
        { above with tactic? := some tactic.stx, inSorry := above.inSorry || isSorryTactic info }
      | _ => above
    discard <| children.foldlM (init := inside) fun inside child => do
      visitTree visit (some inside) child
      return { inside with before? := behindCommand? child <|> inside.before? }
  | .hole _ => return

/-- Visits every node of some trees, parents first. -/
def visitTrees (trees : List InfoTree) (visit : Above → Info → IO Unit) : IO Unit :=
  trees.forM (visitTree visit none)

end Dojo
