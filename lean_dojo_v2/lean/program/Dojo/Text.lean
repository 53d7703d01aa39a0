import Dojo.Compat

/-!
# Names, texts and positions

Lean reads line endings as LF, so its byte offsets in a text with CRLF are not those of the file. Answers use the file's
own bytes, and lines and columns as editors count them (in code points).
-/

namespace Dojo

open Lean

/-- A name as Lean writes it; the anonymous name is empty. -/
def nameText (name : Name) : String :=
  if name.isAnonymous then "" else name.toString

/-- A module's name as in a path: Lean writes `«My-File»` where a part of it is no identifier. -/
def moduleText (name : Name) : String :=
  if name.isAnonymous then "" else name.toString (escape := false)

/-- The words of a text, separated by white space. -/
def wordsOf (text : String) : List String :=
  ((text.map fun c => if c.isWhitespace then ' ' else c).splitOn " ").filter (!·.isEmpty)

/-- How often a text has a part. This is machine code of Lean's, while a loop of ours over the text is interpreted. -/
def countOf (part text : String) : Nat := (text.splitOn part).length - 1

/-- A text of a request. -/
structure SourceText where
  fileName : String
  /-- The text in the file. -/
  original : String
  /-- The text as Lean reads it. -/
  lean : String
  /-- The same, ready for the parser. -/
  input : Parser.InputContext
  /-- The size of the byte order mark at the beginning of the file, which editors hide: 3, or 0 if there is none. -/
  mark : Nat
  /-- For each CRLF, the offset in Lean's text from which one more byte is missing. -/
  removed : Array Nat

namespace SourceText

def ofString (original fileName : String) : SourceText :=
  let mark := if original.startsWith "\uFEFF" then "\uFEFF".utf8ByteSize else 0
  let shown := extractBytes original mark original.utf8ByteSize
  let pieces := shown.splitOn "\r\n"
  let lean := if pieces.length == 1 then shown else "\n".intercalate pieces
  let (removed, _) := pieces.dropLast.foldl (init := ((#[] : Array Nat), 0)) fun (all, start) piece =>
    let stop := start + piece.utf8ByteSize
    (all.push stop, stop + 1)
  { fileName, original, lean, input := Parser.mkInputContext lean fileName, mark, removed }

def size (text : SourceText) : Nat := text.lean.utf8ByteSize

/-- Lean's byte offset as a byte offset in the file. -/
def toFile (text : SourceText) (offset : Nat) : Nat :=
  text.mark + offset + (text.removed.filter (· < offset)).size

/-- A byte offset in the file as one in Lean's text. -/
def fromFile (text : SourceText) (offset : Nat) : Nat :=
  let shown := offset - text.mark
  shown - (text.removed.zipIdx.filter fun (start, i) => start + i + 1 < shown).size

/-- The line and the column of one of Lean's byte offsets, both from 1. -/
def position (text : SourceText) (offset : Nat) : Nat × Nat :=
  let position := text.input.fileMap.toPosition ⟨offset⟩
  (position.line, position.column + 1)

/-- The text between two of Lean's byte offsets, as in the file. -/
def slice (text : SourceText) (start stop : Nat) : String :=
  extractBytes text.original (text.toFile start) (text.toFile stop)

/-- A range of Lean's text in an answer, in bytes of the file. -/
def bytes (text : SourceText) (start stop : Nat) : Json := toJson #[text.toFile start, text.toFile stop]

end SourceText

/-- The maximum nesting of brackets, deeper than anyone writes. A few thousand more would overflow the parser's stack. -/
def maxNesting : Nat := 1000

/--
The maximum number of tactics in a sequence, more than anyone writes. Lean's time to parse a line and to elaborate a
sequence grows with the square of their number.
-/
def maxTactics : Nat := 4000

/-- The deepest nesting of brackets. Lean's machine code finds them, so that no loop of ours looks at other characters. -/
private def nestingOf (text : String) : Nat :=
  let alike := [("[", "("), ("{", "("), ("⟨", "("), ("]", ")"), ("}", ")"), ("⟩", ")")]
  let round := alike.foldl (init := text) fun text (one, other) => other.intercalate (text.splitOn one)
  let (_, deepest) := (round.splitOn "(").tail.foldl (init := (0, 0)) fun (depth, deepest) piece =>
    (depth + 1 - countOf ")" piece, max deepest (depth + 1))
  deepest

/--
Why a text is not parsed from a byte on, if its brackets are nested too deeply or a line has too many semicolons.
-/
def sizeProblem? (text : String) (start : Nat := 0) : Option String :=
  let rest := extractBytes text start text.utf8ByteSize
  let nesting := nestingOf rest
  let semicolons := if countOf ";" rest ≤ maxTactics then 0 else
    (rest.splitOn "\n").foldl (init := 0) fun most line => max most (countOf ";" line)
  if nesting > maxNesting then some s!"brackets are nested deeper than {maxNesting}"
  else if semicolons > maxTactics then some s!"a line has {semicolons} semicolons, more than {maxTactics}"
  else none

end Dojo
