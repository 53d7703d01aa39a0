import Dojo.Files

/-!
# Compiled modules, and Lean's own list of references

The files that Lean itself writes: `.olean`, as bytes, and the text of an `.ilean`.
-/

namespace Dojo

open Lean Elab

private def base64Digits : Array Char :=
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".toList.toArray

/-- Bytes as text. -/
def base64 (bytes : ByteArray) : String := Id.run do
  let digit (n : Nat) : Char := base64Digits[n % 64]!
  let mut text := ""
  for k in [0:bytes.size / 3] do
    let group := (bytes.get! (3 * k)).toNat * 65536 + (bytes.get! (3 * k + 1)).toNat * 256 + (bytes.get! (3 * k + 2)).toNat
    text := text.push (digit (group / 262144)) |>.push (digit (group / 4096)) |>.push (digit (group / 64)) |>.push (digit group)
  let left := bytes.size % 3
  if left == 0 then return text
  let first := (bytes.get! (bytes.size - left)).toNat
  let second := if left == 2 then (bytes.get! (bytes.size - 1)).toNat else 0
  let group := first * 65536 + second * 256
  text := text.push (digit (group / 262144)) |>.push (digit (group / 4096))
  return if left == 2 then (text.push (digit (group / 64))).push '=' else (text.push '=').push '='

/--
A module as the file that Lean writes for it; none where Lean cannot write it, or where something that it imports was
elaborated in memory.
-/
def compiledModule? (file : OpenFile) (env : Environment) : DojoM (Option String) := do
  unless file.base.isImported do return none
  let some module := file.module? | return none
  let env ← upToDate env
  let written ← (do
    let data ← mkModuleData env
    let (_, path) ← IO.FS.createTempFile
    try
      saveModuleData path module data
      return some (base64 (← IO.FS.readBinFile path))
    finally
      IO.FS.removeFile path : IO (Option String)).toBaseIO
  return written.toOption.join

/-- What `lean -i` would write for a module: where it names which constant. -/
def ileanText (module : Name) (fileMap : FileMap) (trees : Array InfoTree) : IO String := do
  let references := Server.findModuleRefs fileMap trees (localVars := false)
  let file := record [
    ("version", toJson (5 : Nat)), ("module", toJson module), ("references", ← referencesJson references)]
  return file.compress

end Dojo
