import Dojo.Check
import Dojo.Digest
import Dojo.Inspect
import Dojo.Options
import Dojo.Pickle
import Dojo.Places
import Dojo.Process
import Dojo.Start
import Dojo.States
import Dojo.Steps
import Dojo.Targets
import Dojo.Trace

/-!
# The protocol

A line is `command {json}`, or `{"cmd": command, "payload": {…}}`; the answer is one line of JSON. A request that fails
is answered `{"error": kind, "desc": …}` and the session goes on.
-/

namespace Dojo

open Lean

/-- Each file that answers commands has a list of them; this is all of them. -/
def commands : List Command :=
  settingsCommands ++ goalCommands ++ stepCommands ++ inspectCommands ++ checkCommands ++ digestCommands ++
    replayCommands ++ traceCommands ++ pickleCommands ++ processCommands ++ targetCommands

/-- The most bytes that a request may have. -/
def maxLineBytes : Nat := 64 * 1024 * 1024

private def unparsed {α} (why : String) : Except Failure α :=
  throw { kind := "command", desc := s!"Unable to parse json: {why}" }

private def parseObject (text : String) : Except Failure Json :=
  match Json.parse text with
  | .ok (.obj pairs) => return .obj pairs
  | .ok _ => unparsed "expected an object"
  | .error why => unparsed why

/-- The command of a line, and its fields. -/
private def parseLine (line : String) : Except Failure (String × Json) := do
  if line.utf8ByteSize > maxLineBytes then
    throw { kind := "command", desc := s!"a request may have {maxLineBytes} bytes at most" }
  if line.startsWith "{" then
    let members := Request.members (← parseObject line)
    match members.lookup "cmd", members.filter (·.1 != "cmd") with
    | some (.str command), [] => return (command, .mkObj [])
    | some (.str command), [("payload", .obj pairs)] => return (command, .obj pairs)
    | _, _ => unparsed "expected {\"cmd\": …, \"payload\": {…}}"
  else
    let command := (line.splitOn " ").headD ""
    let rest := trimmed (behind command line)
    return (command, ← if rest.isEmpty then pure (.mkObj []) else parseObject rest)

/-- What brings a session back to how it is now, except for what has happened to the process as a whole. -/
private def Session.undo (session : Session) : IO (IO Unit) := do
  let command ← session.command.get
  let library ← session.library.get
  let states ← session.states.get
  let environments ← session.environments.get
  let chains ← session.chains.get
  let beginnings ← session.beginnings.get
  let grounds ← session.grounds.get
  return do
    session.command.set command
    session.library.set library
    session.states.set states
    session.environments.set environments
    session.chains.set chains
    session.beginnings.set beginnings
    session.grounds.set grounds

/--
Runs a request under the session's limit of time. What Lean was doing is only cut short: half an answer would pass for
a whole one, so it is an error whatever the answer, and the session keeps nothing of it. A text that stays half
elaborated could lack the instance that makes a later theorem false, and what the kernel was kept from finishing would
count as refused.
-/
private def limited (act : DojoM Json) : DojoM Json := do
  let session ← read
  let limit := (← settings).timeout
  if limit == 0 then return ← act
  let undo ← (session.undo : IO _)
  let token ← IO.CancelToken.new
  session.host.arm token limit
  session.cancel.set (some token)
  let answer ← try Except.ok <$> act catch failure => pure (.error failure)
  session.host.disarm
  session.cancel.set none
  if ← token.isSet then
    (undo : IO Unit)
    refuse "internal" s!"interrupt: it took longer than {limit} ms"
  MonadExcept.ofExcept answer

private def handle (parsed : Except Failure (String × Json)) : DojoM Json := do
  let (name, payload) ← MonadExcept.ofExcept parsed
  let some command := commands.find? (·.name == name) | refuse "command" s!"Unknown command {name}"
  let request ← MonadExcept.ofExcept (Request.check name command.fields payload)
  limited (command.run request)

private def Failure.json (failure : Failure) : Json :=
  record [("error", .str failure.kind), ("desc", .str failure.desc)]

/--
What an answer says beside the command's own fields: that a program of a text has run in this session, and which
environments were found or loaded. Pantograph's answers have exactly their own fields, so these say the former once, and
the latter never.
-/
private def remarks (session : Session) (isOurs : Bool) (before : Nat × Nat) : IO (List (String × Json)) := do
  let (hits, misses) ← session.imports.get
  let counts := record [("hits", toJson (hits - before.1)), ("misses", toJson (misses - before.2))]
  let imported := if isOurs && (hits, misses) != before then [("imported", counts)] else []
  if (← session.isTainted) && (isOurs || !(← session.told.get)) then
    session.told.set true
    return ("tainted", .bool true) :: imported
  return imported

/-- Answers one line. What a text prints goes nowhere: streams are the session's own while it runs. -/
def answer (session : Session) (line : String) : IO String := do
  let before ← session.imports.get
  let parsed := parseLine line
  let isOurs := match parsed with
    | .ok (name, _) => name.startsWith "dojo."
    | .error _ => false
  let (_, answer) ← IO.FS.withIsolatedStreams (isolateStderr := false) do
    match ← (handle parsed session).toBaseIO with
    | .ok json => pure json
    | .error failure => pure failure.json
  let answer := (← remarks session isOurs before).foldl (fun all (name, value) => all.setObjVal! name value) answer
  return if (← session.settings.get).printJsonPretty then answer.pretty else answer.compress

/--
Answers the lines that `read` gives, until an empty one. This is one call for the whole life of a session: Lean's
interpreter forgets what it has looked up when a call returns.
-/
partial def serve (session : Session) (read : IO String) (say : String → IO Unit) : IO Unit := do
  let line := trimmed (← read)
  unless line.isEmpty do
    say (← answer session line)
    serve session read say

end Dojo
