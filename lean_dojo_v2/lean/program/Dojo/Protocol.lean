import Dojo.Commands
import Dojo.Start

/-!
# The protocol

A line is `command {json}`, or `{"cmd": command, "payload": {…}}`; the answer is one line of JSON. A request that fails
is answered `{"error": kind, "desc": …}` and the session goes on.
-/

namespace Dojo

open Lean

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
    let whole ← parseObject line
    let members := Request.members whole
    let some (.str command) := members.lookup "cmd" | unparsed "expected {\"cmd\": …, \"payload\": {…}}"
    if members.any fun (name, _) => name != "cmd" && name != "payload" then
      unparsed "expected {\"cmd\": …, \"payload\": {…}}"
    match members.lookup "payload" with
    | none => return (command, .mkObj [])
    | some (.obj pairs) => return (command, .obj pairs)
    | some _ => unparsed "expected an object"
  else
    let command := (line.splitOn " ").headD ""
    let rest := trimmed (behind command line)
    return (command, ← if rest.isEmpty then pure (.mkObj []) else parseObject rest)

private def overdue (milliseconds : Nat) : Failure :=
  { kind := "internal", desc := s!"interrupt: it took longer than {milliseconds} ms" }

/--
Runs a request under the session's limit of time. What Lean was doing is only cut short: half an answer would pass for
a whole one, so it is an error whatever the answer.
-/
private def limited (act : DojoM Json) : DojoM Json := do
  let session ← read
  let limit := (← settings).timeout
  if limit == 0 then return ← act
  let token ← IO.CancelToken.new
  session.host.arm token limit
  session.cancel.set (some token)
  let answer ← try Except.ok <$> act catch failure => pure (.error failure)
  session.host.disarm
  session.cancel.set none
  if ← token.isSet then throw (overdue limit)
  MonadExcept.ofExcept answer

private def handle (parsed : Except Failure (String × Json)) : DojoM Json := do
  let (name, payload) ← MonadExcept.ofExcept parsed
  let some command := findCommand? name | refuse "command" s!"Unknown command {name}"
  let request ← MonadExcept.ofExcept (Request.check name command.fields payload)
  limited (command.run request)

private def Failure.json (failure : Failure) : Json :=
  record [("error", .str failure.kind), ("desc", .str failure.desc)]

/-- How many environments were found, and how many were loaded. -/
private def environmentCounts (session : Session) : BaseIO (Nat × Nat) :=
  return (← session.hits.get, ← session.misses.get)

/--
What an answer says beside the command's own fields: that a program of a text has run in this session, and which
environments were found or loaded. Pantograph's answers have exactly their own fields, so these say the former once, and
the latter never.
-/
private def remarks (session : Session) (isOurs : Bool) (before : Nat × Nat) : IO (List (String × Json)) := do
  let (hits, misses) ← environmentCounts session
  let counts := record [("hits", toJson (hits - before.1)), ("misses", toJson (misses - before.2))]
  let imported := if isOurs && (hits, misses) != before then [("imported", counts)] else []
  if (← session.isTainted) && (isOurs || !(← session.told.get)) then
    session.told.set true
    return ("tainted", .bool true) :: imported
  return imported

/-- Answers one line. What a text prints goes nowhere: streams are the session's own while it runs. -/
def answer (session : Session) (line : String) : IO String := do
  let before ← environmentCounts session
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
