import Lean

/-!
# What differs between Lean's versions

Everything else in the program uses API that is the same in all releases from 4.20 on. What is not stands here, each
with the release that it was read from (`src/Lean/…` at the tag).
-/

namespace Dojo

open Lean Elab

/-- `if_known n then a else b` elaborates the command `a` where the constant `n` exists, else the command `b`. -/
syntax (name := ifKnown) (docComment)? "if_known " ident " then " command " else " command : command

elab_rules : command
  | `($[$_:docComment]? if_known $n then $a else $b) => do
    Command.elabCommand (if (← getEnv).contains n.getId then a else b)

/-- Without white space at its ends: `String.trim` is `trimAscii`, a slice, from 4.27 on. -/
if_known String.trimAscii then
  def trimmed (text : String) : String := text.trimAscii.toString
else
  def trimmed (text : String) : String := text.trim

/-- The text between two byte offsets: `String.extract` takes positions of another type from 4.25 on. -/
if_known String.Pos.Raw.extract then
  def extractBytes (text : String) (start stop : Nat) : String := String.Pos.Raw.extract text ⟨start⟩ ⟨stop⟩
else
  def extractBytes (text : String) (start stop : Nat) : String := String.extract text ⟨start⟩ ⟨stop⟩

/-- The text behind a prefix that it begins with. -/
def behind (start text : String) : String :=
  extractBytes text start.utf8ByteSize text.utf8ByteSize

/-- A context to elaborate a command in. Contexts had a cache of tactics to 4.20. -/
def commandContext (fileName : String) (fileMap : FileMap) (position : Nat) (cancelTk? : Option IO.CancelToken) :
    Command.Context :=
  { fileName, fileMap, cmdPos := ⟨position⟩, snap? := none, cancelTk? }

/-- What a constant without its proof or its body, an axiom here, was where it was declared. -/
inductive Origin where
  | theorem | axiom | definition | other
  deriving BEq

/-- What a constant was where it was declared; modules say so since there are exported parts of them, from 4.19 on. -/
if_known Lean.getOriginalConstKind? then
  def originOf (env : Environment) (name : Name) : Origin :=
    match getOriginalConstKind? env name with
    | some .thm => .theorem
    | some .axiom => .axiom
    | some .defn => .definition
    | _ => .other
else
  def originOf (env : Environment) (name : Name) : Origin :=
    match env.find? name with
    | some (.thmInfo _) => .theorem
    | some (.axiomInfo _) => .axiom
    | _ => .other

/-- Where a module names which constant. What Lean gives holds its declarations too from 4.25 on. -/
if_known Lean.Lsp.Decls then
  def referencesJson (references : Server.ModuleRefs) : BaseIO Json :=
    return toJson (← references.toLspModuleRefs).1
else
  def referencesJson (references : Server.ModuleRefs) : BaseIO Json :=
    return toJson (← references.toLspModuleRefs)

instance : MonadEnv (StateM Environment) where
  getEnv := get
  modifyEnv := modify

/-- Where a constant is declared, and where its name stands there; none where nobody recorded it. -/
def rangesOf? (env : Environment) (name : Name) : Option DeclarationRanges :=
  (findDeclarationRangesCore? name : StateM Environment (Option DeclarationRanges)).run' env |>.run

/--
The axioms that some constants of an environment rest on. Lean's collector goes through all of them at once to 4.29; later
ones are private, and read what modules have recorded.
-/
if_known Lean.CollectAxioms.collect then
  def axiomsBehind (env : Environment) (names : Array Name) : Array Name :=
    (((names.forM CollectAxioms.collect).run env).run {}).2.axioms
else
  def axiomsBehind (env : Environment) (names : Array Name) : Array Name := Id.run do
    let mut found := #[]
    for name in names do
      for one in (collectAxioms name : StateM Environment (Array Name)).run' env do
        unless found.contains one do found := found.push one
    return found

end Dojo
