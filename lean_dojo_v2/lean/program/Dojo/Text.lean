import Lean
import Dojo.Compat

/-!
# Names, texts and positions

Lean reads line endings as LF, so its byte offsets in a text with CRLF are not those of the file. What is reported are
the file's own bytes, and lines and columns as editors count them (in code points).
-/

namespace Dojo

open Lean

/-- A name as Lean writes it; the anonymous name is empty. -/
def nameText (name : Name) : String :=
  if name.isAnonymous then "" else name.toString

/-- A module's name as in a path: Lean writes `«My-File»` where a part of it is no identifier. -/
def moduleText (name : Name) : String :=
  if name.isAnonymous then "" else name.toString (escape := false)

/-- The pieces of a text between white space. -/
def wordsOf (text : String) : List String :=
  ((text.map fun c => if c.isWhitespace then ' ' else c).splitOn " ").filter (!·.isEmpty)

/-- A text of a request. -/
structure SourceText where
  /-- As it is in the file. -/
  original : String
  /-- As Lean reads it. -/
  lean : String
  fileMap : FileMap
  /-- For each CRLF, the offset in Lean's text from which one more byte is missing. -/
  removed : Array Nat

namespace SourceText

def ofString (original : String) : SourceText :=
  let pieces := original.splitOn "\r\n"
  let lean := if pieces.length == 1 then original else "\n".intercalate pieces
  let (removed, _) := pieces.dropLast.foldl (init := ((#[] : Array Nat), 0)) fun (all, start) piece =>
    let stop := start + piece.utf8ByteSize
    (all.push stop, stop + 1)
  { original, lean, fileMap := FileMap.ofString lean, removed }

/-- The number of bytes of Lean's text. -/
def size (text : SourceText) : Nat := text.lean.utf8ByteSize

/-- Lean's byte offset as a byte offset in the file. -/
def toFile (text : SourceText) (offset : Nat) : Nat :=
  if text.removed.isEmpty then offset else offset + (text.removed.filter (· < offset)).size

/-- A byte offset in the file as Lean's. -/
def fromFile (text : SourceText) (offset : Nat) : Nat := Id.run do
  let mut lean := offset
  for i in [0:text.removed.size] do
    if text.removed[i]! + i + 1 < offset then lean := lean - 1
  return lean

/-- The line and the column of one of Lean's byte offsets, both from 1. -/
def position (text : SourceText) (offset : Nat) : Nat × Nat :=
  let position := text.fileMap.toPosition ⟨offset⟩
  (position.line, position.column + 1)

/-- The text between two of Lean's byte offsets, as in the file. -/
def slice (text : SourceText) (start stop : Nat) : String :=
  extractBytes text.original (text.toFile start) (text.toFile stop)

/-- A range as it is reported, in bytes of the file. -/
def bytes (text : SourceText) (start stop : Nat) : Json := toJson #[text.toFile start, text.toFile stop]

end SourceText

/-- Deeper brackets than any person writes; some thousands more would exhaust the stack of Lean's parser. -/
def maxNesting : Nat := 1000

private structure Depth where
  now : Nat := 0
  most : Nat := 0

/-- What keeps a text from being parsed safely: brackets that are nested too deeply. -/
def nestingProblem? (text : String) : Option String :=
  if text.utf8ByteSize ≤ maxNesting then none else
  let depth := text.foldl (init := ({} : Depth)) fun depth c =>
    if c == '(' || c == '[' || c == '{' || c == '⟨' then
      { now := depth.now + 1, most := max depth.most (depth.now + 1) }
    else if c == ')' || c == ']' || c == '}' || c == '⟩' then { depth with now := depth.now - 1 }
    else depth
  if depth.most > maxNesting then some s!"brackets are nested deeper than {maxNesting}" else none

end Dojo
