import Dojo.Canonical
import Dojo.Files
import Dojo.Parts

/-!
# `dojo.check` and `dojo.judge`: what declarations depend on

`dojo.check` elaborates a text and exports its constants as data; the rest of its answer is only a report. `dojo.judge`
elaborates nothing: the kernel adds each exported declaration to the library's environment, and the judge reads axioms and
statements from what the kernel accepted.
-/

namespace Dojo

open Lean Elab

/--
The Lean name of what a user calls `written`: the private name in this module, which hides a public constant of the
library just as in the text, or else the name itself.
-/
private def lookUp (env : Environment) (written : String) : Option Name :=
  let name := written.toName
  [mkPrivateName env name, name].find? fun candidate => (env.find? candidate).isSome

/--
The added constants that are declared in the text, each as the user writes it, and where it begins: Lean itself makes others
(equation lemmas, matchers, parts of proofs). If a program made two constants that are written alike, the second is listed
under its exact name.
-/
private def writtenIn (env : Environment) (added : Array (Name × ConstantInfo)) :
    Array (String × Option Name × Option Position) := Id.run do
  let mut found := #[]
  let mut taken : Std.HashSet String := {}
  for (name, _) in added do
    let some ranges := rangesOf? env name | continue
    let user := userText name
    let written := if taken.contains user then exactName name else user
    taken := taken.insert written
    found := found.push (written, some name, some ranges.range.pos)
  return found

private def constantJson (name : Name) (info : ConstantInfo) : Json :=
  let hasSorry := info.type.hasSorry || valueHasSorry info
  record [("name", .str (userText name)), ("kind", .str (kindWord info))]
    [if hasSorry then some ("sorry", .bool true) else none]

/-- For each tactic in the sequences of a command: where it stands, whether it ran, and whether it changed the goals. -/
private def tacticsIn (unit : Elaborated) (text : SourceText) : Array Json :=
  let nodes := unit.nodes
  let sequences := unit.sequences nodes
  let runs := runsOf nodes sequences
  sequences.flatten.map fun member =>
    let run? := runs[member]?
    record [
      ("bytes", text.bytes member.1 member.2), ("ran", .bool run?.isSome), ("changed", .bool (run?.any (·.changed)))]

/-- The report on a constant that was requested, or that is declared in the text. -/
private def reportJson (library env : Environment) (withStatements : Bool) (name? : Option Name)
    (start? : Option Position) : Json :=
  let start := start?.toList.map fun start => ("start", toJson #[start.line, start.column + 1])
  let about := match name?.bind env.find? with
    | none => [("exists", .bool false)]
    | some info => [("exists", .bool true), ("kind", .str (kindWord info))] ++
      if withStatements then [("statement", .str (statementText env.find? library.toKernelEnv info))] else []
  record (start ++ about)

private def checkText (request : Request) : DojoM Json := do
  let file ← openBehind request
  let (tactics, messages, state) ← file.run #[] fun tactics unit => do
    return if request.flag "tactics" then tactics ++ tacticsIn unit file.text else tactics
  let env := state.env
  let added := addedTo file.state.env env
  let asked := (request.texts "names").toArray.map fun written => (written, lookUp env written, (none : Option Position))
  let wanted := (if request.flag "all" then writtenIn env added else #[]) ++ asked
  let constants := wanted.filterMap fun (written, name?, _) => name?.map (written, ·)
  let report := reportJson file.base.library env (request.flag "statements")
  let (json, exported) := exportConstants file.base.library file.state.env env constants (← get).exported
  modify ({ · with exported })
  return record [
    ("messages", toJson messages),
    ("declarations", record (wanted.map fun (written, name?, start?) => (written, report name? start?)).toList),
    ("new_constants", .arr (added.map fun (name, info) => constantJson name info)),
    ("export", json),
    -- never empty, because an engine that cannot tell says the empty text
    ("sources", .str ("\n".intercalate ("sources" :: (← sourceKeys file.imports).toList))),
    ("warm", .bool file.warm)]
    [if request.flag "tactics" then some ("tactics", .arr tactics) else none]

/-! ## The judge -/

private def verdict (library : Environment) (court : Court) (name : Name) : Json :=
  let base := library.toKernelEnv
  let find? := court.kernel.find?
  let problem := ("kernel", toJson (court.refused.find? name))
  let native := (court.native.find? name).toList.map fun one => ("native", .str (nameText one))
  match if (base.find? name).isSome then none else find? name with
  | none => record ([("exists", .bool false), problem] ++ native)
  | some info =>
    let statement := if info matches .thmInfo _ then [("statement", .str (statementText find? base info))] else []
    record ([
      ("exists", .bool true), ("kind", .str (kindWord info)), ("lean_name", .str (nameText name)), problem] ++
      native ++ statement ++ [("axioms", toJson (axiomsWith find? court.kernel #[name] library))])

/-- The number of contexts that are kept, each with the kernel's environment behind it. -/
private def maxGrounds : Nat := 8

/-- Gives the kernel the declarations of a context that it has not had; `none` if one of their names is already taken. -/
private def Ground.enter? (ground : Ground) (context : Array (Nat × Option Declaration)) (rows : Std.HashMap Nat Declaration)
    (cancel? : Option IO.CancelToken) : IO (Option Ground) := do
  let mut ground := ground
  for (key, _) in context do
    let some declaration := rows[key]? | return none
    let names := (partsOfDeclaration declaration).1
    match names.findSome? ground.keys.find? with
    | some known => if known == key then continue else return none
    | none =>
      let keys := names.foldl (init := ground.keys) fun all name => all.insert name key
      ground := { ground with court := ← ground.court.hear declaration cancel?, keys }
  return some ground

private def judge (request : Request) : DojoM Json := do
  let given ← orRefuse "export" ((readExport (request.payload.getObjValD "export")).mapError (s!"export: {·}"))
  for (key, declaration?) in given.context do
    if let some declaration := declaration? then
      modify fun memory => { memory with contexts := memory.contexts.insert key declaration }
  let { contexts := rows, cancel := cancel?, .. } ← get
  if let some (key, _) := given.context.find? (!rows.contains ·.1) then
    refuse "context" s!"declaration {key} is not known"
  let library ← importConstants (given.imports.map ({ module := · }))
  let hear (ground : Ground) : IO (Option (Ground × Court)) := do
    let some ground ← ground.enter? given.context rows cancel? | return none
    return some (ground, ← given.declarations.foldlM (init := ground.court) (·.hear · cancel?))
  let isOurs (ground : Ground) : Bool := ground.imports == given.imports
  -- a name may be taken by a declaration of another text, so nothing is refused before it was tried on the bare library
  let kept := (← get).grounds.filter isOurs
  let kernel := library.toKernelEnv
  let missing := (kept[0]?.map (·.court.missing)).getD (.mk fun _ => missingIn kernel)
  let fresh : Ground := { imports := given.imports, court := { kernel, missing } }
  let isAccepted (court : Court) : Bool := given.constants.all fun (_, name) =>
    (court.kernel.find? name).isSome && !court.refused.contains name
  let accepted? ← (kept.findSomeM? fun ground => return (← hear ground).filter (isAccepted ·.2) : IO _)
  let some (ground, court) ← (if accepted?.isSome then pure accepted? else hear fresh : IO _)
    | refuse "export" "export: context: two declarations with the same name"
  modify fun memory => { memory with grounds := keepLast memory.grounds maxGrounds isOurs ground }
  let verdicts := given.constants.map fun (word, name) => (word, verdict library court name)
  return record [("declarations", record verdicts)]

def checkCommands : List Command := [
  { name := "dojo.check"
    fields := behindFields ++ [
      optional .texts "names", optional .boolean "all", optional .boolean "statements", optional .boolean "tactics"]
    run := checkText },
  { name := "dojo.judge", fields := [required .object "export"], run := judge }
]

end Dojo
