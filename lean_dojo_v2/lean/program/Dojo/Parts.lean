import Dojo.Frontend

/-!
# The parts of a command: its declarations, and its tactic sequences
-/

namespace Dojo

open Lean Elab

/-- Bytes of Lean's text, the end exclusive. -/
abbrev ByteRange := Nat × Nat

/-- A declaration of a command. -/
structure Declared where
  /-- The constant, if the command binds one. -/
  name? : Option Name
  range : ByteRange
  statement : ByteRange

/-- The declaration nodes in a command, including those inside `mutual … end` and `open … in …`. -/
private partial def declarationNodes (found : Array Syntax) (stx : Syntax) : Array Syntax :=
  let kind := stx.getKind
  if kind == ``Parser.Command.declaration then found.push stx
  else if (`Lean.Parser.Term).isPrefixOf kind || (`Lean.Parser.Tactic).isPrefixOf kind then found
  else stx.getArgs.foldl (init := found) declarationNodes

/-- Whether syntax is a proof or a value of a declaration, or an optional node around one. -/
private def holdsValue (stx : Syntax) : Bool :=
  let parts := if stx.isOfKind nullKind then stx.getArgs else #[stx]
  parts.any fun part =>
    [``Parser.Command.declValSimple, ``Parser.Command.declValEqns, ``Parser.Command.whereStructInst].contains part.getKind

/-- The end of the last part before the value, so that the statement excludes `:=`, `by`, `|` and `where`. -/
private def statementEnd (body : Syntax) (start stop : Nat) : Nat := Id.run do
  let parts := body.getArgs
  let some value := parts.findIdx? holdsValue | return stop
  let mut last := start
  for part in parts.extract 0 value do
    if let some (_, partEnd) := rangeOf? part then last := partEnd
  return last

/-- The beginning of the name: the first token of `declId`. -/
private def nameStart? (body : Syntax) : Option Nat := do
  let id ← body.getArgs.findSome? fun part =>
    let id := if part.isOfKind nullKind then part[0] else part
    if id.isOfKind ``Parser.Command.declId then some id else none
  return (← rangeOf? id[0]).1

/-- The names that a command binds, by the bytes where they begin. -/
private def boundNames (nodes : Nodes) : Std.HashMap Nat Name := Id.run do
  let mut names : Std.HashMap Nat Name := {}
  for (_, info) in nodes do
    let .ofTermInfo term := info | continue
    unless term.isBinder do continue
    let .const name _ := term.expr | continue
    let some (start, _) := rangeOf? term.stx | continue
    names := names.insertIfNew start name
  return names

/-- The declarations of a command, in the order of its text. -/
def Elaborated.declared (unit : Elaborated) (nodes : Nodes) : Array Declared :=
  let found := declarationNodes #[] unit.stx
  if found.isEmpty then #[] else
  let names := boundNames nodes
  found.filterMap fun stx => do
    let body := stx[1]
    let range ← rangeOf? stx
    /- A declaration without a name is bound at its keyword, which follows `scoped` or `local`. -/
    let keyword := (body.getArgs.find? (!·.isOfKind ``Parser.Term.attrKind)).getD body
    let start := (nameStart? body).getD ((rangeOf? keyword).getD range).1
    return { name? := names[start]?, range, statement := (range.1, statementEnd body range.1 range.2) }

/-- The constants beyond the library that a declaration uses, also through those that the same command `added` for it. -/
def usesOf (env : Environment) (name : Name) (added : Array (Name × ConstantInfo)) : Array Name :=
  let own := setOf (added.map (·.1) |>.push name)
  (closureWith env.find? #[name] own.contains).filterMap fun (used, _) =>
    if own.contains used || isLibrary env used then none else some used

/-!
## Tactic sequences

They come from the syntax tree as it was parsed, before macros are expanded. A *member* is a tactic of such a sequence. A
member may run several times (`all_goals`, an alternative of `first`). The run that counts is the first one that changed
the goals, or else the first one.
-/

/-- The members of a sequence; there is at least one. -/
abbrev Sequence := Array ByteRange

private def addSequence (found : Array Sequence) (list : Syntax) : Array Sequence :=
  let members := list.getSepArgs.filterMap rangeOf?
  if members.isEmpty then found else found.push members

private partial def gather (found : Array Sequence) (stx : Syntax) : Array Sequence :=
  match stx with
  | .node _ kind parts =>
    let found :=
      if kind == ``Parser.Tactic.tacticSeq1Indented then addSequence found stx[0]
      else if kind == ``Parser.Tactic.tacticSeqBracketed then addSequence found stx[1]
      else found
    parts.foldl (init := found) gather
  | _ => found

/-- Nodes that are only containers of tactics. If one contains one tactic, it has the same range. -/
private def holderKinds : List Name :=
  [nullKind, ``Parser.Term.byTactic, ``Parser.Tactic.tacticSeq, ``Parser.Tactic.tacticSeq1Indented]

/-- A tactic of the text that ran. -/
structure Ran where
  above : Above
  info : TacticInfo
  range : ByteRange

/-- The tactics of the text, without what only contains some. -/
def ranIn (nodes : Nodes) : Array Ran :=
  nodes.filterMap fun (above, info) => do
    let .ofTacticInfo info := info | none
    guard ((info.stx matches .node ..) && !holderKinds.contains info.stx.getKind)
    return { above, info, range := ← rangeOf? info.stx }

/--
The sequences of a command in the order of the text, outer ones first. Tactics that a command of the project takes directly, as
in `mkthm foo decide`, are sequences by themselves.
-/
def Elaborated.sequences (unit : Elaborated) (nodes : Nodes) : Array Sequence :=
  let found := gather #[] unit.stx
  if !found.isEmpty then found else
  let taken := (ranIn nodes).filter (·.above.isMember)
  (taken.map fun one => #[one.range]).toList.eraseDups.toArray

/-- The run of a member that counts. -/
structure Run extends Ran where
  changed : Bool
  /-- The number of members that began to run before it. -/
  place : Nat

/-- The runs that count, by the ranges of the members; members that never ran are missing. -/
def runsOf (nodes : Nodes) (sequences : Array Sequence) : Std.HashMap ByteRange Run := Id.run do
  let members := ({} : Std.HashSet ByteRange).insertMany sequences.flatten
  let mut found : Std.HashMap ByteRange Run := {}
  for one in ranIn nodes do
    unless members.contains one.range do continue
    let known? := found[one.range]?
    if known?.any (·.changed) then continue
    let changed := one.info.goalsBefore != one.info.goalsAfter
    if known?.isNone || changed then
      found := found.insert one.range { one with changed, place := (known?.map (·.place)).getD found.size }
  return found

/-- The outermost sequences inside a range. -/
def sequencesInside (sequences : Array Sequence) (range : ByteRange) : Array Sequence := Id.run do
  let mut found := #[]
  let mut last := range.1
  for members in sequences do
    let first := members.getD 0 (0, 0)
    let (_, stop) := members.getD (members.size - 1) (0, 0)
    if first != range && last ≤ first.1 && stop ≤ range.2 then
      found := found.push members
      last := stop
  return found

end Dojo
