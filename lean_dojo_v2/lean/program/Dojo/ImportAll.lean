import Dojo.Frontend

/-!
# `import all`

A text that imports all of a module may call its private names as its source does. To Lean such a text is no `module`
here, so that it would not look for them: each is opened by its name, and by the ends of its name.
-/

namespace Dojo

open Lean Elab

private def declaring : List String := ["theorem", "lemma", "def", "abbrev", "instance", "opaque", "axiom"]

/-- The names that a text declares, as it writes them. -/
private def declaredIn (text : String) : List String :=
  let spaced := text.map fun c => if c.isWhitespace then ' ' else c
  let words := (spaced.splitOn " ").filter (!·.isEmpty)
  (words.zip (words.drop 1)).filterMap fun (word, next) => if declaring.contains word then some next else none

/-- The constants of a module that was imported, or else of those that were elaborated in memory. -/
private def constantsOfModule (env : Environment) (module : Name) : Array Name :=
  match env.getModuleIdx? module with
  | some index => (env.header.moduleData[index.toNat]?.map (·.constNames)).getD #[]
  | none => env.constants.foldStage2 (fun names name _ => names.push name) #[]

/-- `A.b.c`: `A.b.c`, `b.c` and `c`. -/
private def endsOf (name : Name) : List Name :=
  let rec ends : List Name → List Name
    | [] => []
    | part :: rest => (part :: rest).foldl (· ++ ·) .anonymous :: ends rest
  ends name.components

/-- Lets a text use the private names of the modules `whole`, but for those that it declares itself. -/
def openWhole (state : Command.State) (whole : Array Name) (text : String) : Command.State := Id.run do
  if whole.isEmpty then return state
  let declared := declaredIn text
  let isOwn (name : Name) : Bool := declared.any fun word => word == name.toString || word.endsWith s!".{name}"
  let mut opened := #[]
  for module in whole do
    let privates := .num (`_private ++ module) 0
    for name in constantsOfModule state.env module do
      let known := name.replacePrefix privates .anonymous
      unless privates.isPrefixOf name && !known.isInternalDetail do continue
      for ending in endsOf known do
        unless isOwn ending do opened := opened.push (.explicit ending name)
  let scope :: outer := state.scopes | return state
  return { state with scopes := { scope with openDecls := scope.openDecls ++ opened.toList } :: outer }

end Dojo
