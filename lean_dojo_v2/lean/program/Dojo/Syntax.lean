import Dojo.States

/-!
# `dojo.parse_tactic`: parsing alone

Nothing is elaborated and nothing runs.
-/

namespace Dojo

open Lean

/-- Node kinds, identifiers and atoms of a syntax tree, each once, in order. -/
private structure Inventory where
  kinds : Array String := #[]
  identifiers : Array String := #[]
  atoms : Array String := #[]

private def once (found : Array String) (text : String) : Array String :=
  if found.contains text then found else found.push text

private partial def takeInventory (inventory : Inventory) (stx : Syntax) : Inventory :=
  match stx with
  | .missing => inventory
  | .node _ kind children =>
    let inventory := { inventory with kinds := once inventory.kinds (nameText kind) }
    children.foldl (init := inventory) takeInventory
  | .atom _ text => { inventory with atoms := once inventory.atoms text }
  | .ident _ _ name _ => { inventory with identifiers := once inventory.identifiers (nameText name) }

private def parseTactic (request : Request) : DojoM Json := do
  let env ← match request.nat? "stateId" with
    | some id => pure (← getState id).env
    | none => sessionEnv
  match parseText env `tactic (request.text "tactic") with
  | .error problem => return record [("parseError", .str problem)]
  | .ok stx =>
    let inventory := takeInventory {} stx
    return record [
      ("kind", .str (nameText stx.getKind)),
      ("kinds", toJson inventory.kinds),
      ("identifiers", toJson inventory.identifiers),
      ("atoms", toJson inventory.atoms)]
      [if hasPlainSettings env stx then none else some ("evaluates", .bool true)]

def syntaxCommands : List Command := [
  { name := "dojo.parse_tactic", fields := [required .text "tactic", optional .natural "stateId"], run := parseTactic }
]

end Dojo
