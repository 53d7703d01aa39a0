import Lean

/-!
# Information trees

What elaboration recorded about tactics, terms and names.
-/

namespace Dojo

open Lean Elab

/-- The byte range of syntax in Lean's text; none for syntax that no source text stands for. -/
def rangeOf? (stx : Syntax) : Option (Nat × Nat) := do
  let start ← stx.getPos? (canonicalOnly := true)
  let stop ← stx.getTailPos? (canonicalOnly := true)
  return (start.byteIdx, stop.byteIdx)

/-- A syntax node's kind; anonymous for atoms, identifiers and missing syntax. -/
def kindOf : Syntax → Name
  | .node _ kind _ => kind
  | _ => .anonymous

/-- What stands above a node of a tree, as far as the program asks for it. -/
structure Above where
  context : ContextInfo
  /-- The syntax of the nearest tactic above. -/
  tactic? : Option Syntax := none
  /-- Whether a `sorry` or `admit` tactic stands above. -/
  inSorry : Bool := false

def isSorryTactic (info : Info) : Bool :=
  match info with
  | .ofTacticInfo tactic =>
    let kind := kindOf tactic.stx
    kind == ``Parser.Tactic.tacticSorry || kind == ``Parser.Tactic.tacticAdmit
  | _ => false

/-- Syntax that holds the tactics of a `by` block. -/
def isSequence (stx : Syntax) : Bool :=
  let kind := kindOf stx
  kind == ``Parser.Tactic.tacticSeq || kind == ``Parser.Tactic.tacticSeq1Indented ||
    kind == ``Parser.Tactic.tacticSeqBracketed

/-- Whether a tactic is a member of a tactic sequence. -/
def Above.isMember (above : Above) : Bool :=
  above.tactic?.any isSequence

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
    children.forM (visitTree visit (some inside))
  | .hole _ => return

/-- Visits every node of some trees, parents first. -/
def visitTrees (trees : List InfoTree) (visit : Above → Info → IO Unit) : IO Unit :=
  trees.forM (visitTree visit none)

end Dojo
