import Dojo.Protocol
import Dojo.Start

/-!
# The engine as a program: lines in, lines out

`lake env lean --run Main.lean [--imports=A,B] [--project=FOLDER] [--answers=FILE] [MODULE …] [name=value …]`

It prints `ready.`, then answers each line of standard input with one line. An empty line, or the end of input, ends it.
If FILE is named, answers are written there, because threads of a text may print to the standard output.
-/

open Dojo

def main (args : List String) : IO UInt32 := do
  let flag := "--answers="
  let input ← IO.getStdin
  let output ← match args.find? (·.startsWith flag) with
    | some word => IO.FS.Stream.ofHandle <$> IO.FS.Handle.mk (behind flag word) .write
    | none => IO.getStdout
  let say (line : String) : IO Unit := do
    output.putStr s!"{line}\n"
    output.flush
  try
    let session ← start (← nativeHost) (args.filter fun word => !word.startsWith flag)
    say "ready."
    serve session input.getLine say
    return 0
  catch error =>
    (← IO.getStderr).putStrLn (toString error)
    return 2
