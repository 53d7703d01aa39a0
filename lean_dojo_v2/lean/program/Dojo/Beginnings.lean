import Dojo.Environments

/-!
# Beginnings of texts, which stay elaborated

Requests are about places in the same few texts: the theorems of a file, and the modules that it imports. So the state after
each command of a text is kept, and a text continues from the last place up to which it is the same as a kept one.
-/

namespace Dojo

open Lean Elab

/-- The number of places that are kept, in all texts together, but at least those of the text that was used last. -/
def maxStops : Nat := 8192

/-- Its place in bytes of Lean's text. -/
private def Stop.place (stop : Stop) : Nat := stop.parserState.pos.byteIdx

/-- The place before the first command of a text. -/
def firstStop (header : Array SerialMessage) (parserState : Parser.ModuleParserState) (state : Command.State) : Stop :=
  { parserState, state, messages := header, isClean := header.isEmpty }

/-- The place after a command; `none` if Lean reads nothing after it, so that another text may continue it. -/
private def Stop.after? (unit : Elaborated) (size : Nat) : Option Stop :=
  if unit.isLast || unit.next.pos.byteIdx ≥ size then none else
  -- without the trees, which are large
  let state := { unit.after with messages := {}, infoState := { enabled := true } }
  some { parserState := unit.next, state, messages := unit.messages, isClean := unit.isClean }

private def areSame (a b : String) (size : Nat) : Bool :=
  size ≤ a.utf8ByteSize && size ≤ b.utf8ByteSize && extractBytes a 0 size == extractBytes b 0 size

/-- Whether a command that ends here is elaborated if the text is elaborated up to a byte; see `runSource`. -/
private def Stop.isWithin (stop : Stop) (limit : Nat) : Bool :=
  stop.place < limit || (stop.isClean && stop.place == limit)

/--
The number of its stops that a text surely has, too, up to a byte: where a command ends may depend on what follows it, so the
text must also agree with the next command.
-/
private def Beginning.shared (one : Beginning) (text : String) (limit : Nat) : Nat := Id.run do
  let fits (i : Nat) (stop : Stop) : Bool :=
    stop.isWithin limit && (one.stops[i + 1]?).any fun next => areSame one.text text next.place
  let mut low := 0
  let mut high := one.stops.size
  while low < high do
    let middle := (low + high) / 2
    if (one.stops[middle]?).any (fits middle) then low := middle + 1 else high := middle
  return low

/-- Whether a text has one more stop, because Lean's parser ends the command before it in the same place there, too. -/
private def Beginning.continues (one : Beginning) (source : SourceText) (first : Stop) (limit count : Nat) : Bool :=
  let text := source.lean
  (one.stops[count]?).any fun stop =>
    stop.isClean && stop.isWithin limit && areSame one.text text stop.place &&
      match count with
      | 0 => first.place == stop.place
      | before + 1 => (one.stops[before]?).any fun last =>
        (sizeProblem? text last.place).isNone && cleanEnd? source last.parserState last.state == some stop.place

/-- The kept beginning that shares most of a text up to a byte, without the stops that the text does not have. -/
private def longest? (family : String) (source : SourceText) (first : Stop) (limit : Nat) : DojoM (Option Beginning) := do
  let mut best? : Option (Beginning × Nat) := none
  for one in (← get).beginnings do
    if one.family != family then continue
    let count := one.shared source.lean limit
    unless best?.any (·.2 > count) do best? := some (one, count)
  let some (one, count) := best? | return none
  let count := if one.continues source first limit count then count + 1 else count
  return if count == 0 then none else some { one with stops := one.stops.extract 0 count }

/-- Whether one beginning has all places of another. -/
private def Beginning.covers (one other : Beginning) : Bool :=
  one.family == other.family && other.stops.size ≤ one.stops.size &&
    (other.stops.back?).any fun last =>
      ((one.stops[other.stops.size - 1]?).any (·.place == last.place)) && areSame one.text other.text last.place

/-- The beginnings that were used last, as far as there is room for their stops, and for the libraries below them. -/
private def withinLimits (all : Array Beginning) (maxLibraries : Nat) : Array Beginning := Id.run do
  let mut first := all.size
  let mut stops := 0
  let mut libraries : List String := []
  for one in all.reverse do
    stops := stops + one.stops.size
    let library := (one.family.splitOn "\n").headD ""
    unless libraries.contains library do libraries := library :: libraries
    if first < all.size && (stops > maxStops || libraries.length > maxLibraries) then break
    first := first - 1
  return all.extract first all.size

/-- Keeps a beginning in place of those that have nothing else; if another one has more, that is kept as the last used. -/
private def keepBeginning (one : Beginning) : DojoM Unit := do
  let maxLibraries := (← read).host.maxEnvironments
  modify fun memory =>
    let larger? := memory.beginnings.find? fun other => other.covers one && other.stops.size > one.stops.size
    let kept := larger?.getD one
    let others := memory.beginnings.filter fun other => !kept.covers other
    { memory with beginnings := withinLimits (others.push kept) maxLibraries }

/-- Keeps the places after commands that were elaborated behind a beginning, too. -/
def Beginning.keepFurther (one : Beginning) (units : Array Elaborated) : DojoM Unit :=
  keepBeginning { one with stops := one.stops ++ units.filterMap (Stop.after? · one.text.utf8ByteSize) }

/-- A text that was elaborated up to a place. -/
structure Reached where
  /-- What is kept of it. -/
  beginning : Beginning
  /-- The last place between two commands. -/
  parserState : Parser.ModuleParserState
  state : Command.State
  /-- All messages so far. -/
  messages : Array SerialMessage
  /-- Whether nothing had to be elaborated. -/
  warm : Bool

/--
Elaborates a text up to a byte, or else all of it, and keeps the places on the way. Only Lean's parser knows where a command
begins (at its docstring, at `open Foo in`, at `mutual`), so the byte may be inside one, which is then left out; as is a
command after which Lean reads nothing.
-/
def elaborateTo (family : String) (source : SourceText) (first : Stop) (limit? : Option Nat := none) : DojoM Reached := do
  let text := source.lean
  let size := source.size
  let known := (← longest? family source first (limit?.getD size)).getD { family, text, stops := #[first] }
  let last := known.stops.back?.getD first
  let start := { last.state with env := ← upToDate last.state.env }
  let visit (found : Array Stop × Array Elaborated) (unit : Elaborated) : DojoM (ForInStep _) := do
    match Stop.after? unit size with
    | some stop => return .yield (found.1.push stop, found.2)
    | none => return .yield (found.1, found.2.push unit)
  let ((further, rest), parserState, state) ← runSource source last.parserState start (#[], #[]) visit limit?
  let stops := known.stops ++ further
  let messages := stops.flatMap (·.messages)
  let beginning := { family, text, stops }
  keepBeginning beginning
  if limit?.isSome && rest.any (·.isLast) then
    let { parserState, state, .. } := stops.back?.getD first
    return { beginning, parserState, state, messages, warm := false }
  let warm := further.isEmpty && rest.isEmpty
  return { beginning, parserState, state, messages := messages ++ rest.flatMap (·.messages), warm }

end Dojo
