import Dojo.Canonical
import Dojo.Dependencies

/-!
# Statements that can be compared

What a statement says, with all the definitions of the text that it rests on, so that a redefined symbol makes another
statement. Definitions go by what they say, not by their names: Lean makes many by itself (matchers, parts of proofs), and
takes one that is there already, of whatever declaration. Types, axioms and opaque constants have their names as well.
-/

namespace Dojo

open Lean

/-- How constants are written, and what those that go by their content say, by number. -/
private structure Labels where
  labels : NameMap String := {}
  texts : Array String := #[]
  places : Std.HashMap String Nat := {}

/-- Whether a constant stands for what it says: one of the same content is the same. -/
private def isTransparent (info : ConstantInfo) : Bool :=
  info matches .defnInfo _ || info matches .thmInfo _

/-- What a constant says. How a theorem that is cited was proved says nothing. -/
private def said (info : ConstantInfo) : List Expr :=
  match info with
  | .defnInfo value => [info.type, value.value]
  | _ => [info.type]

mutual

/-- Gives a label to a constant, and to those that it needs. -/
private partial def addLabel (own : NameMap ConstantInfo) (name : Name) : StateM Labels Unit := do
  if (← get).labels.contains name then return
  let some info := own.find? name
    | modify fun all => { all with labels := all.labels.insert name (exactName name) }
  -- for what mentions itself
  modify fun all => { all with labels := all.labels.insert name s!"!{exactName name}" }
  unless isTransparent info do return
  let text ← contentOf own info
  modify fun all =>
    match all.places[text]? with
    | some place => { all with labels := all.labels.insert name s!"~{place}" }
    | none =>
      let place := all.texts.size
      { labels := all.labels.insert name s!"~{place}"
        texts := all.texts.push text
        places := all.places.insert text place }

/-- What a constant is and says. -/
private partial def contentOf (own : NameMap ConstantInfo) (info : ConstantInfo) : StateM Labels String := do
  let universes := numbered info.levelParams.toArray
  let mut texts := #[]
  for e in said info do
    e.getUsedConstants.forM (addLabel own)
    let labels := (← get).labels
    texts := texts.push (canonical e universes fun name => (labels.find? name).getD (exactName name)).1
  return s!"{kindWord info}:{":".intercalate texts.toList}"

end

/-- The canonical text of a constant's statement. `find?` gives what is there; `base` is the kernel's environment of the library. -/
def statementText (find? : Name → Option ConstantInfo) (base : Kernel.Environment) (info : ConstantInfo) : String := Id.run do
  let isLocal (name : Name) : Bool := (base.find? name).isNone
  let parts (info : ConstantInfo) : Array Name :=
    if info matches .thmInfo _ then info.type.getUsedConstants else constantsOf info
  let mut own : NameMap ConstantInfo := {}
  for (name, info?) in closureWith find? info.type.getUsedConstants isLocal parts do
    if isLocal name then
      if let some info := info? then own := own.insert name info
  let written := (own.toList.filter fun (_, info) => !isTransparent info).map fun (name, info) => (exactName name, info)
  let sorted := written.toArray.qsort fun (a, _) (b, _) => a < b
  let all : StateM Labels (Array String) := do
    info.type.getUsedConstants.forM (addLabel own)
    let labels := (← get).labels
    let universes := numbered info.levelParams.toArray
    let mut texts := #[(canonical info.type universes fun name => (labels.find? name).getD (exactName name)).1]
    for (key, info) in sorted do
      texts := texts.push s!"{key}:{← contentOf own info}"
    return texts
  let (texts, labels) := all.run {}
  return "|".intercalate (texts ++ labels.texts).toList

end Dojo
