import Lean

/-!
# What differs between Lean's versions

The rest of the program uses API that is the same in all releases since 4.20. Everything else is here, each with the
release in which it changed, as found in Lean's sources, in its release notes, or in programs that were ported to it.
-/

namespace Dojo

open Lean Elab

/--
`if_known n then a else b` elaborates the command `a` if the constant `n` exists, else the command `b`. With
`n with x`, the constant must also have a parameter `x`, or a constant `x` in its type.
-/
syntax (name := ifKnown) (docComment)? "if_known " ident (" with " ident)? " then " command " else " command : command

/-- Whether a constant exists; and, if a further name is given, whether its type has that. -/
def isKnown (env : Environment) (name : Name) (part? : Option Name) : Bool :=
  (env.find? name).any fun info => part?.all fun part =>
    info.type.getForallBinderNames.contains part || info.type.getUsedConstants.contains part

elab_rules : command
  | `($[$_:docComment]? if_known $n $[with $part?]? then $a else $b) => do
    Command.elabCommand (if isKnown (← getEnv) n.getId (part?.map (·.getId)) then a else b)

/-- A text without white space at its ends. Since 4.27, `String.trim` is `trimAscii`, which returns a slice. -/
if_known String.trimAscii then
  def trimmed (text : String) : String := text.trimAscii.toString
else
  def trimmed (text : String) : String := text.trim

/-- The text between two byte offsets. Since 4.25, `String.extract` takes positions of another type. -/
if_known String.Pos.Raw.extract then
  def extractBytes (text : String) (start stop : Nat) : String := String.Pos.Raw.extract text ⟨start⟩ ⟨stop⟩
else
  def extractBytes (text : String) (start stop : Nat) : String := String.extract text ⟨start⟩ ⟨stop⟩

/-- A text without the prefix that it begins with. -/
def behind (start text : String) : String :=
  extractBytes text start.utf8ByteSize text.utf8ByteSize

/-- The members of a JSON object: in a `TreeMap` since 4.23, in an `RBNode` before. -/
if_known Lean.Json.obj with Std.TreeMap.Raw then
  def Request.members : Json → List (String × Json)
    | .obj members => members.toList
    | _ => []
else
  def Request.members : Json → List (String × Json)
    | .obj members => (RBNode.fold (fun all name value => (name, value) :: all) [] members).reverse
    | _ => []

/-- The declared universe metavariables; since 4.31 Lean numbers them, and they are in that order. -/
if_known Lean.MetavarContext.lDecls then
  def declaredLevels (mctx : MetavarContext) : List LMVarId :=
    (mctx.lDecls.toList.toArray.qsort fun a b => a.2.index < b.2.index).toList.map (·.1)
else
  def declaredLevels (mctx : MetavarContext) : List LMVarId := mctx.lDepth.toList.map (·.1)

/-- Evaluates a constant, whether it is `meta` or not: since 4.23, Lean checks that unless told otherwise. -/
if_known Lean.Environment.evalConst with checkMeta then
  unsafe def evaluate (α : Type) (env : Environment) (name : Name) : Except String α :=
    env.evalConst α {} name (checkMeta := false)
else
  unsafe def evaluate (α : Type) (env : Environment) (name : Name) : Except String α := env.evalConst α {} name

/-- A context to elaborate a command in. Up to 4.20, contexts had a cache of tactics. -/
def commandContext (fileName : String) (fileMap : FileMap) (position : Nat) (cancelTk? : Option IO.CancelToken) :
    Command.Context :=
  { fileName, fileMap, cmdPos := ⟨position⟩, snap? := none, cancelTk? }

/-- The references of a module to constants. Since 4.25, Lean returns its declarations along with them. -/
if_known Lean.Lsp.Decls then
  def referencesJson (references : Server.ModuleRefs) : BaseIO Json :=
    return toJson (← references.toLspModuleRefs).1
else
  def referencesJson (references : Server.ModuleRefs) : BaseIO Json :=
    return toJson (← references.toLspModuleRefs)

instance : MonadEnv (StateM Environment) where
  getEnv := get
  modifyEnv := modify

/-- The range of a constant's declaration and of its name there; `none` if Lean has not recorded them. -/
def rangesOf? (env : Environment) (name : Name) : Option DeclarationRanges :=
  (findDeclarationRangesCore? name : StateM Environment (Option DeclarationRanges)).run' env |>.run

/--
The axioms that some constants depend on, from Lean's collector; `none` if it is not reliable. Up to 4.29 it goes through
the constants; since 4.30 it reads what modules have recorded. The sources of autumn 2026, which have `collectAxiomsCore`,
allow a module to record nothing, and change from week to week.
-/
if_known Lean.CollectAxioms.collect then
  def axiomsBehind (env : Environment) (names : Array Name) : Option (Array Name) :=
    (((names.forM CollectAxioms.collect).run env).run {}).2.axioms
else if_known Lean.collectAxiomsCore then
  def axiomsBehind (_ : Environment) (_ : Array Name) : Option (Array Name) := none
else
  def axiomsBehind (env : Environment) (names : Array Name) : Option (Array Name) :=
    some <| names.foldl (init := #[]) fun found name =>
      let known := ((collectAxioms name : StateM Environment (Array Name)).run' env).run
      found ++ known.filter (!found.contains ·)

end Dojo
