import Dojo.Dependencies

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

private structure Answer where
  /-- What the environment has by the name; none for what is the library's, or nobody's. -/
  info? : Option ConstantInfo
  problem? : Option Problem

/-- What was added again so far, of the constants of an environment. -/
structure Checked where
  private env : Environment
  private kernel : Kernel.Environment
  private answers : NameMap Answer := {}

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

private structure Line where
  text : String := ""
  size : Nat := 0
  /-- Whether white space was read that is not written yet. -/
  gap : Bool := false

/-- A text on one line, and not all of it where it is long. -/
private def oneLine (text : String) : String :=
  let line := text.foldl (init := ({} : Line)) fun line c =>
    if line.size ≥ maxMessage then line
    else if c.isWhitespace then { line with gap := line.size > 0 }
    else
      let begun := if line.gap then line.text.push ' ' else line.text
      { text := begun.push c, size := line.size + 1 }
  line.text

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
  | .error error => return .error (oneLine (← (error.toMessageData {}).toString))

private inductive Work where
  | enter (name : Name)
  | leave (name : Name) (info : ConstantInfo) (plan : AddPlan)

private instance : Inhabited Work := ⟨.enter .anonymous⟩

/-- What a checker of an environment below knows of a name; throws where the environment has another in its place. -/
private def known? (below? : Option Checked) (checked : Checked) (name : Name) : Except Unit (Option Answer) := do
  let some below := below? | return none
  let some answer := below.answers.find? name | return none
  match answer.info?, checked.env.find? name with
  | some old, some new => unless isSameConstant old new do throw ()
  | some _, none => throw ()
  | none, _ => pure ()
  return some answer

/--
Adds again what constants rest on, as far as it was not. `base` is the kernel's environment of the library; `below?`
knows an environment that this one goes on from. The error is that a constant of `below?` was replaced.
-/
private def Checked.require (checked : Checked) (base : Kernel.Environment) (below? : Option Checked)
    (names : Array Name) (cancel? : Option IO.CancelToken) : IO (Except Unit Checked) := do
  let mut checked := checked
  let mut work := names.reverse.map Work.enter
  let answer (checked : Checked) (name : Name) (info? : Option ConstantInfo) (message? : Option String) : Checked :=
    let problem? := message?.map fun message => { constant := userText name, message }
    { checked with answers := checked.answers.insert name { info?, problem? } }
  while !work.isEmpty do
    let item := work.back!
    work := work.pop
    match item with
    | .enter name =>
      if checked.answers.contains name then continue
      match known? below? checked name with
      | .error () => return .error ()
      | .ok (some known) => checked := { checked with answers := checked.answers.insert name known }
      | .ok none =>
        if (base.find? name).isSome then
          checked := answer checked name none none
          continue
        let some info := checked.env.find? name
          | checked := answer checked name none "it is not there"
        -- for what is asked for before this is done
        checked := answer checked name info "it rests on itself"
        let plan := addPlan checked.env info
        work := work.push (.leave name info plan)
        work := work ++ plan.uses.reverse.map Work.enter
    | .leave name info plan =>
      let problem? := plan.uses.findSome? fun used => (checked.answers.find? used).bind (·.problem?)
      if let some problem := problem? then
        checked := { checked with answers := checked.answers.insert name { info? := info, problem? := some problem } }
        continue
      if let some declaration := plan.declaration? then
        match ← addToKernel checked.kernel declaration cancel? with
        | .ok kernel => checked := { checked with kernel }
        | .error message =>
          checked := answer checked name info message
          continue
      let made := (checked.kernel.find? name).isSome
      checked := answer checked name info (if made then none else "the kernel makes no such constant")
  return .ok checked

/-- A checker of an environment, which has added nothing yet. -/
def Checked.start (base : Kernel.Environment) (env : Environment) : Checked :=
  { env, kernel := base }

/--
What the kernel says of constants of an environment, with all that they rest on: none for each that it takes.

`library` is the environment of the library's modules; `ground` has checked constants of the environment that the text
began in, and comes back with more of them; `env` is that at the text's end.
-/
def kernelProblems (library : Environment) (ground : Checked) (env : Environment) (names : Array Name)
    (cancel? : Option IO.CancelToken := none) : IO (Array (Option Problem) × Checked) := do
  let base := library.toKernelEnv
  let below := ground.env
  let isOwn (name : Name) : Bool := (base.find? name).isNone && !below.contains name
  let beneath := (closureOf env names isOwn).filterMap fun (name, _) =>
    if isOwn name then none else some name
  let .ok ground ← ground.require base none beneath cancel? | unreachable!
  let problems (checked : Checked) := names.map fun name => (checked.answers.find? name).bind (·.problem?)
  match ← { ground with env, answers := {} : Checked }.require base (some ground) names cancel? with
  | .ok checked => return (problems checked, ground)
  | .error () =>
    let .ok checked ← (Checked.start base env).require base none names cancel? | unreachable!
    return (problems checked, ground)

end Dojo
