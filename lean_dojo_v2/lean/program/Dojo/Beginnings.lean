import Dojo.Environments
import Dojo.Frontend
import Dojo.Session

/-!
# Beginnings of texts, which stay elaborated

Requests are about places in the same few texts: the theorems of a file, and the modules that it imports. So the state after
each command of a text is kept, and a text continues from the last place up to which it is the same as a kept one.
-/

namespace Dojo

open Lean Elab

/-- The number of texts of which the elaborated part is kept; the least recently used is dropped first. -/
def maxBeginnings : Nat := 64

/-- Its place in bytes of Lean's text. -/
private def Stop.place (stop : Stop) : Nat := stop.parserState.pos.byteIdx

/-- The end of the word at a byte, with a byte of the white space after it. -/
private partial def wordEnd (bytes : ByteArray) (i : Nat) : Nat :=
  if i ≥ bytes.size || bytes.get! i ≤ 0x20 then i + 1 else wordEnd bytes (i + 1)

/-- The place before the first command of a text. -/
def firstStop (source : Source) (header : Array Json) (parserState : Parser.ModuleParserState) (state : Command.State) :
    Stop :=
  let place := parserState.pos.byteIdx
  let seen := wordEnd source.text.lean.toUTF8 place
  { parserState, state, messages := header, seen, reach := place, isClean := true }

/-- The place after a command; `none` if Lean reads nothing after it, so that another text may continue it. -/
private def Stop.after? (unit : Elaborated) (bytes : ByteArray) : Option Stop :=
  let place := unit.next.pos.byteIdx
  if unit.isLast || place ≥ bytes.size then none else
  -- without the trees, which are large
  let state := { unit.after with messages := {}, infoState := { enabled := true } }
  let seen := wordEnd bytes place
  some { parserState := unit.next, state, messages := unit.messages, seen, reach := place, isClean := unit.isClean }

private def areSame (a b : String) (size : Nat) : Bool :=
  size ≤ a.utf8ByteSize && size ≤ b.utf8ByteSize && extractBytes a 0 size == extractBytes b 0 size

/-- The number of its stops that a text has, too, up to a byte. -/
private def Beginning.shared (one : Beginning) (text : String) (limit : Nat) : Nat := Id.run do
  let fits (stop : Stop) : Bool :=
    (stop.place < limit || (stop.isClean && stop.place == limit)) &&
      (areSame one.text text stop.seen || (limit ≤ stop.reach && areSame one.text text limit))
  let mut low := 0
  let mut high := one.stops.size
  while low < high do
    let middle := (low + high) / 2
    if (one.stops[middle]?).any fits then low := middle + 1 else high := middle
  return low

/-- The kept beginning that shares most of a text up to a byte, without the stops that the text does not have. -/
private def longest? (family text : String) (limit : Nat) : DojoM (Option Beginning) := do
  let mut best? : Option Beginning := none
  for one in ← (← read).beginnings.get do
    if one.family != family then continue
    let stops := one.stops.extract 0 (one.shared text limit)
    let some last := stops.back? | continue
    unless best?.any fun best => best.stops.back?.any (·.place > last.place) do best? := some { one with stops }
  return best?

/-- Keeps a beginning in place of those that are a part of it. -/
private def keepBeginning (one : Beginning) : DojoM Unit := do
  let isPart (other : Beginning) : Bool :=
    other.family == one.family && other.shared one.text one.text.utf8ByteSize == other.stops.size
  keepLast (← read).beginnings maxBeginnings isPart one

/-- Adds the places after further commands. -/
private def Beginning.extended (one : Beginning) (units : Array Elaborated) : Beginning :=
  let bytes := one.text.toUTF8
  let push (stops : Array Stop) (stop : Stop) : Array Stop :=
    (stops.modify (stops.size - 1) fun before => { before with reach := stop.place - 1 }).push stop
  { one with stops := (units.filterMap (Stop.after? · bytes)).foldl push one.stops }

/-- Keeps the places after commands that were elaborated behind a beginning. -/
def keepFurther (family text : String) (units : Array Elaborated) : DojoM Unit := do
  let some first := units[0]? | return
  let some best ← longest? family text first.start | return
  if best.stops.back?.any (·.place == first.start) then keepBeginning (({ best with text } : Beginning).extended units)

/-- A text that was elaborated up to a place. -/
structure Reached where
  /-- The last place between two commands. -/
  parserState : Parser.ModuleParserState
  state : Command.State
  /-- All messages so far. -/
  messages : Array Json
  /-- Whether nothing had to be elaborated. -/
  warm : Bool

/--
Elaborates a text up to a byte, or else all of it, and keeps the places on the way. The `family` has everything that its
beginning depends on besides the text. Only Lean's parser knows where a command begins (at its docstring, at `open Foo in`,
at `mutual`), so the byte may be inside one, which is then left out.
-/
def elaborateTo (family : String) (source : Source) (first : Stop) (limit? : Option Nat := none) : DojoM Reached := do
  let text := source.text.lean
  let known := (← longest? family text (limit?.getD source.text.size)).getD { family, text, stops := #[first] }
  let last := known.stops.back?.getD first
  let state := { last.state with env := ← upToDate last.state.env }
  let messages := known.stops.flatMap (·.messages)
  if limit?.any (· ≤ last.reach) then return { parserState := last.parserState, state, messages, warm := true }
  let added ← IO.mkRef (#[] : Array Elaborated)
  let visit (unit : Elaborated) : DojoM Bool := do
    added.modify (·.push { unit with trees := [] })
    return false
  let (parserState, state) ← runSource source last.parserState state visit limit?
  let units ← (added.get : BaseIO _)
  let { stops, .. } := ({ known with text } : Beginning).extended units
  let reached (last : Stop) : Stop := { last with reach := max last.reach (limit?.getD 0) }
  keepBeginning { family, text, stops := stops.modify (stops.size - 1) reached }
  return { parserState, state, messages := messages ++ units.flatMap (·.messages), warm := false }

end Dojo
