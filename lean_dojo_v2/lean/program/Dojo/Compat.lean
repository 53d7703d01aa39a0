import Lean

/-!
# What differs between Lean's versions

Everything else in the program uses API that is the same in all releases from 4.20 on. What is not stands here, each
with the release that it was read from: in Lean's sources, in its release notes, or in programs that were ported to it.
-/

namespace Dojo

open Lean Elab

/--
`if_known n then a else b` elaborates the command `a` where the constant `n` exists, else the command `b`. With
`n with x`, the constant has a parameter `x` as well, or a constant `x` in its type.
-/
syntax (name := ifKnown) (docComment)? "if_known " ident (" with " ident)? " then " command " else " command : command

/-- Whether a constant exists; and, if a further name is given, whether its type has that. -/
def isKnown (env : Environment) (name : Name) (part? : Option Name) : Bool :=
  (env.find? name).any fun info => part?.all fun part =>
    info.type.getForallBinderNames.contains part || info.type.getUsedConstants.contains part

elab_rules : command
  | `($[$_:docComment]? if_known $n $[with $part?]? then $a else $b) => do
    Command.elabCommand (if isKnown (← getEnv) n.getId (part?.map (·.getId)) then a else b)

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

/-- The members of a JSON object: these are in a `TreeMap` from 4.23 on, in an `RBNode` before. -/
if_known Lean.Json.obj with Std.TreeMap.Raw then
  def Request.members : Json → List (String × Json)
    | .obj members => members.toList
    | _ => []
else
  def Request.members : Json → List (String × Json)
    | .obj members => (RBNode.fold (fun all name value => (name, value) :: all) [] members).reverse
    | _ => []

/-- Whether an import is an `import all`: there are some from 4.20 on, in modules. -/
if_known Lean.Import.importAll then
  def isWhole (one : Import) : Bool := one.importAll
else
  def isWhole (_ : Import) : Bool := false

/-- The universe metavariables that were declared, in their order from 4.31 on, which numbers them. -/
if_known Lean.MetavarContext.lDecls then
  def declaredLevels (mctx : MetavarContext) : List LMVarId :=
    (mctx.lDecls.toList.toArray.qsort fun a b => a.2.index < b.2.index).toList.map (·.1)
else
  def declaredLevels (mctx : MetavarContext) : List LMVarId := mctx.lDepth.toList.map (·.1)

/-- Evaluates a constant, be it `meta` or not: after 4.22, Lean looks at that unless it is told otherwise. -/
if_known Lean.Environment.evalConst with checkMeta then
  unsafe def evaluate (α : Type) (env : Environment) (name : Name) : Except String α :=
    env.evalConst α {} name (checkMeta := false)
else
  unsafe def evaluate (α : Type) (env : Environment) (name : Name) : Except String α := env.evalConst α {} name

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
The axioms that some constants of an environment rest on, by Lean's collector; none where it cannot be relied on. It goes
through the constants up to 4.29; from 4.30 on it reads what modules have recorded. The sources of autumn 2026, which have
`collectAxiomsCore`, let a module record nothing, and differ from week to week.
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
