import Dojo.Files

/-!
# Beginnings of files that stay elaborated, for requests about what follows them
-/

namespace Dojo

open Lean Elab

/-- Elaborated beginnings that are kept; the least recently used goes first. -/
def maxBeginnings : Nat := 128

/-- A text that is opened behind its beginning. -/
structure Opened where
  file : OpenFile
  /-- Whether the beginning was there already. -/
  warm : Bool := false

/-- What beginnings must have in common to follow each other. -/
private def familyOf (file : OpenFile) (opening : Opening) : DojoM String := do
  let sources ← sourcesOf file.imports
  let texts := sources.map fun module => s!"{module.name} {hash module.text} {module.text.utf8ByteSize}"
  let options := (record opening.options).compress
  return s!"{file.module?} {file.imports} {options} {texts}"

/-- The longest kept beginning of a text. -/
private def longest? (family start : String) : DojoM (Option Beginning) := do
  let fitting := (← (← read).beginnings.get).filter fun one => one.family == family && start.startsWith one.text
  return fitting.foldl (init := none) fun best? one =>
    if best?.any fun (best : Beginning) => best.text.utf8ByteSize ≥ one.text.utf8ByteSize then best? else some one

private def elaborateTo (file : OpenFile) (family start : String) (from? : Option Beginning) : DojoM Beginning := do
  let said ← IO.mkRef ((from?.map (·.messages)).getD file.messages)
  let parserState := (from?.map (·.parserState)).getD file.parserState
  let state := (from?.map (·.state)).getD file.state
  let visit (unit : Elaborated) : DojoM Bool := do
    said.modify (· ++ unit.messages)
    return false
  let (parserState, state) ← runSource file.source parserState state visit (limit? := start.utf8ByteSize)
  return { family, text := start, parserState, state, messages := ← said.get }

private def Beginning.isSame (one other : Beginning) : Bool :=
  one.family == other.family && one.text == other.text

/--
Opens a request's text behind the commands that end in its `prefix`, a number of bytes. The state there is kept for the
next request whose text begins the same, and a longer beginning goes on from a shorter one. Only Lean's parser knows
where a command begins (at its docstring, at `open Foo in`, at `mutual`), so the prefix may end inside one.
-/
def openBehind (request : Request) : DojoM Opened := do
  let opening := { Opening.ofRequest request with inScope := true }
  let file ← openText opening
  let stop := file.text.fromFile (request.nat "prefix")
  -- without a header the text continues the session, whose environment may change
  if stop == 0 || !opening.header then return { file }
  let family ← familyOf file opening
  let start := extractBytes file.text.lean 0 (min stop file.text.size)
  let nearest? ← longest? family start
  let entry ← match nearest? with
    | some nearest => if nearest.text == start then pure nearest else elaborateTo file family start nearest
    | none => elaborateTo file family start none
  (← read).beginnings.modify fun all =>
    let others := all.filter (!·.isSame entry)
    (others.extract (others.size + 1 - maxBeginnings) others.size).push { entry with used := entry.used + 1 }
  let { parserState, state, messages, .. } := entry
  return { file := { file with parserState, state, messages }, warm := entry.used > 0 }

end Dojo
