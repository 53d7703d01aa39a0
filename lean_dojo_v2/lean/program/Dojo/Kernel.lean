import Dojo.Constants
import Dojo.Inductives

/-!
# Checking what constants depend on with Lean's kernel

A program in a text (`run_cmd`, `elab`, `initialize`) may add constants to the environment that the kernel never saw, or
replace those that it saw. So everything that a constant depends on is taken apart into declarations, each after those
that it mentions, and a kernel that has seen no text adds them to the library's environment. The kernel makes constructors
and recursors itself, whatever the text's environment has in their place.
-/

namespace Dojo

open Lean

/-- A constant that the kernel refuses, and why. -/
structure Problem where
  constant : String
  message : String
  deriving Inhabited, ToJson

/-- The maximum length of a kernel's message, which may contain whole terms. -/
private def maxMessage : Nat := 200

/-- The names that a declaration adds, and the terms in it; nothing for quotients, which the kernel makes. -/
def partsOfDeclaration : Declaration → Array Name × Array Expr
  | .axiomDecl info => (#[info.name], #[info.type])
  | .defnDecl info | .thmDecl info | .opaqueDecl info => (#[info.name], #[info.type, info.value])
  | .inductDecl _ _ types _ =>
    types.foldl (init := (#[], #[])) fun (names, terms) type =>
      ( (names.push type.name) ++ (type.ctors.map (·.name)).toArray,
        (terms.push type.type) ++ (type.ctors.map (·.type)).toArray )
  | _ => (#[], #[])

private def needsOfInductive (env : Environment) (info : InductiveVal) : Array Name × Option Declaration :=
  if info.all.head? != some info.name then ((info.all.take 1).toArray, none) else
  let types := info.all.filterMap fun name => do
    let .inductInfo member ← env.find? name | none
    let ctors := member.ctors.filterMap fun name => (env.find? name).map fun made => { name, type := made.type }
    return { name, type := member.type, ctors : InductiveType }
  let declaration := .inductDecl info.levelParams info.numParams types false
  let (names, terms) := partsOfDeclaration declaration
  let own := setOf names
  ((terms.flatMap (·.getUsedConstants)).filter (!own.contains ·), some declaration)

/-- What a constant needs, and the declaration that makes it; `none` if the declaration of another constant makes it. -/
private def needsOf (env : Environment) : ConstantInfo → Array Name × Option Declaration
  | .quotInfo _ => (#[``Eq], some .quotDecl)
  | .ctorInfo info => (#[info.induct], none)
  | .recInfo info => (info.all.toArray, none)
  | .inductInfo info => needsOfInductive env info
  | info@(.axiomInfo value) => (constantsOf info, some (.axiomDecl value))
  | info@(.defnInfo value) => (constantsOf info, some (.defnDecl value))
  | info@(.thmInfo value) => (constantsOf info, some (.thmDecl value))
  | info@(.opaqueInfo value) => (constantsOf info, some (.opaqueDecl value))

/--
A text may raise its own limits, so only the request's time is limited. Since 4.33, an option limits the kernel's depth,
not its stack.
-/
private def unlimited : Options := ({} : Options) |>.set `maxHeartbeats (0 : Nat) |>.set `maxRecDepth (10000 : Nat)

/--
Names that the kernel treats specially, whatever is declared under them: the functions that it computes, and the types of
literals and quotients (`type_checker.cpp`, `quot.cpp`). A text that imports only a part of Lean's library could declare
these itself, and prove `4 = 2` with its own `Nat.gcd`. (The kernel itself checks `Eq` before it accepts quotients.)
-/
private def kernelsOwn : List Name := [
  `Nat, `Nat.zero, `Nat.succ, `Nat.add, `Nat.sub, `Nat.mul, `Nat.div, `Nat.mod, `Nat.gcd, `Nat.beq, `Nat.ble, `Nat.land,
  `Nat.lor, `Nat.xor, `Nat.shiftLeft, `Nat.shiftRight, `Nat.pow, `Nat.log2, `String, `String.mk, `String.ofList, `Quot,
  `Quot.mk, `Quot.lift, `Quot.ind, `Lean.reduceBool, `Lean.reduceNat]

/-- Adds a declaration to a kernel's environment, or returns the kernel's error on one line. -/
def addToKernel (kernel : Kernel.Environment) (declaration : Declaration) (cancel? : Option IO.CancelToken) :
    IO (Except String Kernel.Environment) := do
  let (names, terms) := partsOfDeclaration declaration
  if let some name := names.find? kernelsOwn.contains then
    return .error s!"the kernel treats the name {name} specially, so only Lean's library may declare it"
  if terms.any fun term => term.hasFVar || term.hasMVar then return .error "it has free variables or metavariables"
  let added := do
    let kernel ← kernel.addDecl unlimited declaration cancel?
    for consequence in consequences kernel declaration do discard <| kernel.addDecl unlimited consequence cancel?
    return kernel
  match added with
  | .ok kernel => return (sortFault? kernel declaration).elim (.ok kernel) .error
  | .error error =>
    let words := wordsOf (← (error.toMessageData {}).toString)
    return .error (toString ((" ".intercalate words).take maxMessage))

private inductive Work where
  | enter (name : Name)
  | leave (info : ConstantInfo) (declaration : Declaration)
  deriving Inhabited

/--
The declarations that constants depend on beyond `base`, each after those that it mentions. Names that are not in the
environment are skipped.
-/
def declarationsBehind (env : Environment) (base : Kernel.Environment) (roots : Array Name) :
    Array (ConstantInfo × Declaration) := Id.run do
  let mut seen : Known Name Unit := {}
  let mut found := #[]
  let mut work := roots.reverse.map Work.enter
  while !work.isEmpty do
    let item := work.back!
    work := work.pop
    match item with
    | .leave info declaration => found := found.push (info, declaration)
    | .enter name =>
      if seen.contains name || (base.find? name).isSome then continue
      seen := seen.insert name ()
      let some info := env.find? name | continue
      let (uses, declaration?) := needsOf env info
      if let some declaration := declaration? then work := work.push (.leave info declaration)
      work := work ++ uses.reverse.map Work.enter
  return found

/--
With these, a proof depends on compiled code: the kernel evaluates the first two, and the others are axioms about them.
Only the process that elaborated a text has its compiled code.
-/
private def evaluators : List Name := [
  `Lean.reduceBool, `Lean.reduceNat, `Lean.ofReduceBool, `Lean.ofReduceNat, `Lean.trustCompiler]

/--
The names that a library mentions, but does not contain. A module's compiled file leaves out what only the module itself
uses, though theorems about it are there, and proofs that use it. A text that declares such a name, with a value of its
own, would make these theorems false.
-/
def missingIn (library : Kernel.Environment) : NameSet :=
  library.constants.fold (init := {}) fun missing _ info =>
    if info.isUnsafe || info.isPartial then missing else
      let terms : List Expr := match info with
        | .defnInfo info => [info.type, info.value]
        | .thmInfo info => [info.type, info.value]
        | .opaqueInfo info => [info.type, info.value]
        | .recInfo info => info.type :: info.rules.map (·.rhs)
        | info => [info.type]
      terms.foldl (init := missing) fun missing term =>
        term.getUsedConstants.foldl (init := missing) fun missing name =>
          if (library.find? name).isNone then missing.insert name else missing

/-- The declarations that the kernel has accepted, and the objections to the others. -/
structure Court where
  kernel : Kernel.Environment
  /-- The library's missing names. They take a second or two to find, and texts hardly ever need them. -/
  missing : Thunk NameSet := .mk fun _ => missingIn kernel
  /-- The constants that the kernel has refused, with its reasons. -/
  refused : NameMap Problem := {}
  /-- The constants that depend on compiled code, with the name through which they do. -/
  native : NameMap Name := {}

/--
Whether the library mentions a name that it does not contain. Only names of its own can be such: below one of its constants,
or private to one of its modules.
-/
private def Court.isMissing (court : Court) (name : Name) : Bool :=
  let isOfLibrary := match privatePrefix? name with
    | some module =>
      court.kernel.header.moduleNames.contains (module.getPrefix.replacePrefix privateHeader .anonymous)
    | none => isBelowLibrary name.getPrefix
  isOfLibrary && court.missing.get.contains name
where
  isBelowLibrary : Name → Bool
    | .anonymous => false
    | name@(.str parent _) | name@(.num parent _) => court.kernel.const2ModIdx.contains name || isBelowLibrary parent

/-- Gives a declaration to the kernel. If it depends on a refused constant, it has the same problem. -/
def Court.hear (court : Court) (declaration : Declaration) (cancel? : Option IO.CancelToken) : IO Court := do
  let (names, terms) := partsOfDeclaration declaration
  let used := terms.flatMap (·.getUsedConstants)
  let marked {α} (all : NameMap α) (mark : α) : NameMap α := names.foldl (init := all) fun all name => all.insert name mark
  let native? := used.findSome? fun name => if evaluators.contains name then some name else court.native.find? name
  let court := match native? with
    | some native => { court with native := marked court.native native }
    | none => court
  let refuse (problem : Problem) : Court := { court with refused := marked court.refused problem }
  if let some problem := used.findSome? court.refused.find? then return refuse problem
  let constant := userText (names.getD 0 .anonymous)
  if let some name := (names ++ names.map mkRecName).find? court.isMissing then
    return refuse { constant, message := s!"the library has {name} without showing it, so only the library may declare it" }
  match ← addToKernel court.kernel declaration cancel? with
  | .ok kernel => return { court with kernel }
  | .error message => return refuse { constant, message }

/-- The first problem that the kernel has with some constants that `env` has beyond `base`. -/
def problemBeyond? (base env : Environment) (names : Array Name) (cancel? : Option IO.CancelToken) :
    IO (Option Problem) := do
  let kernel := base.toKernelEnv
  let mut court : Court := { kernel }
  for (_, declaration) in declarationsBehind env kernel names do court ← court.hear declaration cancel?
  return names.findSome? court.refused.find?

end Dojo
