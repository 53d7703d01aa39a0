import Dojo.Kernel
import Dojo.Request

/-!
# The session

What lives between requests: settings, the command state that goals are stated in, proof states, and environments. A
command is a function from a request to an answer in `DojoM`, which reads the session and may fail with a `Failure`.
-/

namespace Dojo

open Lean Elab

/-- Pantograph's options, with its defaults. -/
structure Settings where
  printJsonPretty := false
  printExprPretty := true
  printExprAST := false
  printDependentMVars := false
  noRepeat := false
  printAuxDecls := false
  printImplementationDetailHyps := false
  automaticMode := true
  /-- Milliseconds that a request may take; 0 for no limit. -/
  timeout := 0
  deriving ToJson, FromJson, Inhabited

/-- What the program needs of whoever runs it. -/
structure Host where
  /--
  Imports compiled modules. The second argument names those of them, or of what they import, that stay the same as long
  as the process lives: they may be read once for all environments.
  -/
  importModules : Array Import → Array Import → IO Environment
  /-- Sets a token when some milliseconds have passed, unless `disarm` comes first. -/
  arm : IO.CancelToken → Nat → IO Unit
  disarm : IO Unit
  /-- Further numbers for `stat`, such as resident memory in megabytes. -/
  memory : IO (List (String × Nat))
  /-- An environment that has room for all extensions that were registered since it was made. -/
  grown : Environment → IO Environment
  /--
  The environment behind a module that was elaborated, as one that imports it would see it. Lean refuses a second name
  that differs from a known one in the prefix of private names alone; that is right within one module only.
  -/
  asImported : Environment → IO Environment
  /-- Lets the extensions of an environment that was imported without them read their parts of its modules. -/
  extended : Environment → IO Environment
  /-- Whether it has seen that a program of a text ran. A host that sees nothing of the kind says no. -/
  ranProgram : IO Bool
  /-- So many imported environments are kept. -/
  maxEnvironments : Nat
  /--
  Whether `importModules` does all that there is to do. If not, modules are imported without their extensions; then
  their `initialize` commands run, then comes `extended`.
  -/
  initialises : Bool

/-- A goal whose next step is not a tactic: inside `conv`, or in a chain of `calc`. -/
inductive Fragment where
  /-- A chain of `calc`, with its last right-hand side. -/
  | calc (goal : MVarId) (previous? : Option Expr)
  /-- A goal that waits while a `conv` block rewrites it to `right`. -/
  | conv (goal : MVarId) (right proof : Expr)
  /-- A goal inside the `conv` block of `parent`. -/
  | part (goal parent : MVarId)
  deriving Inhabited

def Fragment.goal : Fragment → MVarId
  | .calc goal _ | .conv goal _ _ | .part goal _ => goal

/-- Contexts and states that a `TermElabM` action runs with. -/
structure Monads where
  termContext : Term.Context
  metaContext : Meta.Context
  coreContext : Core.Context
  termState : Term.State
  metaState : Meta.State
  coreState : Core.State

/-- A state of a proof, kept between requests. -/
structure ProofState where
  monads : Monads
  /-- The imported environment that all of it is built on. -/
  library : Environment
  /-- The open goals, in order. -/
  goals : List MVarId
  /-- The goal that all began with. -/
  root : MVarId
  /--
  Metavariables that are no goals but may stay open: goals that were set aside, and what the goals spoke of when the
  state was opened. `none` for a state just opened.
  -/
  outside? : Option (List MVarId) := none
  /-- Metavariables that are left open in the proofs so far and that only the goals speak of. -/
  owed : List MVarId := []
  /-- The goals that the last step took away. -/
  parents : List MVarId := []
  fragments : List Fragment := []
  /-- Constants that no proof from here may use: the theorem itself, and what rests on it. -/
  forbidden : NameSet := {}

def ProofState.env (state : ProofState) : Environment := state.monads.coreState.env
def ProofState.mctx (state : ProofState) : MetavarContext := state.monads.metaState.mctx

/-- An environment that was imported, and what it was made of. -/
structure Imported where
  /-- What was asked for, and what it depends on. -/
  key : String
  env : Environment

/-- The elaborated beginning of a text. -/
structure Beginning where
  /-- Of what it is a beginning: module, options, sources of its imports. -/
  family : String
  text : String
  parserState : Parser.ModuleParserState
  state : Command.State
  messages : Array Json
  used : Nat := 0

/-- Everything that lives between requests. -/
structure Session where
  host : Host
  /-- The project's folder, whose modules texts may import. -/
  project? : Option System.FilePath
  /-- Lean options of the command line: names and values. -/
  options : List (String × Json)
  settings : IO.Ref Settings
  /-- The environment and scope that goals are stated in. -/
  command : IO.Ref Command.State
  /-- The imported environment that `command` is built on. -/
  library : IO.Ref Environment
  states : IO.Ref (Std.HashMap Nat ProofState)
  nextState : IO.Ref Nat
  /-- Imported environments, the least recently used first. -/
  environments : IO.Ref (Array Imported)
  /-- How often an environment was there already, and how often it had to be imported. -/
  imports : IO.Ref (Nat × Nat)
  /-- Elaborated modules of the project, the least recently used first. -/
  chains : IO.Ref (Array Imported)
  /-- Modules whose `initialize` commands have run, and the error that they ended with. -/
  initialised : IO.Ref (List (Name × Option String))
  /-- Whether something was registered with Lean since the start. -/
  registered : IO.Ref Bool
  /-- Elaborated beginnings of texts, the least recently used first. -/
  beginnings : IO.Ref (Array Beginning)
  /-- What the kernel was seen to take of environments that texts begin in, the least recently used first. -/
  grounds : IO.Ref (Array Checked)
  /-- Whether the syntax of a text may have had a program run: see `Dojo.Taint`. -/
  tainted : IO.Ref Bool
  /-- Whether an answer has said so. -/
  told : IO.Ref Bool
  /-- Set when the present request has taken too long. -/
  cancel : IO.Ref (Option IO.CancelToken)

/-- What a command runs in. -/
abbrev DojoM := ReaderT Session (EIO Failure)

instance : MonadLift IO DojoM where
  monadLift act := fun _ => act.toEIO fun error => { kind := "io", desc := toString error }

/-- Ends a request with an error of a kind. -/
def refuse {α} (kind desc : String) : DojoM α := throw { kind, desc }

/-- The value, or the error of a kind. -/
def orRefuse {α} (kind : String) : Except String α → DojoM α
  | .ok value => return value
  | .error desc => refuse kind desc

def settings : DojoM Settings := do (← read).settings.get

/-- Whether a program of a text may have run in this process. -/
def Session.isTainted (session : Session) : IO Bool := do
  if ← session.host.ranProgram then session.tainted.set true
  session.tainted.get

/-- The environment of the session. -/
def sessionEnv : DojoM Environment := do return (← (← read).command.get).env

/-- Replaces the command state of the session. -/
def setCommand (state : Command.State) (library : Environment) : DojoM Unit := do
  (← read).command.set state
  (← read).library.set library

/-- Puts something last into a cache of so many, in place of its old version. The first is the least recently used. -/
def keepLast {α} (cache : IO.Ref (Array α)) (limit : Nat) (isOld : α → Bool) (one : α) : BaseIO Unit :=
  cache.modify fun all =>
    let others := all.filter (!isOld ·)
    (others.extract (others.size + 1 - limit) others.size).push one

/-- A command of the protocol. -/
structure Command where
  name : String
  fields : List Field := []
  run : Request → DojoM Json

/-- So many environments that texts begin in are remembered, with what the kernel was seen to take of them. -/
private def maxGrounds : Nat := 64

/--
What the kernel says of constants of `env`, which began as `below`; both are built on `library`. A long beginning of a text
is given to the kernel once, and not for each proof behind it.
-/
def problemsOf (library below env : Environment) (names : Array Name) : DojoM (Array (Option Problem)) := do
  if names.isEmpty then return #[]
  let grounds := (← read).grounds
  let known? := (← grounds.get).find? fun one => samePointer one.env below
  let ground := known?.getD (.start library.toKernelEnv below)
  let (problems, ground) ← (kernelProblems library ground env names (← (← read).cancel.get) : IO _)
  keepLast grounds maxGrounds (samePointer ·.env below) ground
  return problems

end Dojo
