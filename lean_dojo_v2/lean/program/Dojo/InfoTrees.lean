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

/-- What the program needs to know of the ancestors of a node in a tree. -/
structure Above where
  context : ContextInfo
  /-- Whether the nearest tactic above the node is a tactic sequence, so that a tactic is a member of it. -/
  isMember : Bool := false
  /-- Whether the node is inside a `sorry` or `admit` tactic. -/
  inSorry : Bool := false
  /--
  The environment before the nearest command above the node, if another part of the same command ran before it: the
  `attribute …` of `attribute … in`, or the first of several commands that a macro expands to.
  -/
  before? : Option Environment := none

def isSorryTactic (tactic : TacticInfo) : Bool :=
  [``Parser.Tactic.tacticSorry, ``Parser.Tactic.tacticAdmit].contains tactic.stx.getKind

/-- Whether syntax is a sequence of tactics, as in a `by` block. -/
def isSequence (stx : Syntax) : Bool :=
  let kind := stx.getKind
  kind == ``Parser.Tactic.tacticSeq || kind == ``Parser.Tactic.tacticSeq1Indented ||
    kind == ``Parser.Tactic.tacticSeqBracketed

/-- The nodes of some trees, parents first. -/
abbrev Nodes := Array (Above × Info)

private partial def addNodes (above? : Option Above) (found : Nodes) : InfoTree → Nodes
  | .context part tree =>
    match part.mergeIntoOuter? (above?.map (·.context)) with
    | none => found
    | some context => addNodes (some { above?.getD { context } with context }) found tree
  | .node info children => Id.run do
    let some above := above? | return children.foldl (addNodes none) found
    let mut found := found.push (above, info)
    if children.isEmpty then return found
    let mut inside := match info with
      | .ofTacticInfo tactic =>
        { above with isMember := isSequence tactic.stx, inSorry := above.inSorry || isSorryTactic tactic }
      | _ => above
    for child in children do
      found := addNodes (some inside) found child
      if let .context (.commandCtx behind) (.node (.ofCommandInfo _) _) := child then
        inside := { inside with before? := some behind.env }
    return found
  | .hole _ => found

def nodesOf (trees : List InfoTree) : Nodes := trees.foldl (addNodes none) #[]

end Dojo
