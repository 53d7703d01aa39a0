import Dojo.Export

/-!
# The session

A session is the state between requests: settings, the command state in which goals are stated, proof states, and
environments. A command is a function from a request to an answer in `DojoM`, which reads the session and may fail with a
`Failure`.
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

/-- The functions that the program needs from its host. -/
structure Host where
  /--
  Imports compiled modules. The second argument names those, among them and their imports, that do not change during the
  life of the process, so that they need to be read only once for all environments.
  -/
  importModules : Array Import → Array Import → IO Environment
  /-- Sets a token after some milliseconds, unless `disarm` is called first. -/
  arm : IO.CancelToken → Nat → IO Unit
  disarm : IO Unit
  /-- Further numbers for `stat`, such as resident memory in megabytes. -/
  memory : IO (List (String × Nat))
  /-- The environment with room for all extensions that were registered since it was made. -/
  grown : Environment → IO Environment
  /--
  The environment after an elaborated module, as a module that imports it would see it. Lean refuses a name that differs
  from a known one only in the prefix of private names, which is right only within one module.
  -/
  asImported : Environment → IO Environment
  /-- Loads the extensions of an environment that was imported without them. -/
  extended : Environment → IO Environment
  /-- The number of imported environments that are kept. -/
  maxEnvironments : Nat
  /--
  Whether `importModules` also runs `initialize` commands and loads extensions. If not, modules are imported without their
  extensions, then the program runs their `initialize` commands, then it calls `extended`.
  -/
  initialises : Bool

/-- A goal whose next step is not a tactic, because it is inside `conv` or in a chain of `calc`. -/
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
  /-- The imported environment that it is built on. -/
  library : Environment
  /-- The open goals, in order. -/
  goals : List MVarId
  /-- The goal that the proof began with. -/
  root : MVarId
  /--
  Metavariables that are not goals but may stay open: goals that were set aside, and those that the goals mentioned when
  the state was opened. `none` for a state just opened.
  -/
  outside? : Option (List MVarId) := none
  /-- Metavariables that the proofs so far leave open, and that only the goals mention. -/
  owed : List MVarId := []
  /-- The goals that the last step closed. -/
  parents : List MVarId := []
  fragments : List Fragment := []
  /-- Constants that no proof from here may use: the theorem itself, and those that depend on it. -/
  forbidden : NameSet := {}
  /-- Whether it was loaded, or follows a loaded state, so that its proof so far is only a claim. -/
  isClaim : Bool := false

def ProofState.env (state : ProofState) : Environment := state.monads.coreState.env
def ProofState.mctx (state : ProofState) : MetavarContext := state.monads.metaState.mctx

/-- A place between two commands of a text, and the state there. -/
structure Stop where
  parserState : Parser.ModuleParserState
  state : Command.State
  /-- The messages of the command before it. -/
  messages : Array SerialMessage
  /-- Whether the parser had no complaint about the command before it. -/
  isClean : Bool

/-- What was elaborated of a text. -/
structure Beginning where
  /-- What that depends on besides the text; see `familyOf`. -/
  family : String
  /-- The text in which they were elaborated, or one that has the same stops. -/
  text : String
  /-- From the place before the first command on. -/
  stops : Array Stop

/-- One command of a text. -/
structure Elaborated where
  /-- Its beginning, in bytes of Lean's text. -/
  start : Nat
  /-- Its end, including white space after it. -/
  stop : Nat
  stx : Syntax
  messages : Array SerialMessage
  trees : List InfoTree
  before : Command.State
  after : Command.State
  /-- The state of the parser after it. -/
  next : Parser.ModuleParserState
  /-- Whether the parser had no complaint about it. -/
  isClean : Bool

/-- Commands after a beginning that were elaborated to open a state. -/
structure Visited where
  family : String
  text : String
  start : Nat
  units : Array Elaborated := #[]

/-- A context that was given to a judge, as far as the kernel has accepted it on top of the library's modules. -/
structure Ground where
  imports : Array Name
  court : Court
  /-- For each name, the client's number of its declaration. -/
  keys : NameMap Nat := {}

/-- What a session remembers between requests. -/
structure Memory where
  settings : Settings := {}
  /-- The environment and the scope in which goals are stated. -/
  command : Command.State
  /-- The imported environment that `command` is built on. -/
  library : Environment
  states : Std.HashMap Nat ProofState := {}
  nextState : Nat := 0
  /-- Imported environments by what was requested, the least recently used first. -/
  environments : Array (String × Environment) := #[]
  /-- How often an environment was in the cache, and how often it had to be imported. -/
  imports : Nat × Nat := (0, 0)
  /-- Elaborated modules of the project by what they depend on, the least recently used first. -/
  chains : Array (String × Environment) := #[]
  /-- Modules whose `initialize` commands have run, each with the error that they ended with, if any. -/
  initialised : List (Name × Option String) := []
  /-- Whether something was registered with Lean since the start. -/
  registered : Bool := false
  /-- What was elaborated of texts, the least recently used first. -/
  beginnings : Array Beginning := #[]
  /-- The last text that has passed `sizeProblem?`, and from which byte on. -/
  sized : String × Nat := ("", 0)
  /-- The commands in which the last states were opened, the least recently used first. -/
  visited : Array Visited := #[]
  /-- What was exported of contexts. -/
  exported : Exported := {}
  /-- Declarations of contexts that were given to the judge, by the client's numbers. -/
  contexts : Std.HashMap Nat Declaration := {}
  /-- What the kernel has accepted of them, the least recently used first. -/
  grounds : Array Ground := #[]
  /-- A token that is set when the current request has taken too long. -/
  cancel : Option IO.CancelToken := none

structure Session where
  host : Host
  /-- The project's folder, whose modules texts may import. -/
  project? : Option System.FilePath
  /-- Lean options of the command line: names and values. -/
  options : List (String × Json)
  memory : IO.Ref Memory

abbrev DojoM := ReaderT Session (EIO Failure)

instance : MonadLift IO DojoM where
  monadLift act := fun _ => act.toEIO fun error => { error := "io", desc := toString error }

instance : MonadStateOf Memory DojoM where
  get := do (← read).memory.get
  set memory := do (← read).memory.set memory
  modifyGet change := do (← read).memory.modifyGet change

instance : ToString Failure := ⟨(·.desc)⟩

/-- Ends a request with an error of the given kind. -/
def refuse {α} (error desc : String) : DojoM α := throw { error, desc }

/-- Returns the value, or ends the request with an error of the given kind. -/
def orRefuse {α} (kind : String) : Except String α → DojoM α
  | .ok value => return value
  | .error desc => refuse kind desc

def settings : DojoM Settings := return (← get).settings

def sessionEnv : DojoM Environment := return (← get).command.env

/-- Replaces the command state of the session. -/
def setCommand (command : Command.State) (library : Environment) : DojoM Unit :=
  modify ({ · with command, library })

/-- Puts an entry at the end of a bounded cache, in place of its old version. The first entry is the least recently used. -/
def keepLast {α} (all : Array α) (limit : Nat) (isOld : α → Bool) (one : α) : Array α :=
  let others := all.filter (!isOld ·)
  (others.extract (others.size + 1 - limit) others.size).push one

/-- What the kernel objects to in some constants that `env` has beyond `base`. -/
def objection? (base env : Environment) (names : Array Name) : DojoM (Option String) := do
  let problem? ← problemBeyond? base env names (← get).cancel
  return problem?.map fun problem => s!"the kernel refuses {problem.constant}: {problem.message}"

structure Command where
  name : String
  fields : List Field := []
  run : Request → DojoM Json

end Dojo
