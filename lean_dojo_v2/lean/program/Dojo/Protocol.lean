import Dojo.Check
import Dojo.Inspect
import Dojo.Pickle
import Dojo.Process
import Dojo.Start
import Dojo.Steps
import Dojo.Targets
import Dojo.Trace

/-!
# The protocol

An engine prints `ready.`, then answers each line of input with one line of JSON. A line is `command {json}` or
`{"cmd": command, "payload": {json}}`; a command without fields may stand alone. Each command declares its fields. A
field that it does not declare, or one of the wrong type, is an error; `null` counts as absent. An empty line, or the
end of the input, ends the engine.

A request that fails is answered with `{"error": kind, "desc": message}`, and the session continues:

    nonsense
    {"error": "command", "desc": "Unknown command nonsense"}

The rest of this comment describes every command with an example. The examples form one session that imports `Init`, in
this order, and a test sends them to an engine. In an answer, `"…"` stands for any value. In a request, it stands for
that field of the answer before. An answer to a `dojo` command may also have `imported`, the numbers of environments
that were found and that had to be loaded.

The commands without the prefix `dojo.` are Pantograph's; the client reads and writes the files that Pantograph's own
program would.

## The session

`options.set` changes settings of the session, and `options.print` returns all of them. `timeout` is in milliseconds, and
0 means no limit.

    options.set {"printExprAST": false}
    {}
    options.print
    {"automaticMode": true, "noRepeat": false, "printAuxDecls": false, "printDependentMVars": false,
      "printExprAST": false, "printExprPretty": true, "printImplementationDetailHyps": false, "printJsonPretty": false,
      "timeout": 0}

`stat` counts proof states, and requests that found their environment or had to load it. The embedded engine adds its
memory in megabytes.

    stat
    {"nGoals": 0, "environments": {"hits": 0, "misses": 1}, "rss_mb": "…", "wasm_mb": "…"}

## Proof states

`goal.start` states a goal: a proposition `expr`, which may use the universes `levels`, or the type of the constant
`copyFrom`.

    goal.start {"expr": "True ∧ 1 = 1"}
    {"stateId": 0, "root": "_uniq.…", "pp": "⊢ True ∧ 1 = 1", "goals": [{"name": "_uniq.…", "fragment": "tactic",
      "isConversion": false, "target": {"pp": "True ∧ 1 = 1"}, "vars": [], "pp": "⊢ True ∧ 1 = 1"}]}

`goal.tactic` runs one step on the goal with index `goalId` (default: the first). The step is exactly one of `tactic`,
`expr` (a term), `draft` (a term whose `sorry`s become goals), `have` and `let` (a type, with `binderName`), and `mode`
(`conv`, `calc`, `tactic`). `options` limits `maxHeartbeats` and `maxRecDepth`. With `axioms`, the answer also lists the
axioms that the step depends on, and `owed`, the open metavariables that are not goals but need a proof. Without
`autoResume`, the other goals leave the state.

    goal.tactic {"stateId": 0, "tactic": "constructor", "axioms": true}
    {"nextStateId": 1, "messages": [], "hasSorry": false, "hasUnsafe": false, "axioms": [], "owed": "", "goals": "…",
      "pp": "case left\n⊢ True\n\ncase right\n⊢ 1 = 1"}
    goal.tactic {"stateId": 1, "tactic": "trivial", "autoResume": false}
    {"nextStateId": 2, "messages": [], "hasSorry": false, "hasUnsafe": false, "goals": [], "pp": "no goals"}

A step that Lean rejects has no `nextStateId`. What is not syntax of Lean has `parseError` in place of `messages`.

    goal.tactic {"stateId": 1, "tactic": "exact h"}
    {"messages": [{"severity": "error", "data": "Unknown identifier `h`", "pos": {"line": 1, "column": 6}, "endPos": null,
      "kind": "[anonymous]", "caption": "", "fileName": "<input>", "keepFullRange": false, "isSilent": false}],
      "hasSorry": false, "hasUnsafe": false}
    goal.tactic {"stateId": 1, "tactic": "exact )"}
    {"parseError": "…", "hasSorry": false, "hasUnsafe": false}

`goal.continue` continues a state without goals: with the open goals of the state `branch`, or with named `goals`.

    goal.continue {"target": 2, "branch": 1}
    {"nextStateId": 3, "goals": "…", "pp": "case right\n⊢ 1 = 1"}
    goal.tactic {"stateId": 3, "tactic": "rfl"}
    {"nextStateId": 4, "messages": [], "hasSorry": false, "hasUnsafe": false, "goals": [], "pp": "no goals"}

`goal.print` describes a state. `rootExpr` adds the proof of the first goal as far as it is known, `parentExprs` the
proofs of the goals that the last step closed, and `extraMVars` the values of metavariables.

    goal.print {"stateId": 4, "goals": true, "rootExpr": true}
    {"root": {"pp": "⟨True.intro, Eq.refl 1⟩"}, "rootHasSorry": false, "rootHasUnsafe": false, "rootHasMVar": false,
      "extraMVars": [], "goals": [], "pp": "no goals"}

`goal.subsume` closes a goal with the proof of an earlier one, if that proves it. The result is `none`, `cycle` or
`subsumed`; the last has a new state.

    goal.subsume {"stateId": 4, "goal": "_uniq.0", "candidates": []}
    {"error": "index", "desc": "there is no goal _uniq.0"}

`dojo.digest` returns a text for each goal that is the same for the same hypotheses and target as terms, whatever their
names: `goals` numbers variables for all goals together, `each` for every goal by itself.

    dojo.digest {"stateId": 0}
    {"goals": "…", "each": "…"}

`goal.save` returns a state as text, and `goal.load` reads it. A loaded state counts as solved only if the kernel
accepts its whole proof.

    goal.save {"id": 1}
    {"packed": "…"}
    goal.load {"packed": "…"}
    {"id": 5}

`goal.delete` forgets states, and `reset` all of them.

    goal.delete {"stateIds": [2, 5]}
    {}
    reset
    {"nGoals": 4}

## Constants and terms

`expr.echo` elaborates a term and infers its type. `env.parse` parses a prefix of the input and says where it ends, in
bytes. `dojo.parse_tactic` parses exactly one tactic, in the environment of a state if one is given; the answer has
`evaluates` if Lean would evaluate a term of it as a setting, and `parseError` if it is no tactic. `dojo.tactic_words` lists
the tokens that a tactic may begin with, and `other` says whether one may also begin in another way.

    expr.echo {"expr": "fun n : Nat => n + 1"}
    {"expr": {"pp": "fun n => n + 1"}, "type": {"pp": "Nat → Nat"}}
    env.parse {"input": "n + 1 := 2", "category": "term"}
    {"pos": 6}
    dojo.parse_tactic {"tactic": "simp [Nat.add_comm]"}
    {"kind": "Lean.Parser.Tactic.simp", "kinds": ["Lean.Parser.Tactic.simp", "Lean.Parser.Tactic.optConfig", "null",
      "Lean.Parser.Tactic.simpLemma"], "identifiers": ["Nat.add_comm"], "atoms": ["simp", "[", "]"]}
    dojo.tactic_words
    {"words": "…", "other": false}

`env.add` adds a definition, or with `isTheorem` a theorem. `env.inspect` describes a constant; `value`, `dependency` and
`source` ask for more. `env.catalog` lists constants, each after the first letter of its kind. `env.describe` lists the
imported modules, and `env.module_read` describes one.

    env.add {"name": "two", "type": "Nat", "value": "2"}
    {}
    env.inspect {"name": "two", "value": true}
    {"kind": "def", "type": {"pp": "Nat"}, "value": {"pp": "2"}, "levels": [], "isUnsafe": false}
    env.catalog {"modulePrefix": "Init", "invertFilter": true}
    {"symbols": ["dtwo"]}
    env.describe
    {"imports": ["Init"], "modules": "…"}
    env.module_read {"module": "Init.Core"}
    {"imports": "…", "constNames": "…", "extraConstNames": "…"}

`env.save` returns what the session has added to its imports, and `env.load` begins a session with that. The kernel
checks it again.

    env.save
    {"packed": "…"}
    env.load {"packed": "…"}
    {}

## Texts

Positions are in bytes of the given text. `frontend.process` elaborates a text and reports on each command. With
`readHeader`, the text begins with imports of its own; with `inheritEnv`, the session continues behind it. `invocations`
lists tactics, `sorrys` and `typeErrorsAsGoals` open goals, `newConstants` names constants.

    frontend.process {"file": "theorem t : True := by trivial", "newConstants": true}
    {"units": [{"boundary": [0, 30], "messages": [], "newConstants": ["t"]}]}

`frontend.distil` opens the goals of a text with `sorry`s. `frontend.refactor` writes a text again with each `sorry` and
the theorems about it as one definition. `frontend.track` compares a text with one that leaves something open; `failure`
says how they differ.

    frontend.distil {"file": "theorem t (n : Nat) : n = n := by sorry"}
    {"targets": [{"stateId": 0, "goals": "…", "pp": "⊢ ∀ (n : Nat), n = n"}]}
    frontend.refactor {"file": "def f : Nat := sorry\ntheorem t : f = f := sorry"}
    {"file": "\ndef f_composite : { f : Nat // f = f } :=\n  sorry"}
    frontend.track {"src": "def f : Nat := sorry", "dst": "def f : Int := 0"}
    {"srcMessages": "…", "dstMessages": [], "failure": "f has another type"}

Texts of `dojo` commands begin with their header unless `header` is false. `fileName` is the name in messages, and in a
project it names the module. In `dojo.check` and `dojo.state_at`, `prefix` says how many bytes belong to the context, which
stays elaborated for all requests whose texts begin in the same way.

`dojo.trace` returns what a repository's trace records of a file. `dojo.compile` returns a compiled module. With
`compiled`, both import the project's modules from compiled files.

    dojo.trace {"file": "theorem t : True := by trivial", "fileName": "T.lean"}
    {"module": "T", "messages": [], "declarations": [{"lean_name": "t", "bytes": [0, 30], "statement": {"bytes": [0, 16]},
      "uses": []}], "tactics": [{"tactic": "trivial", "bytes": [23, 30], "state_before": "⊢ True",
      "state_after": "no goals", "digest": "const True [ :]"}], "references": "…", "commands": [{"bytes": [0, 30]},
      {"bytes": [30, 30]}], "made": [], "in_memory": [], "ilean": "…"}
    dojo.compile {"file": "def two := 2", "fileName": "T.lean"}
    {"olean": "…"}

`dojo.state_at` opens the state before the tactic at `position`, with digests of the goals `after` it, the ranges of
the tactics that follow in its block (`members`), where these begin (`column`), and the tactic `blocks` inside it. With
`clean`, an error before the position is an error of the request. With `recursion`, the theorem itself is in scope. `kernel`
is as in `dojo.check`.

    dojo.state_at {"file": "theorem t : True := by trivial", "position": 23}
    {"stateId": 1, "tactic": "trivial", "bytes": [23, 30], "after": [], "members": [[23, 30]], "column": 23, "blocks": [],
      "goals": "…", "pp": "⊢ True"}

## Verdicts

`dojo.check` elaborates a text. The report covers the constants `names`, or `all` that stand in the text; with
`statements`, their statements; with `tactics`, where each tactic stands, whether it ran, and whether it changed the
goals. `sources` changes when a module of the project that the text imports does, and `warm` says whether the context was
elaborated already. With `"kernel": false`, the text and the project's modules are not given to Lean's kernel here, but only
by the judge. Nothing in a report is a verdict. The `export` (see `Export.lean`) holds the constants as data, with everything
that they depend on beyond the library.

    dojo.check {"file": "theorem t : True := trivial", "names": ["t"]}
    {"messages": [], "declarations": {"t": {"exists": true, "kind": "theorem"}},
      "new_constants": [{"name": "t", "kind": "theorem"}], "sources": "sources", "warm": false,
      "export": {"format": 2, "imports": ["Init"], "context": [], "names": [0, "t"], "constants": {"t": 1},
      "declarations": [[[0, "t", 0, "True", 0, "trivial"], [], [2, 2, 0, 2, 3, 0], ["theorem", 1, [], 0, 1]]]}}

`dojo.judge` gives the declarations of an export to the kernel, on top of the library, and describes what the kernel
accepted. It elaborates nothing.

    dojo.judge {"export": "…"}
    {"declarations": {"t": {"exists": true, "kind": "theorem", "lean_name": "t", "kernel": null, "axioms": [],
      "statement": "const True@Init.Prelude "}}}
-/

namespace Dojo

open Lean

/-- All commands. Each file that implements some has a list of them. -/
def commands : List Command :=
  settingsCommands ++ goalCommands ++ stepCommands ++ inspectCommands ++ checkCommands ++ digestCommands ++
    replayCommands ++ traceCommands ++ pickleCommands ++ processCommands ++ targetCommands

/-- The maximum size of a request in bytes. -/
def maxLineBytes : Nat := 64 * 1024 * 1024

private def parseObject (text : String) : Except String Json := do
  let object@(.obj _) ← Json.parse text | throw "expected an object"
  return object

/-- The command of a line, and its fields. -/
private def parseLine (line : String) : Except String (String × Json) := do
  if line.utf8ByteSize > maxLineBytes then throw s!"a request may have {maxLineBytes} bytes at most"
  if line.startsWith "{" then
    let members := Request.members (← parseObject line)
    match members.lookup "cmd", members.filter (·.1 != "cmd") with
    | some (.str command), [] => return (command, .mkObj [])
    | some (.str command), [("payload", .obj pairs)] => return (command, .obj pairs)
    | _, _ => throw "expected {\"cmd\": …, \"payload\": {…}}"
  else
    let command := (line.splitOn " ").headD ""
    let rest := trimmed (behind command line)
    return (command, ← if rest.isEmpty then pure (.mkObj []) else parseObject rest)

/--
Runs a request within the session's time limit. Lean only cuts its work short, and half an answer could pass for a whole
one. So the request fails whatever the answer is, and the session keeps nothing of it. Otherwise a half elaborated text
could lack the instance that makes a later theorem false, and a declaration that the kernel could not finish would count as
refused.
-/
private def limited (act : DojoM Json) : DojoM Json := do
  let session ← read
  let limit := (← settings).timeout
  if limit == 0 then return ← act
  let before ← get
  let token ← IO.CancelToken.new
  session.host.arm token limit
  modify ({ · with cancel := some token })
  let answer ← try Except.ok <$> act catch failure => pure (.error failure)
  session.host.disarm
  modify ({ · with cancel := none })
  if ← token.isSet then
    -- what has changed in the whole process stays
    modify fun { nextState, imports, initialised, registered, .. } =>
      { before with nextState, imports, initialised, registered }
    refuse "internal" s!"interrupt: it took longer than {limit} ms"
  MonadExcept.ofExcept answer

private def handle (parsed : Except String (String × Json)) : DojoM Json := do
  let orUnable {α} (result : Except String α) : DojoM α :=
    orRefuse "command" (result.mapError (s!"Unable to parse json: {·}"))
  let (name, payload) ← orUnable parsed
  let some command := commands.find? (·.name == name) | refuse "command" s!"Unknown command {name}"
  let request ← orUnable (Request.check name command.fields payload)
  limited (command.run request)

/-- Answers one line. What a text prints is discarded. -/
def answer (session : Session) (line : String) : IO String := do
  let before := (← session.memory.get).imports
  let parsed := parseLine line
  let isOurs := parsed.toOption.any (·.1.startsWith "dojo.")
  let (_, answer) ← IO.FS.withIsolatedStreams (isolateStderr := false) do
    match ← (handle parsed session).toBaseIO with
    | .ok json => pure json
    | .error failure => pure (toJson failure)
  let { imports := (hits, misses), settings, .. } ← session.memory.get
  -- how many environments it found or had to load; answers to Pantograph's commands have no such field
  let counts := record [("hits", toJson (hits - before.1)), ("misses", toJson (misses - before.2))]
  let answer := if isOurs && (hits, misses) != before then answer.setObjVal! "imported" counts else answer
  return if settings.printJsonPretty then answer.pretty else answer.compress

/--
Answers the lines that `read` returns, until an empty one. A session is a single call of this, because Lean's interpreter
forgets what it has looked up when a call returns.
-/
partial def serve (session : Session) (read : IO String) (say : String → IO Unit) : IO Unit := do
  let line := trimmed (← read)
  unless line.isEmpty do
    say (← answer session line)
    serve session read say

end Dojo
