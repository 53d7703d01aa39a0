import Dojo.Constants

/-!
# Lean's kernel once more, over what a theorem rests on

A program in a text (`run_cmd`, `elab`, `initialize`) may put into the environment what the kernel never saw, or replace
what it saw. So a theorem is taken for proved only after all constants that it rests on were added again, each behind
those that it mentions, to the environment of the library alone, which no text has touched. What the kernel makes by
itself (constructors, recursors) is its own there, whatever the text's environment says of them.
-/

namespace Dojo

open Lean

/-- A constant that the kernel does not take, and why. -/
structure Problem where
  constant : String
  message : String
  deriving Inhabited

instance : ToJson Problem where
  toJson problem := Json.mkObj [("constant", problem.constant), ("message", problem.message)]

/-- A kernel's message may hold whole terms. -/
private def maxMessage : Nat := 200

/-- What must be there before a constant, and the declaration that makes it: none where that of something else does. -/
structure AddPlan where
  uses : Array Name
  declaration? : Option Declaration := none

private def planOfInductive (env : Environment) (info : InductiveVal) : AddPlan := Id.run do
  if info.all.head? != some info.name then return { uses := (info.all.take 1).toArray }
  let mut own : NameSet := {}
  let mut types := #[]
  let mut mentioned := #[]
  for name in info.all do
    let some (.inductInfo member) := env.find? name | continue
    own := own.insert name
    mentioned := mentioned ++ member.type.getUsedConstants
    let mut constructors : Array Constructor := #[]
    for constructor in member.ctors do
      let some made := env.find? constructor | continue
      own := own.insert constructor
      mentioned := mentioned ++ made.type.getUsedConstants
      constructors := constructors.push { name := constructor, type := made.type }
    types := types.push { name, type := member.type, ctors := constructors.toList : InductiveType }
  let declaration := .inductDecl info.levelParams info.numParams types.toList false
  return { uses := mentioned.filter (!own.contains ·), declaration? := some declaration }

/-- The declaration that adds an axiom, a definition, a theorem or an opaque constant again. -/
def declarationOf? : ConstantInfo → Option Declaration
  | .axiomInfo info => some (.axiomDecl info)
  | .defnInfo info => some (.defnDecl info)
  | .thmInfo info => some (.thmDecl info)
  | .opaqueInfo info => some (.opaqueDecl info)
  | _ => none

def addPlan (env : Environment) (info : ConstantInfo) : AddPlan :=
  match info with
  | .quotInfo _ => { uses := #[``Eq], declaration? := some .quotDecl }
  | .ctorInfo info => { uses := #[info.induct] }
  | .recInfo info => { uses := info.all.toArray }
  | .inductInfo info => planOfInductive env info
  | _ => { uses := constantsOf info, declaration? := declarationOf? info }

/--
A text may raise its own limits, so that of the request's time is the only one; from 4.33 on the kernel goes as deep as an
option says, not as its stack allows.
-/
private def unlimited : Options := ({} : Options) |>.set `maxHeartbeats (0 : Nat) |>.set `maxRecDepth (10000 : Nat)

/-- The names that a declaration adds, and the terms in it; none for quotients, which the kernel makes. -/
def partsOfDeclaration : Declaration → Array Name × Array Expr
  | .axiomDecl info => (#[info.name], #[info.type])
  | .defnDecl info => (#[info.name], #[info.type, info.value])
  | .thmDecl info => (#[info.name], #[info.type, info.value])
  | .opaqueDecl info => (#[info.name], #[info.type, info.value])
  | .inductDecl _ _ types _ =>
    types.foldl (init := (#[], #[])) fun (names, terms) type =>
      ( (names.push type.name) ++ (type.ctors.map (·.name)).toArray,
        (terms.push type.type) ++ (type.ctors.map (·.type)).toArray )
  | _ => (#[], #[])

/--
Names that have a meaning of their own to the kernel, whatever is declared by them: what it computes, and what it takes
literals and quotients for (`type_checker.cpp`, `quot.cpp`). A text with only a part of Lean's library below it could
declare these, and prove `4 = 2` with a `Nat.gcd` of its own. The kernel itself looks at `Eq` before it takes quotients.
-/
private def kernelsOwn : List Name := [
  `Nat, `Nat.zero, `Nat.succ, `Nat.add, `Nat.sub, `Nat.mul, `Nat.div, `Nat.mod, `Nat.gcd, `Nat.beq, `Nat.ble, `Nat.land,
  `Nat.lor, `Nat.xor, `Nat.shiftLeft, `Nat.shiftRight, `Nat.pow, `Nat.log2, `String, `String.mk, `String.ofList, `Quot,
  `Quot.mk, `Quot.lift, `Quot.ind, `Lean.reduceBool, `Lean.reduceNat]

/-- Adds a declaration to a kernel's environment; the error is what the kernel has against it, on one line. -/
def addToKernel (kernel : Kernel.Environment) (declaration : Declaration) (cancel? : Option IO.CancelToken) :
    IO (Except String Kernel.Environment) := do
  if let some name := (partsOfDeclaration declaration).1.find? kernelsOwn.contains then
    return .error s!"the kernel treats the name {name} specially, so only Lean's library may declare it"
  match kernel.addDecl unlimited declaration cancel? with
  | .ok kernel => return .ok kernel
  | .error error =>
    let words := wordsOf (← (error.toMessageData {}).toString)
    return .error (toString ((" ".intercalate words).take maxMessage))

private inductive Work where
  | enter (name : Name)
  | leave (info : ConstantInfo) (declaration : Declaration)

private instance : Inhabited Work := ⟨.enter .anonymous⟩

/--
The declarations that constants rest on beyond `base`, each behind those that it mentions, but for what was `seen` before;
with all that is seen now. What is not in the environment has none.
-/
def declarationsBehind (env : Environment) (base : Kernel.Environment) (roots : Array Name) (seen : NameSet := {}) :
    Array (ConstantInfo × Declaration) × NameSet := Id.run do
  let mut seen := seen
  let mut found := #[]
  let mut work := roots.reverse.map Work.enter
  while !work.isEmpty do
    let item := work.back!
    work := work.pop
    match item with
    | .leave info declaration => found := found.push (info, declaration)
    | .enter name =>
      if seen.contains name || (base.find? name).isSome then continue
      seen := seen.insert name
      let some info := env.find? name | continue
      let plan := addPlan env info
      if let some declaration := plan.declaration? then work := work.push (.leave info declaration)
      work := work ++ plan.uses.reverse.map Work.enter
  return (found, seen)

/-- What the kernel has taken of the declarations that it was given, and what it has against the others, by their names. -/
structure Court where
  kernel : Kernel.Environment
  refused : NameMap Problem := {}

/-- Gives a declaration to the kernel. What rests on something that it refused has the same problem. -/
def Court.hear (court : Court) (declaration : Declaration) (cancel? : Option IO.CancelToken) : IO Court := do
  let (names, terms) := partsOfDeclaration declaration
  let refuse (problem : Problem) : Court :=
    { court with refused := names.foldl (init := court.refused) fun all name => all.insert name problem }
  unless court.refused.isEmpty do
    let used := terms.flatMap (·.getUsedConstants)
    if let some problem := used.findSome? court.refused.find? then return refuse problem
  match ← addToKernel court.kernel declaration cancel? with
  | .ok kernel => return { court with kernel }
  | .error message => return refuse { constant := userText (names.getD 0 .anonymous), message }

/-- What the kernel has against a constant, which may be that it is not there. -/
private def Court.problem? (court : Court) (name : Name) : Option Problem :=
  court.refused.find? name <|>
    if (court.kernel.find? name).isSome then none
    else some { constant := userText name, message := "the kernel makes no such constant" }

/-- What the kernel was given of an environment. -/
structure Checked where
  env : Environment
  court : Court
  seen : NameSet := {}

/-- A checker of an environment, which has added nothing yet. -/
def Checked.start (base : Kernel.Environment) (env : Environment) : Checked :=
  { env, court := { kernel := base } }

private def Checked.require (checked : Checked) (base : Kernel.Environment) (names : Array Name)
    (cancel? : Option IO.CancelToken) : IO Checked := do
  let (declarations, seen) := declarationsBehind checked.env base names checked.seen
  let court ← declarations.foldlM (init := checked.court) fun court (_, one) => court.hear one cancel?
  return { checked with court, seen }

/--
What the kernel says of constants of an environment, with all that they rest on: none for each that it takes.

`library` is the environment of the library's modules; `ground` has checked constants of the environment that the text
began in, and comes back with more of them; `env` is that at the text's end. Where a program has replaced what the text
began with, all is checked again.
-/
def kernelProblems (library : Environment) (ground : Checked) (env : Environment) (names : Array Name)
    (cancel? : Option IO.CancelToken := none) : IO (Array (Option Problem) × Checked) := do
  let base := library.toKernelEnv
  let below := ground.env
  let isOwn (name : Name) : Bool := (base.find? name).isNone && !below.contains name
  let beneath := (closureOf env names isOwn).filterMap fun (name, _) => if isOwn name then none else some name
  let ground ← ground.require base beneath cancel?
  let isReplaced (name : Name) : Bool := (base.find? name).isNone &&
    match below.find? name, env.find? name with
    | some old, some new => !isSameConstant old new
    | _, _ => true
  let start := if beneath.any isReplaced then Checked.start base env else { ground with env }
  let checked ← start.require base names cancel?
  return (names.map checked.court.problem?, ground)

end Dojo
