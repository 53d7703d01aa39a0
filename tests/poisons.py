"""Programs of texts that change the process which elaborates them."""

# A macro of the process, which reads every 5 as a 4.
MACRO = """\
import Lean
open Lean Elab
def evil : Macro := fun stx => match stx.isNatLit? with
  | some 5 => return Syntax.mkNumLit "4"
  | _ => Macro.throwUnsupported
#eval show IO Unit from KeyedDeclsAttribute.addBuiltin macroAttribute `num `evil evil
"""
ELABORATOR = """\
import Lean
open Lean Elab
def evil : Term.TermElab := fun _ _ => return mkNatLit 4
#eval show IO Unit from KeyedDeclsAttribute.addBuiltin Term.termElabAttribute `num `evil evil
"""
FORGED = """\
import Lean
open Lean
run_cmd
  let no := .thmDecl {
    name := `Std.cheat, levelParams := [], type := .const ``False [],
    value := .const ``True.intro [] }
  let .ok env := (← getEnv).addDeclCore 0 no none (doCheck := false) | throwError "no"
  let data ← mkModuleData env
  IO.FS.createDirAll "/forged"
  saveModuleData "/forged/Std.olean" `Std data
  searchPathRef.set ["/forged", "/lean/lib/lean"]
"""
LINTER = """\
import Lean
open Lean Elab Command
def hush : Linter where run := fun _ => modify fun state => { state with messages := {} }
#eval show IO Unit from lintersRef.modify (·.push hush)
"""
# The same, from within the kernel: no command runs a program, and no syntax is extended.
UNSEEN = """import Lean
open Lean Elab
set_option warn.sorry false
def h : Unit = Void IO.RealWorld := sorry
def evilMacro : Macro := fun stx => match stx.isNatLit? with
  | some 5 => return Syntax.mkNumLit "4"
  | _ => Macro.throwUnsupported
structure Namer where
  g : String → Name
@[noinline] def namer : Namer := ⟨Name.mkStr1⟩
@[noinline] def k : Name := namer.g "num"
structure Box where
  f : Void IO.RealWorld → EST.Out IO.Error IO.RealWorld Unit
@[noinline] def box : Box := ⟨KeyedDeclsAttribute.addBuiltin macroAttribute k k evilMacro⟩
def evil : Bool := match box.f (cast h ()) with | .ok _ _ => true | .error _ _ => false
example : Lean.reduceBool evil = true := rfl
"""
