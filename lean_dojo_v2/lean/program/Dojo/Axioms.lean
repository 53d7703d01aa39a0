import Dojo.Dependencies
import Dojo.InfoTrees

/-!
# What `#print axioms` says

A library may come without its proofs (the embedded engine's does); Lean itself would then list each of its theorems as
an axiom.
-/

namespace Dojo

open Lean Elab

/-- Whether a constant was imported from Lean's library. -/
def isLibrary (env : Environment) (name : Name) : Bool :=
  (moduleOf? env name).any fun module => [`Init, `Std, `Lean, `Lake].contains module.getRoot

private def axiomsSentence (env : Environment) (name : Name) : String := Id.run do
  let mut names := #[]
  let mut unseen := 0
  for (used, info?) in closureOf env #[name] (!isLibrary env ·) do
    unless info? matches some (.axiomInfo _) do continue
    if !isLibrary env used || originOf env used == .axiom then names := names.push (userText used)
    else if originOf env used == .theorem then unseen := unseen + 1
  let known := if names.isEmpty then s!"'{userText name}' does not depend on any axioms"
    else s!"'{userText name}' depends on axioms: [{", ".intercalate (names.qsort (· < ·)).toList}]"
  if unseen == 0 then return known
  let theorems := if unseen == 1 then "a theorem of Lean's library" else s!"{unseen} theorems of Lean's library"
  return s!"{known}, besides those of {theorems}: the embedded engine has no proofs of these"

/-- The constants that some information trees name, in order. -/
private def constantsIn (trees : List InfoTree) : Array Name :=
  trees.foldl (init := #[]) fun found tree =>
    tree.foldInfo (init := found) fun _ info found =>
      match info with
      | .ofTermInfo info => if let .const name _ := info.expr then found.push name else found
      | _ => found

/-- The messages of `#print axioms` in an environment whose library has no proofs, put right. -/
def correctAxioms (kind : Name) (messages : Array Json) (trees : List InfoTree) (env : Environment) : Array Json :=
  if kind != ``Parser.Command.printAxioms || hasProofs env then messages else
  let asked := constantsIn trees
  let isAnswer (message : Json) : Bool := message.getObjValAs? String "severity" matches .ok "information"
  if (messages.filter isAnswer).size != asked.size then messages else Id.run do
    let mut next := 0
    let mut corrected := #[]
    for message in messages do
      if isAnswer message then
        corrected := corrected.push (message.setObjVal! "data" (.str (axiomsSentence env asked[next]!)))
        next := next + 1
      else corrected := corrected.push message
    return corrected

end Dojo
