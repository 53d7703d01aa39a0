import Dojo.Environments
import Dojo.States

/-!
# `goal.save`, `goal.load`, `env.save`, `env.load`: states and environments as text

The text is a line with a hash, followed by JSON. It is parsed strictly, and the kernel checks the constants in it
again.
-/

namespace Dojo

open Lean Elab Meta

/-- The version of the format. -/
private def format : Nat := 3

private def pack (what : String) (body : Json) : Json :=
  let text := (body.setObjVal! "what" (.str what) |>.setObjVal! "format" (toJson format)).compress
  record [("packed", .str s!"{hash text}\n{text}")]

private def unpack (what packed : String) : Except String Json := do
  let sum :: rest := packed.splitOn "\n" | throw "the file is damaged"
  let text := "\n".intercalate rest
  unless sum == toString (hash text) do throw "the file is damaged"
  let json ← Json.parse text
  unless json.getObjValD "what" == .str what && json.getObjValD "format" == toJson format do
    throw "the file contains something other than what was requested"
  return json

/-- Writes what an environment has beyond another one. -/
private def writeAdded (base env : Environment) : TablesM Json := do
  let names := (addedTo base env).map (·.1)
  return .arr (← (declarationsToWrite env base.toKernelEnv names).mapM fun (_, one) => writeDeclaration one)

private def writeMVars (goals : List MVarId) : TablesM Json := do
  return toJson (← goals.mapM fun goal => writeName goal.name)

/-- Each kind has the number of its place. -/
private def localKinds : Array LocalDeclKind := #[.default, .implDetail, .auxDecl]

private def writeLocal (decl : LocalDecl) : TablesM Json := do
  let shared : List Json := [
    ← writeName decl.fvarId.name, ← writeName decl.userName, ← writeExpr decl.type, localKinds.idxOf decl.kind]
  match decl with
  | .cdecl .. => return .arr (.str "hypothesis" :: shared ++ [toJson decl.binderInfo.toUInt64.toNat]).toArray
  | .ldecl _ _ _ _ value nondep _ =>
    return .arr (.str "let" :: shared ++ [toJson (← writeExpr value), .bool nondep]).toArray

private def writeMVar (goal : MVarId) (decl : MetavarDecl) : TablesM Json := do
  let locals ← (decl.lctx.decls.toArray.filterMap id).mapM writeLocal
  let instances ← decl.localInstances.mapM fun one => return toJson [← writeName one.className, ← writeExpr one.fvar]
  let kind : Nat := match decl.kind with
    | .natural => 0
    | .synthetic => 1
    | .syntheticOpaque => 2
  return .arr #[
    ← writeName goal.name, ← writeName decl.userName, .arr locals, .arr instances, ← writeExpr decl.type, kind,
    decl.numScopeArgs]

private def writeMetavariables (mctx : MetavarContext) : TablesM (List (String × Json)) := do
  let decls := (mctx.decls.toList.toArray.qsort fun a b => a.2.index < b.2.index)
  let rows ← decls.mapM fun (goal, decl) => writeMVar goal decl
  let assigned ← mctx.eAssignment.toList.mapM fun (goal, e) => return toJson [← writeName goal.name, ← writeExpr e]
  let delayed ← mctx.dAssignment.toList.mapM fun (goal, value) => return Json.arr #[
    ← writeName goal.name, toJson (← value.fvars.mapM writeExpr), ← writeName value.mvarIdPending.name]
  let levels ← (declaredLevels mctx).mapM fun id => writeName id.name
  let levelValues ← mctx.lAssignment.toList.mapM fun (id, l) => return toJson [← writeName id.name, ← writeLevel l]
  return [
    ("mvars", .arr rows), ("assigned", .arr assigned.toArray),
    ("delayed", .arr delayed.toArray), ("levelMVars", toJson levels), ("levelValues", .arr levelValues.toArray)]

private def writeState (state : ProofState) (base : Environment) : TablesM (List (String × Json)) := do
  let ngen := state.monads.coreState.ngen
  let outside ← match state.outside? with
    | none => pure Json.null
    | some outside => writeMVars outside
  return (← writeMetavariables state.mctx) ++ [
    ("constants", ← writeAdded base state.env),
    ("ngen", toJson [← writeName ngen.namePrefix, ngen.idx]),
    ("levelNames", toJson (← state.monads.termState.levelNames.mapM writeName)),
    ("goals", ← writeMVars state.goals), ("root", ← writeMVars [state.root]), ("outside", outside),
    ("owed", ← writeMVars state.owed), ("parents", ← writeMVars state.parents)]

private def saveGoal (request : Request) : DojoM Json := do
  let state ← getState (request.nat "id")
  unless state.fragments.isEmpty do refuse "operation" "a state in conv or calc mode cannot be saved"
  unless state.forbidden.isEmpty do refuse "operation" "a state inside the proof of a file cannot be saved"
  let (body, tables) := (writeState state (← sessionEnv)).run {}
  return pack "goal" (record (tables.members ++ body))

/-! ## Reading -/

private def readMVars (read : Read) (json : Json) : Except String (List MVarId) := do
  (← json.getArr?).toList.mapM fun one => return ⟨← read.name one⟩

private def readKind (json : Json) : Except String LocalDeclKind :=
  return localKinds[← json.getNat?]?.getD .default

private def readLocal (read : Read) (lctx : LocalContext) (json : Json) : Except String LocalContext := do
  match (← json.getArr?).toList with
  | [.str "hypothesis", id, name, type, kind, info] =>
    let some info := Read.infoOf? (← info.getNat?) | throw "not a kind of binder"
    return lctx.mkLocalDecl ⟨← read.name id⟩ (← read.name name) (← read.expr type) info (← readKind kind)
  | [.str "let", id, name, type, kind, value, .bool nondep] =>
    return lctx.mkLetDecl ⟨← read.name id⟩ (← read.name name) (← read.expr type) (← read.expr value) nondep
      (← readKind kind)
  | _ => throw "not a hypothesis"

private def readMVar (read : Read) (mctx : MetavarContext) (json : Json) : Except String MetavarContext := do
  let #[id, userName, locals, instances, type, kind, scope] ← json.getArr? | throw "not a metavariable"
  let lctx ← (← locals.getArr?).foldlM (readLocal read) {}
  let instances ← (← instances.getArr?).mapM fun one => do
    let #[className, fvar] ← one.getArr? | throw "not an instance"
    return ({ className := ← read.name className, fvar := ← read.expr fvar } : LocalInstance)
  let kind := match ← kind.getNat? with
    | 0 => MetavarKind.natural
    | 1 => .synthetic
    | _ => .syntheticOpaque
  return mctx.addExprMVarDecl ⟨← read.name id⟩ (← read.name userName) lctx instances (← read.expr type) kind
    (← scope.getNat?)

private def readMetavariables (read : Read) (json : Json) : Except String MetavarContext := do
  let rows (name : String) : Except String (Array Json) := json.getObjVal? name >>= Json.getArr?
  let pairs (name : String) : Except String (Array (Json × Json)) := json.getObjValAs? _ name
  let mut mctx ← (← rows "mvars").foldlM (readMVar read) {}
  for one in ← rows "levelMVars" do mctx := mctx.addLevelMVarDecl ⟨← read.name one⟩
  for (id, level) in ← pairs "levelValues" do
    mctx := { mctx with lAssignment := mctx.lAssignment.insert ⟨← read.name id⟩ (← read.level level) }
  for (id, e) in ← pairs "assigned" do
    mctx := { mctx with eAssignment := mctx.eAssignment.insert ⟨← read.name id⟩ (← read.expr e) }
  for one in ← rows "delayed" do
    let #[id, fvars, pending] ← one.getArr? | throw "not an assignment"
    let fvars ← (← fvars.getArr?).mapM read.expr
    let value := { fvars, mvarIdPending := ⟨← read.name pending⟩ }
    mctx := { mctx with dAssignment := mctx.dAssignment.insert ⟨← read.name id⟩ value }
  return mctx

private def readAdded (read : Read) (json : Json) : Except String (List Declaration) := do
  (← (← json.getObjVal? "constants").getArr?).toList.mapM (readDeclaration read)

/-- Adds declarations through the kernel, except those that are already there. -/
private def addDeclarations (declarations : List Declaration) : CoreM Unit := do
  for declaration in declarations do
    let names := (partsOfDeclaration declaration).1
    if names.any (← getEnv).contains then continue
    if declaration matches .inductDecl .. then
      throwError "{names.getD 0 .anonymous} cannot be loaded, because it is an inductive type; load its text"
    addDecl declaration

private def readState (json : Json) (monads : Monads) (library : Environment) :
    Except String (ProofState × List Declaration) := do
  let read ← Read.tables json (closed := false)
  let #[start, index] ← (← json.getObjVal? "ngen").getArr? | throw "not a name generator"
  let mctx ← readMetavariables read json
  let levelNames ← (← (← json.getObjVal? "levelNames").getArr?).toList.mapM read.name
  let mvars (name : String) : Except String (List MVarId) := do readMVars read (← json.getObjVal? name)
  let root :: _ ← mvars "root" | throw "the state has no root"
  let outside? ← match ← json.getObjVal? "outside" with
    | .null => pure none
    | outside => some <$> readMVars read outside
  let monads := { monads with
    termState.levelNames := levelNames
    metaState.mctx := mctx
    coreState.ngen := { namePrefix := ← read.name start, idx := ← index.getNat? } }
  let goals ← mvars "goals"
  unless (root :: goals).all fun goal => (mctx.findDecl? goal).isSome do throw "a goal is missing"
  let state := { monads, library, goals, root, outside?, owed := ← mvars "owed", parents := ← mvars "parents" }
  return (state, ← readAdded read json)

private def loadGoal (request : Request) : DojoM Json := do
  let json ← orRefuse "io" (unpack "goal" (request.text "packed"))
  let monads ← Monads.ofCommand (← get).command
  let (state, declarations) ← orRefuse "io" (readState json monads (← get).library)
  let (_, monads) ← state.monads.run (kind := "operation") (addDeclarations declarations)
  let id ← keepState { state with monads := monads.withoutMessages, isClaim := true }
  return record [("id", toJson id)]

private def saveEnv (_ : Request) : DojoM Json := do
  let env ← sessionEnv
  for one in env.imports do
    unless ← (isCompiled one.module : IO Bool) do
      refuse "operation" s!"{one.module} was read from its source; import it again"
  let base ← importModules env.imports
  let write : TablesM (List (String × Json)) := do
    return [("constants", ← writeAdded base env),
      ("imports", toJson (← env.imports.toList.mapM fun one => writeName one.module))]
  let (body, tables) := write.run {}
  return pack "environment" (record (tables.members ++ body))

private def loadEnv (request : Request) : DojoM Json := do
  let json ← orRefuse "io" (unpack "environment" (request.text "packed"))
  let (imports, declarations) ← orRefuse "io" do
    let read ← Read.tables json (closed := true)
    return (← (← (← json.getObjVal? "imports").getArr?).mapM read.name, ← readAdded read json)
  let base ← importModules (imports.map ({ module := · }))
  let start ← commandState base
  let monads ← Monads.ofCommand start
  let (_, monads) ← monads.run (kind := "operation") (addDeclarations declarations)
  let env := monads.coreState.env
  setCommand { start with env } base
  return record []

def pickleCommands : List Command := [
  { name := "goal.save", run := saveGoal, fields := [required .natural "id"] },
  { name := "goal.load", run := loadGoal, fields := [required .text "packed"] },
  { name := "env.save", run := saveEnv },
  { name := "env.load", run := loadEnv, fields := [required .text "packed"] }
]

end Dojo
