import Dojo.Kernel
import Dojo.Session

/-!
# What the kernel was seen to take of environments that texts begin in

So a long beginning of a text is given to the kernel once, and not for each proof behind it.
-/

namespace Dojo

open Lean

/-- So many environments are remembered; the least recently used goes first. -/
def maxGrounds : Nat := 64

/-- What the kernel says of constants of `env`, which began as `below`; both are built on `library`. -/
def problemsOf (library below env : Environment) (names : Array Name) : DojoM (Array (Option Problem)) := do
  if names.isEmpty then return #[]
  let grounds := (← read).grounds
  let known? := (← grounds.get).find? fun one => samePointer one.env below
  let ground := known?.getD (.start library.toKernelEnv below)
  let (problems, ground) ← (kernelProblems library ground env names (← (← read).cancel.get) : IO _)
  grounds.modify fun all =>
    let others := all.filter fun one => !samePointer one.env below
    (others.extract (others.size + 1 - maxGrounds) others.size).push ground
  return problems

end Dojo
