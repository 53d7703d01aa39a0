import Dojo.Sexp

/-!
# Constants of an environment: what they are, where they come from, and which are new
-/

namespace Dojo

open Lean

/-- A constant's kind, in the words of answers. -/
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
  | .defnInfo value => some value.value
  | .thmInfo value => some value.value
  | .opaqueInfo value => some value.value
  | _ => none

/-- The type and the value of a constant. -/
def termsOf (info : ConstantInfo) : List Expr :=
  info.type :: (valueOf? info).toList

/-- The constants that a constant's type and value mention; of those in both, each twice. -/
def usesOf (info : ConstantInfo) : List Name :=
  (termsOf info).flatMap fun e => e.getUsedConstants.toList

/-- A name as its author writes it: without the prefix that makes private names unique. -/
def userText (name : Name) : String := nameText (privateToUserName name)

/-- The module that a name was imported from, or `none` for what was elaborated here. -/
def moduleOf? (env : Environment) (name : Name) : Option Name := do
  env.allImportedModuleNames[(← env.getModuleIdxFor? name).toNat]?

unsafe def samePointerUnsafe {α : Type} (a b : α) : Bool := ptrEq a b

/-- Whether two values are one object in memory. It only saves work: what it says changes no answer. -/
@[implemented_by samePointerUnsafe]
opaque samePointer {α : Type} (a b : α) : Bool

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
      let before := known[i]?
      match entries[i]! with
      | .null => pure ()
      | .entry name info =>
        /- The same pair: most of two environments is one object. -/
        if let some (.entry old _) := before then
          if samePointer old name then continue
        found := found.push (name, info)
      | .ref node =>
        let old? := match before with
          | some (.ref node) => some node
          | _ => none
        found := newIn old? node found
    return found

/-- The constants of `after` that were elaborated, not imported, and that `before` has not. -/
def addedTo (before after : Environment) : Array (Name × ConstantInfo) :=
  let found := newIn (some before.constants.map₂.root) after.constants.map₂.root #[]
  found.filter fun (name, _) => (before.find? name).isNone

/-- All constants that were elaborated, not imported. -/
def elaborated (env : Environment) : Array (Name × ConstantInfo) :=
  newIn none env.constants.map₂.root #[]

/-- Everything that `roots` mention in types and values, themselves included, looking into constants as `follow` says. -/
partial def closure (env : Environment) (roots : List Name) (follow : Name → Bool) : NameSet :=
  go {} roots
where
  go (seen : NameSet) : List Name → NameSet
    | [] => seen
    | name :: rest =>
      if seen.contains name then go seen rest else
      let seen := seen.insert name
      match env.find? name with
      | some info =>
        if !follow name then go seen rest else
        let more := match info with
          | .inductInfo value => value.ctors
          | _ => []
        go seen (usesOf info ++ more ++ rest)
      | none => go seen rest

end Dojo
