import Dojo.Beginnings
import Dojo.Pretty

/-!
# Modules of a project

If a text imports a module of which Lean finds no compiled file, the module is elaborated in memory: dependencies first,
and each only once while its source stays the same. On request, modules are imported from compiled files beside their
sources.

A module's source is in the project's folder, or in one of its source folders or packages. Nothing says in which, so it is
the file with the shortest path that ends with the module's own path.
-/

namespace Dojo

open Lean Elab

/-- Folders without sources; folders whose names begin with a dot have none either. -/
private def notSources : List String := ["build", "lake-packages", "node_modules"]

/-- The maximum depth of folders that are searched. -/
private def maxFolders : Nat := 16

private def inFolder (folder name : String) : String :=
  if folder.isEmpty then name else s!"{folder}/{name}"

/-- The subfolders of some folders of a project, sorted. -/
private def foldersIn (project : System.FilePath) (folders : Array String) : IO (Array String) := do
  let mut found := #[]
  for folder in folders do
    let place := if folder.isEmpty then project else project / folder
    unless ← place.isDir do continue
    for entry in ← place.readDir do
      let name := entry.fileName
      if name.startsWith "." || name.endsWith ".lean" || notSources.contains name then continue
      if ← entry.path.isDir then found := found.push (inFolder folder name)
  return found.qsort (· < ·)

/-- The file of a module, relative to the project. -/
def sourceOf? (project : System.FilePath) (module : Name) : IO (Option String) := do
  let own := s!"{"/".intercalate ((moduleText module).splitOn ".")}.lean"
  let isFile (file : String) : IO Bool := return (← (project / file).pathExists) && !(← (project / file).isDir)
  if ← isFile own then return some own
  let mut level := #["", ".lake/packages"]
  for _ in [0:maxFolders] do
    for folder in level do
      if !folder.isEmpty && (← isFile (inFolder folder own)) then return some (inFolder folder own)
    level ← foldersIn project level
    if level.isEmpty then return none
  return none

/-!
## `import all`

A text that imports all of a module may use its private names as the module itself does. Here, such a text is not a
`module` for Lean, so Lean would not look for them. They are opened, each under its name and under the ends of its name.
-/

/-- The names that a text declares, as they are written. -/
private def declaredIn (text : String) : List String :=
  let words := wordsOf text
  let declaring := ["theorem", "lemma", "def", "abbrev", "instance", "opaque", "axiom"]
  (words.zip (words.drop 1)).filterMap fun (word, next) => if declaring.contains word then some next else none

/-- The constants of an imported module; if it was not imported, of all modules that were elaborated in memory. -/
private def constantsOfModule (env : Environment) (module : Name) : Array Name :=
  match env.getModuleIdx? module with
  | some index => (env.header.moduleData[index.toNat]?.map (·.constNames)).getD #[]
  | none => (elaborated env).map (·.1)

/-- `A.b.c`: `A.b.c`, `b.c` and `c`. -/
private def endsOf (name : Name) : List Name :=
  let parts := name.components
  (List.range parts.length).map fun n => (parts.drop n).foldl (· ++ ·) .anonymous

/-- Lets a text use the private names of the modules `whole`, except those that it declares itself. -/
def openWhole (state : Command.State) (whole : Array Name) (text : String) : Command.State := Id.run do
  if whole.isEmpty then return state
  let declared := declaredIn text
  let isOwn (name : Name) : Bool := declared.any fun word => word == name.toString || word.endsWith s!".{name}"
  let mut opened := #[]
  for module in whole do
    let privates := .num (`_private ++ module) 0
    for name in constantsOfModule state.env module do
      let known := name.replacePrefix privates .anonymous
      unless privates.isPrefixOf name && !known.isInternalDetail do continue
      for ending in endsOf known do
        unless isOwn ending do opened := opened.push (.explicit ending name)
  let scope :: outer := state.scopes | return state
  return { state with scopes := { scope with openDecls := scope.openDecls ++ opened.toList } :: outer }

/-! ## Elaborating them in memory -/

/-- The number of elaborated chains of modules that are kept. -/
def maxChains : Nat := 512

/-- A module of the project, and its text. -/
structure Module where
  name : Name
  /-- Its path in the project. -/
  file : String
  text : String
  imports : Array Name

/-- The environment in which a text begins. -/
structure Base where
  env : Environment
  /-- A text that changes with it. -/
  key : String
  /-- The environment of the imported modules that it is built on. -/
  library : Environment
  /-- Whether all of it was imported, and nothing was elaborated in memory. -/
  isImported : Bool
  /-- The modules that were elaborated in memory, with the environments after them. -/
  owners : Array (Name × Environment) := #[]

/-- The module that elaborated a constant in memory. -/
def Base.moduleOf? (base : Base) (name : Name) : Option Name :=
  (base.owners.find? fun (_, env) => (env.find? name).isSome).map (·.1)

/-- A module of the project. -/
private def readModule? (module : Name) : DojoM (Option Module) := do
  let some project := (← read).project? | return none
  if (moduleText module).any fun c => c == '/' || c == '\\' then return none
  let some file ← (sourceOf? project module : IO (Option String)) | return none
  let text ← (IO.FS.readFile (project / file) : IO String)
  let header ← (parseHeader (.ofString text (moduleText module)) : IO Header)
  return some { name := module, file, text, imports := header.imports }

/-- The module of a file in the project. -/
def moduleOfFile? (fileName : String) : DojoM (Option Name) := do
  unless fileName.endsWith ".lean" do return none
  let folder := ((← read).project?.map fun project => s!"{project}/").getD ""
  let inside := if fileName.startsWith folder then behind folder fileName else fileName
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
  let plan ← found.imports.foldlM (init := plan) fun plan next => visitModule plan next (module :: trail)
  return { plan with own := plan.own.push found }

/-- The library modules that some imports need, and the project's own modules in the order in which to elaborate them. -/
private def modulePlan (imports : Array Name) : DojoM ModulePlan :=
  imports.foldlM (init := {}) fun plan module => visitModule plan module []

/--
Modules in an order in which each stands directly above what it imports, as far as that is possible: the module with the
longest chain of imports first, after its own imports. So most are elaborated on top of nothing else, and several texts share
what is elaborated for one of them. Lean's own order is that of the `import` lines, which matters if two modules that do not
import each other have instances for the same type.
-/
private def deepestFirst (own : Array Module) : Array Module := Id.run do
  let mut heights : Std.HashMap Name Nat := {}
  let mut modules : Std.HashMap Name Module := {}
  for module in own do
    let below := module.imports.foldl (init := 0) fun most name => max most (heights.getD name 0)
    heights := heights.insert module.name (below + 1)
    modules := modules.insert module.name module
  let (known, byName) := (heights, modules)
  let sorted (names : Array Name) : Array Name :=
    let keyed := names.filterMap fun name => known[name]?.map fun height => (height, moduleText name, name)
    (keyed.qsort fun a b => a.1 > b.1 || (a.1 == b.1 && a.2.1 < b.2.1)).map (·.2.2)
  let rec visit (fuel : Nat) (found : Array Module × NameSet) (name : Name) : Array Module × NameSet :=
    match fuel, byName[name]? with
    | fuel + 1, some module =>
      if found.2.contains name then found else
      let (above, seen) := (sorted module.imports).foldl (visit fuel) found
      (above.push module, seen.insert name)
    | _, _ => found
  return ((sorted (own.map (·.name))).foldl (visit own.size) (#[], {})).1

/-- A key that changes with the text of a module. -/
private def Module.key (module : Module) : String := s!"{module.name} {hash module.text} {module.text.utf8ByteSize}"

/-- The keys of the modules in memory that some imports need: their texts may change while the program runs. -/
def sourceKeys (imports : Array Name) : DojoM (Array String) := do
  return (← modulePlan imports).own.map (·.key)

/-- `include_str` looks in the folder of its file, and for Lean a bare file name has no folder. -/
def placeOf (fileName : String) : String :=
  if fileName.endsWith ".lean" && (fileName.splitOn "/").length == 1 then s!"./{fileName}" else fileName

/-- Begins a scope for local declarations, which no command of the text can end. -/
def inOwnScope (state : Command.State) : DojoM Command.State := return (← performCommand Lean.pushScope state).2

/--
What the elaborated part of a text depends on besides the text; the first line is the imported environment below it. The same
texts are elaborated as files, for their theorems, and as modules that others import.
-/
def familyOf (module? : Option Name) (source : SourceText) (base : Base) (whole : Array Name) (kernel : Bool)
    (options : List (String × Json) := []) : String :=
  let opened := if whole.isEmpty then [] else declaredIn source.lean
  s!"{base.key}\n{module?} {source.fileName} {whole} {opened} {kernel} {(record options).compress}"

/--
The environment after a module, and whether the module has errors. They are reported when the module itself is traced, not
here.
-/
private def elaborateModule (module : Module) (below : Base) (kernel : Bool) : DojoM (Environment × Bool) := do
  let source := SourceText.ofString module.text (placeOf module.file)
  let { whole, messages, parserState, .. } ← (parseHeader source : IO Header)
  let fresh ← commandState (← upToDate below.env) (module? := module.name)
  let state ← inOwnScope (openWhole (withKernel fresh kernel) whole module.text)
  let runs ← mustInitialise module.name
  let family := familyOf (some module.name) source below whole kernel
  let { state, messages, .. } ← elaborateTo family source (firstStop messages parserState state)
  if runs then discard <| initialise module.name state.env ((addedTo below.env state.env).map (·.1))
  initialised module.name
  -- its local declarations end with its own scope and those that it leaves open
  let (_, state) ← performCommand (state.scopes.forM fun _ => Lean.popScope) state
  return (← upToDate (← (← read).host.asImported state.env), messages.any isError)

/-- Runs an action while Lean finds the project's compiled modules beside their sources. -/
private def withProject {α} (project : System.FilePath) (act : DojoM α) : DojoM α := do
  let path ← (searchPathRef.get : BaseIO SearchPath)
  (searchPathRef.set (project :: path) : BaseIO Unit)
  try act finally (searchPathRef.set path : BaseIO Unit)

/-- A text that changes with the compiled modules; `none` if one of them is not compiled. -/
private def stamps? (project : System.FilePath) (own : Array Module) : IO (Option String) := do
  let mut stamps := ""
  for module in own do
    let file := modToFilePath project module.name "olean"
    unless ← file.pathExists do return none
    let data ← file.metadata
    stamps := s!"{stamps}\n{module.name} {repr data.modified} {data.byteSize}"
  return some stamps

/--
The environment of modules, some of which have compiled files beside their sources. Their initialisers run first, because
extensions may need what these register.
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
          if ← initialise module.name bare (declaredInitialisers data) then registered := true
      initialised module.name
    return registered
  let asImports (names : Array Name) : Array Import := names.map ({ module := · })
  kept s!"{imports} {stamps}" <| withProject project do
    loadModules (asImports imports) (asImports plan.library) initialiseOwn

/-- Whether an added constant looks as if Lean had avoided a name that was already taken. -/
private def evades (below env : Environment) : Bool :=
  (addedTo below env).any fun (name, _) =>
    match name with
    | .str parent ending => match ending.splitOn "_" with
      | pieces@(_ :: _ :: _) => (pieces.getLast!).isNat && below.contains (.str parent ("_".intercalate pieces.dropLast))
      | _ => false
    | _ => false

mutual

/--
Refuses a module that declares the same name as another one, with the message of Lean's import. Modules are elaborated on
top of others that they do not import, where such a name is an error. So this elaborates the module once more, on top of its
own imports only, to see what it declares.
-/
private partial def refuseClash (module : Module) (below : Base) (kernel : Bool) : DojoM Unit := do
  let base ← elaboratedBase (← modulePlan module.imports) kernel
  let (alone, _) ← elaborateModule module base kernel
  let clashing := (addedTo base.env alone).filterMap fun (name, info) => do
    let known ← below.env.find? name
    -- Lean's import accepts theorems with the same statement
    guard !((known matches .thmInfo _) && (info matches .thmInfo _) && known.levelParams == info.levelParams &&
      known.type == info.type)
    return name
  let some name := (clashing.qsort fun a b => nameText a < nameText b)[0]? | return
  let origin := (below.moduleOf? name <|> moduleOf? below.env name).getD .anonymous
  refuse "import" s!"import {moduleText module.name} failed, environment already contains '{nameText name}' from {
    moduleText origin}"

/-- The environment of a plan; the project's own modules are elaborated in memory. -/
private partial def elaboratedBase (plan : ModulePlan) (kernel : Bool) : DojoM Base := do
  let library ← importModules (plan.library.map ({ module := · }))
  let key := s!"{kernel} {(plan.library.map moduleText).qsort (· < ·)}"
  let mut base : Base := { env := library, key, library, isImported := plan.own.isEmpty }
  for module in deepestFirst plan.own do
    let key := s!"{base.key}\n{module.key}"
    let below := base
    let env ← cached (·.chains) (fun chains memory => { memory with chains }) maxChains key do
      let (env, failed) ← elaborateModule module below kernel
      if below.owners.any (!module.imports.contains ·.1) && (failed || evades below.env env) then
        refuseClash module below kernel
      return env
    base := { base with env, key, owners := base.owners.push (module.name, env) }
  return base

end

/--
The environment of some imports. With `compiled`, the project's modules are imported if all of them are compiled; those that
are elaborated in memory are given to the `kernel` or not.
-/
def baseOf (imports : Array Name) (compiled : Bool) (kernel : Bool) : DojoM Base := do
  let plan ← modulePlan imports
  if compiled && !plan.own.isEmpty then
    if let some project := (← read).project? then
      if let some stamps ← (stamps? project plan.own : IO (Option String)) then
        let env ← importBeside project imports plan stamps
        return { env, key := s!"beside {imports} {stamps}", library := env, isImported := true }
  elaboratedBase plan kernel

end Dojo
