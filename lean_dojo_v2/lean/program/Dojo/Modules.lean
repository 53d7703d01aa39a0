import Dojo.Environments
import Dojo.Initialisers
import Dojo.Sources
import Dojo.ImportAll

/-!
# Modules of a project

A text that imports a module which Lean does not find compiled is elaborated on top of it, in memory: dependencies first,
each once for as long as its text stays the same. Who asks for it gets modules that were compiled beside their sources.
-/

namespace Dojo

open Lean Elab

/-- So many elaborated chains of modules are kept. -/
def maxChains : Nat := 64

/-- A module of the project, and its text. -/
structure Module where
  name : Name
  /-- Where it lies in the project. -/
  file : String
  text : String

/-- What a text begins in. -/
structure Base where
  env : Environment
  /-- The environment of the imported modules that it is built on. -/
  library : Environment
  /-- Whether all of it was imported, and nothing elaborated in memory. -/
  isImported : Bool
  /-- What was elaborated in memory: modules, and the environments behind them. -/
  owners : Array (Name × Environment) := #[]

/-- The module that elaborated a constant in memory. -/
def Base.moduleOf? (base : Base) (name : Name) : Option Name :=
  (base.owners.find? fun (_, env) => (env.find? name).isSome).map (·.1)

/-- A module of the project. -/
private def readModule? (module : Name) : DojoM (Option Module) := do
  let some project := (← read).project? | return none
  if (moduleText module).any fun c => c == '/' || c == '\\' then return none
  let some file ← (sourceOf? project module : IO (Option String)) | return none
  return some { name := module, file, text := ← (IO.FS.readFile (project / file) : IO String) }

/-- The module that a file of the project is. -/
def moduleOfFile? (fileName : String) : DojoM (Option Name) := do
  unless fileName.endsWith ".lean" do return none
  let inside := match (← read).project? with
    | some project =>
      let folder := s!"{project}/"
      if fileName.startsWith folder then behind folder fileName else fileName
    | none => fileName
  if inside.startsWith "/" || inside.startsWith ".." then return none
  let parts := (extractBytes inside 0 (inside.utf8ByteSize - 5)).splitOn "/" |>.filter (fun p => p != "." && p != "")
  return some (parts.foldl (init := .anonymous) .str)

private structure ModulePlan where
  library : Array Name := #[]
  own : Array Module := #[]

private partial def visitModule (plan : ModulePlan) (module : Name) (trail : List Name) : DojoM ModulePlan := do
  if plan.library.contains module || plan.own.any (·.name == module) then return plan
  if trail.contains module then
    let cycle := (trail.takeWhile (· != module)).reverse
    let names := ([module] ++ cycle ++ [module]).map moduleText
    refuse "import" s!"import cycle: {" → ".intercalate names}"
  if ← (isCompiled module : IO Bool) then return { plan with library := plan.library.push module }
  let some found ← readModule? module | unknownModule module trail.head?
  let header ← (parseHeader (.ofText (.ofString found.text) (moduleText module)) : IO Header)
  let plan ← header.imports.foldlM (init := plan) fun plan next => visitModule plan next (module :: trail)
  return { plan with own := plan.own.push found }

/-- The imported modules among what some imports stand for, and the project's own in the order to elaborate. -/
private def modulePlan (imports : Array Name) : DojoM ModulePlan :=
  imports.foldlM (init := {}) fun plan module => visitModule plan module []

/-- The texts behind some imports, as far as they are elaborated in memory: they change while the program runs. -/
def sourcesOf (imports : Array Name) : DojoM (Array Module) := do
  return (← modulePlan imports).own

private def runText (text : String) (state : Command.State) : DojoM Command.State := do
  return (← runSource (.ofText (.ofString text) "<engine>") {} state fun _ => return false).2

/-- Closes what a module leaves open, so that what is local to it ends with it. -/
private partial def closeScopes (module : Name) (state : Command.State) : DojoM Command.State := do
  let scope :: _ :: _ := state.scopes | return state
  let next ← runText s!"end {scope.header}" state
  if next.scopes.length == state.scopes.length then refuse "import" s!"{moduleText module}: cannot close its scopes"
  closeScopes module next

/-- What a module adds to an environment. Its errors are its own affair: they are reported when it is traced itself. -/
private def elaborateModule (module : Module) (below : Environment) : DojoM Environment := do
  let session ← read
  let source := Source.ofText (.ofString module.text) s!"./{module.file}"
  let header ← (parseHeader source : IO Header)
  let options ← MonadExcept.ofExcept (withLimits session.options [])
  let fresh := openWhole (← commandState below options module.name) header.whole module.text
  let start ← runText "section" fresh
  let runs ← mustInitialise module.name
  let (_, state) ← runSource source header.parserState start fun unit => do
    if runs then discard <| initialise module.name unit.after.env (unit.added.map (·.1))
    return false
  initialised module.name
  let state ← closeScopes module.name state
  upToDate (← session.host.asImported state.env)

private def chained (key : String) (module : Module) (below : Environment) : DojoM Environment := do
  let chains := (← read).chains
  if let some env ← Imported.find? chains key then return env
  let env ← elaborateModule module below
  Imported.keep chains maxChains key env
  return env

/-- Runs an action while Lean finds the project's compiled modules beside their sources. -/
private def withProject {α} (project : System.FilePath) (act : DojoM α) : DojoM α := do
  let path ← (searchPathRef.get : BaseIO SearchPath)
  (searchPathRef.set (project :: path) : BaseIO Unit)
  let result ← try Except.ok <$> act catch failure => pure (.error failure)
  (searchPathRef.set path : BaseIO Unit)
  MonadExcept.ofExcept result

/-- What changes when a compiled module does; `none` where one of them is not compiled. -/
private def stamps? (project : System.FilePath) (own : Array Module) : IO (Option String) := do
  let mut stamps := ""
  for module in own do
    let file := modToFilePath project module.name "olean"
    unless ← file.pathExists do return none
    let data ← file.metadata
    stamps := s!"{stamps}\n{module.name} {repr data.modified} {data.byteSize}"
  return some stamps

/--
The environment of modules some of which lie compiled beside their sources. Their initialisers come first, for what an
extension has imported may be a thing that they register.
-/
private def importBeside (project : System.FilePath) (imports : Array Name) (plan : ModulePlan) (stamps : String) :
    DojoM Environment := do
  let session ← read
  let initialiseOwn (bare : Environment) : DojoM Bool := do
    if session.host.initialises then return false
    let mut registered := false
    for module in plan.own do
      if ← mustInitialise module.name then
        let index := bare.allImportedModuleNames.findIdx? (· == module.name)
        if let some data := index.bind fun i => bare.header.moduleData[i]? then
          if ← initialise module.name bare (declaredInitialisers bare data) then registered := true
      initialised module.name
    return registered
  let asImports (names : Array Name) : Array Import := names.map ({ module := · })
  kept s!"{imports} {stamps}" <| withProject project do
    loadModules (asImports imports) (asImports plan.library) initialiseOwn

/-- The environment of some imports. With `compiled`, the project's modules come compiled where all of them are. -/
def baseOf (imports : Array Name) (compiled := false) : DojoM Base := do
  let plan ← modulePlan imports
  if compiled && !plan.own.isEmpty then
    if let some project := (← read).project? then
      if let some stamps ← (stamps? project plan.own : IO (Option String)) then
        let env ← importBeside project imports plan stamps
        return { env, library := env, isImported := true }
  let library ← importModules (plan.library.map ({ module := · }))
  let mut env := library
  let mut owners := #[]
  let mut key := s!"{(plan.library.map moduleText).qsort (· < ·)}"
  for module in plan.own do
    key := s!"{key}\n{module.name} {hash module.text} {module.text.utf8ByteSize}"
    env ← chained key module env
    owners := owners.push (module.name, env)
  return { env, library, isImported := plan.own.isEmpty, owners }

end Dojo
