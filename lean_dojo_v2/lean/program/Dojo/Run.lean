import Dojo.Session

/-!
# Running Lean's monads

A proof state holds the contexts and states that its next step runs with; Lean itself makes the first of them, out of a
command state.
-/

namespace Dojo

open Lean Elab Meta

/-- An exception's text, without the hints that only an editor could show. -/
def exceptionText (exception : Exception) : BaseIO String := do
  let text ← exception.toMessageData.toString
  return text.replace "(invalid MessageData.lazy, missing context)" ""

/-- Runs a command's action on a command state. -/
def runCommand {α} (act : Command.CommandElabM α) (context : Command.Context) (state : Command.State) :
    BaseIO (Except Exception (α × Command.State)) :=
  (((act context).run state : EIO Exception (α × Command.State))).toBaseIO

/-- The contexts and initial states that Lean's `liftTermElabM` makes for a command state; failing terms are errors. -/
def Monads.ofCommand (state : Command.State) : DojoM Monads := do
  let act : Command.CommandElabM Monads := Command.liftTermElabM do
    return {
      termContext := { (← readThe Term.Context) with errToSorry := false }
      metaContext := ← readThe Meta.Context
      coreContext := ← readThe Core.Context
      termState := ← getThe Term.State
      metaState := ← getThe Meta.State
      coreState := ← getThe Core.State
    }
  let context := commandContext "<input>" (FileMap.ofString "") 0 none
  match ← runCommand act context state with
  | .ok (monads, _) => return monads
  | .error exception => refuse "exception" (← exceptionText exception)

/-- Runs an action; an exception of Lean's is a value, and what the action did until then is kept. -/
def Monads.attempt {α} (monads : Monads) (act : TermElabM α) : DojoM (Except Exception α × Monads) := do
  let cancelTk? ← (← read).cancel.get
  let initHeartbeats ← (IO.getNumHeartbeats : BaseIO Nat)
  let core := { monads.coreContext with initHeartbeats, cancelTk? }
  let termRef ← IO.mkRef monads.termState
  let metaRef ← IO.mkRef monads.metaState
  let coreRef ← IO.mkRef monads.coreState
  let result ← (act monads.termContext termRef monads.metaContext metaRef core coreRef).toBaseIO
  let (termState, metaState, coreState) := (← termRef.get, ← metaRef.get, ← coreRef.get)
  return (result, { monads with termState, metaState, coreState })

/-- Runs an action; an exception of Lean's ends the request with an error of a kind. -/
def Monads.run {α} (monads : Monads) (act : TermElabM α) (kind := "exception") : DojoM (α × Monads) := do
  match ← monads.attempt act with
  | (.ok value, monads) => return (value, monads)
  | (.error exception, _) => refuse kind (← exceptionText exception)

/-- Runs an action for its value alone. -/
def Monads.eval {α} (monads : Monads) (act : TermElabM α) (kind := "exception") : DojoM α :=
  Prod.fst <$> monads.run act kind

end Dojo
