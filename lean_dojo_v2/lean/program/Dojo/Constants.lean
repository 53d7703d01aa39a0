import Dojo.Known
import Dojo.Text

/-!
# Constants of an environment: what they are, where they come from, which are new, and what they depend on
-/

namespace Dojo

open Lean

/-- The name of a constant's kind in answers. -/
def kindWord : ConstantInfo → String
  | .axiomInfo _ => "axiom"
  | .defnInfo _ => "def"
  | .thmInfo _ => "theorem"
  | .opaqueInfo _ => "opaque"
  | .quotInfo _ => "quot"
  | .inductInfo _ => "inductive"
  | .ctorInfo _ => "constructor"
  | .recInfo _ => "recursor"

/-- The value of a definition, a theorem or an opaque constant. -/
def valueOf? : ConstantInfo → Option Expr
  | .defnInfo value | .thmInfo value | .opaqueInfo value => some value.value
  | _ => none

def valueHasSorry (info : ConstantInfo) : Bool := (valueOf? info).any (·.hasSorry)

def setOf (names : Array Name) : NameSet := names.foldl (·.insert ·) {}

/-- A name as its author writes it: without the prefix that makes private names unique. -/
def userText (name : Name) : String := nameText (privateToUserName name)

/-- The module that a name was imported from, or `none` for what was elaborated here. -/
def moduleOf? (env : Environment) (name : Name) : Option Name := do
  env.allImportedModuleNames[(← env.getModuleIdxFor? name).toNat]?

/-- Whether two values are the same object in memory. This only saves work and changes no answer. -/
@[inline] def samePointer {α : Type} (a b : α) : Bool := unsafe ptrEq a b

private abbrev Node := PersistentHashMap.Node Name ConstantInfo

private partial def newIn (old? : Option Node) (fresh : Node) (found : Array (Name × ConstantInfo)) :
    Array (Name × ConstantInfo) :=
  if old?.any (samePointer · fresh) then found else
  match fresh with
  | .collision names infos _ => found ++ names.zip infos
  | .entries entries => Id.run do
    let known : Array (PersistentHashMap.Entry Name ConstantInfo Node) := match old? with
      | some (.entries entries) => entries
      | _ => #[]
    let mut found := found
    for i in [0:entries.size] do
      match entries[i]!, known[i]? with
      | .null, _ => pure ()
      /- The same pair: two environments share most of their memory. -/
      | .entry name info, some (.entry old _) => unless samePointer old name do found := found.push (name, info)
      | .entry name info, _ => found := found.push (name, info)
      | .ref node, some (.ref old) => found := newIn (some old) node found
      | .ref node, _ => found := newIn none node found
    return found

/-- The constants of `after` that were elaborated, not imported, and that `before` does not have. -/
def addedTo (before after : Environment) : Array (Name × ConstantInfo) :=
  let found := newIn (some before.constants.map₂.root) after.constants.map₂.root #[]
  found.filter fun (name, _) => (before.find? name).isNone

/-- All constants that were elaborated, not imported. -/
def elaborated (env : Environment) : Array (Name × ConstantInfo) :=
  env.constants.foldStage2 (fun all name info => all.push (name, info)) #[]

/-!
## What constants depend on

Everything that a constant mentions, directly or indirectly. The embedded package has no proofs of the library's theorems
and lacks the bodies of many definitions; Lean sees these as axioms there, and each module records what they were where
they were declared.
-/

/-- The constants in the type and in the value of a constant; those in both are listed twice. -/
def constantsOf (info : ConstantInfo) : Array Name :=
  let inType := info.type.getUsedConstants
  match valueOf? info with
  | some value => inType ++ value.getUsedConstants
  | none => inType

/--
The roots and everything that they mention, directly or indirectly, in the order in which it was reached. `follow` decides
into which constants to look; `parts` returns the constants that one mentions.
-/
def closureWith (find? : Name → Option ConstantInfo) (roots : Array Name) (follow : Name → Bool)
    (parts : ConstantInfo → Array Name := constantsOf) : Array (Name × Option ConstantInfo) := Id.run do
  let mut seen : Known Name Unit := {}
  let mut found := #[]
  let mut pending := roots
  while !pending.isEmpty do
    let name := pending.back!
    pending := pending.pop
    if seen.contains name then continue
    seen := seen.insert name ()
    let info? := find? name
    found := found.push (name, info?)
    let some info := info? | continue
    unless follow name do continue
    pending := pending ++ parts info
    if let .inductInfo value := info then pending := pending ++ value.ctors.toArray
  return found

/-- Whether an environment has the proofs of its library's theorems. The embedded package does not. -/
def hasProofs (library : Environment) : Bool :=
  !(library.find? ``Eq.symm matches some (.axiomInfo _))

/-- An axiom, and whether it is from the library. -/
structure Axiom where
  name : String
  library : Bool
  deriving Inhabited, ToJson

/--
The axioms that constants depend on. `find?` looks up constants, and `kernel` has those that the kernel accepted.
`library` is the environment of the library's modules, which no text can change; if it has its proofs, Lean's own
collector goes through them.
-/
def axiomsWith (find? : Name → Option ConstantInfo) (kernel : Kernel.Environment) (roots : Array Name)
    (library : Environment) : Array Axiom := Id.run do
  let base := library.toKernelEnv
  let isLocal (name : Name) : Bool := (base.find? name).isNone
  let mut found := #[]
  let mut imported := #[]
  for (name, info?) in closureWith find? roots isLocal do
    unless isLocal name do
      imported := imported.push name
      continue
    let some info := info? | continue
    -- the rest of a text may cite a theorem whose proof the kernel has refused
    let isProved := kernel.find? name matches some (.thmInfo _)
    if info matches .axiomInfo _ || ((info matches .thmInfo _) && !isProved) then
      found := found.push { name := userText name, library := false }
  let axioms := if hasProofs library then
      (axiomsBehind library imported).getD <| (closureWith library.find? imported fun _ => true).filterMap fun
        | (name, some (.axiomInfo _)) => some name
        | _ => none
    else imported.filter fun name =>
      (base.find? name matches some (.axiomInfo _)) && getOriginalConstKind? library name == some .axiom
  return found ++ axioms.map fun name => { name := userText name, library := true }

end Dojo
