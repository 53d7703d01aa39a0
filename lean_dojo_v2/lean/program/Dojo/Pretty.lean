import Dojo.Session

/-!
# Terms and goals as text

They are written as Lean prints them, as Pantograph's S-expressions, and as Pantograph's records.
-/

namespace Dojo

open Lean Meta

/-- The maximum size in bytes of an expression as a tree, which may be far larger than the shared expression. -/
private def maxSexp : Nat := 4000000

private partial def levelSexp (level : Level) : String :=
  let base := level.getLevelOffset
  let offset := level.getOffset
  let text := match base with
    | .max a b => s!"(:max {levelSexp a} {levelSexp b})"
    | .imax a b => s!"(:imax {levelSexp a} {levelSexp b})"
    | .param name => nameText name
    | .mvar id => s!"(:mv {nameText id.name})"
    | _ => "0"
  if offset == 0 then text
  else if base.isZero then toString offset
  else s!"(+ {text} {offset})"

private def binderMark : BinderInfo → String
  | .default => ""
  | .implicit => " :i"
  | .strictImplicit => " :si"
  | .instImplicit => " :ii"

private structure Written where
  known : Known ExprStructEq String := {}
  size : Nat := 0

private abbrev WriteM := StateT Written (Except Unit)

private partial def write (e : Expr) : WriteM String := do
  let text ← match (← get).known.find? ⟨e⟩ with
    | some text => pure text
    | none =>
      let text ← fresh
      modify fun s => { s with known := s.known.insert ⟨e⟩ text }
      pure text
  if text.utf8ByteSize > maxSexp || (← get).size > 4 * maxSexp then throw ()
  modify fun s => { s with size := s.size + text.utf8ByteSize }
  return text
where
  binder (word : String) (name : Name) (type body : Expr) (info : BinderInfo) : WriteM String := do
    return s!"({word} {nameText name.eraseMacroScopes} {← write type} {← write body}{binderMark info})"
  fresh : WriteM String := do
    match e with
    | .bvar i => return toString i
    | .fvar id => return s!"(:fv {nameText id.name})"
    | .mvar id => return s!"(:mv {nameText id.name})"
    | .sort level => return s!"(:sort {levelSexp level})"
    | .const name _ => return s!"(:c {nameText name})"
    | .app .. =>
      let parts ← (e.getAppFn :: e.getAppArgs.toList).mapM write
      return s!"({" ".intercalate parts})"
    | .lam name type body info => binder ":lambda" name type body info
    | .forallE name type body info => binder ":forall" name type body info
    | .letE name type value body _ =>
      return s!"(:let {nameText name.eraseMacroScopes} {← write type} {← write value} {← write body})"
    | .lit (.natVal n) => return s!"(:lit {n})"
    | .lit (.strVal text) => return s!"(:lit {(Json.str text).compress})"
    | .mdata _ inner => write inner
    | .proj type i inner => return s!"(:proj {nameText type} {i} {← write inner})"

/-- An expression in Pantograph's S-expression form; `(:too-large)` where the text would exceed its bound. -/
def sexp (e : Expr) : String :=
  match (write e).run' {} with
  | .ok text => text
  | .error () => "(:too-large)"

/-!
## Goals and expressions

They have Lean's own default line width, so that they read as in `lean --json` and in LeanDojo.
-/

/-- The printing context of a proof state, without the local context of a goal. -/
def Monads.printContext (monads : Monads) : PPContext where
  env := monads.coreState.env
  mctx := monads.metaState.mctx
  opts := monads.coreContext.options
  currNamespace := monads.coreContext.currNamespace
  openDecls := monads.coreContext.openDecls

/-- The printing context at a node of an information tree. -/
def printContextAt (context : Elab.ContextInfo) (mctx : MetavarContext) : PPContext :=
  { context with mctx }.toPPContext {}

def ProofState.printContext (state : ProofState) : PPContext := state.monads.printContext

/-- An expression as Lean prints it. -/
def exprText (context : PPContext) (e : Expr) : IO String := do
  return (← ppExprWithInfos context e).fmt.pretty

/-- One goal as Lean prints it: `case tag`, hypotheses, `⊢ target`. -/
def goalText (context : PPContext) (goal : MVarId) : IO String := do
  let text := (← ppGoal context goal).pretty
  return if text.startsWith "\n" then behind "\n" text else text

/-- A whole state as Lean prints it, from its goals. -/
def stateText (goals : List String) : String := if goals.isEmpty then "no goals" else "\n\n".intercalate goals

def goalsText (context : PPContext) (goals : List MVarId) : IO String :=
  return stateText (← goals.mapM (goalText context))

/--
The printing context in which a metavariable's own hypotheses have their names, which are distinguishable: those that a
proof cannot write have a dagger.
-/
def _root_.Lean.PPContext.inside (context : PPContext) (decl : MetavarDecl) : PPContext :=
  { context with lctx := (decl.lctx.sanitizeNames.run' { options := context.opts } : Id LocalContext) }

private def isVisible (settings : Settings) (decl : LocalDecl) : Bool :=
  match decl.kind with
  | .default => true
  | .auxDecl => settings.printAuxDecls
  | .implDetail => settings.printImplementationDetailHyps

/-- Pantograph's `Expression`, with those of the fields `pp`, `sexp` and `dependentMVars` that the settings ask for. -/
def expressionRecord (settings : Settings) (context : PPContext) (e : Expr) : IO Json := do
  let mut fields := []
  if settings.printExprPretty then fields := ("pp", .str (← exprText context e)) :: fields
  if settings.printExprAST || settings.printDependentMVars then
    let whole := (instantiateMVarsCore context.mctx e).1
    if settings.printExprAST then fields := ("sexp", .str (sexp whole)) :: fields
    if settings.printDependentMVars then
      fields := ("dependentMVars", toJson ((whole.collectMVars {}).result.map (nameText ·.name))) :: fields
  return record fields

/-- A hypothesis. As in Pantograph, a `have` also has a value, which a proof cannot use; `isHave` says so. -/
private def variableRecord (settings : Settings) (context : PPContext) (decl : LocalDecl) : IO Json := do
  let userName := nameText decl.userName
  let mut fields := [
    ("name", .str (nameText decl.fvarId.name)),
    ("userName", .str userName),
    ("isInaccessible", .bool (userName.contains '✝')),
    ("type", ← expressionRecord settings context decl.type)]
  if let .ldecl _ _ _ _ value nondep _ := decl then
    if nondep then fields := ("isHave", .bool true) :: fields
    fields := ("value", ← expressionRecord settings context value) :: fields
  return record fields

/-- Pantograph's `Goal`, with the text of the whole goal as `pp`. -/
def goalRecord (settings : Settings) (context : PPContext) (goal : MVarId) (fragment : String) : IO Json := do
  let some decl := context.mctx.findDecl? goal | throw (IO.userError s!"unknown goal {goal.name}")
  let here := context.inside decl
  let userName := nameText decl.userName
  let locals := here.lctx.decls.toList.filterMap id |>.filter (isVisible settings)
  let name := if userName.isEmpty then [] else [("userName", .str userName)]
  return record ([
    ("name", .str (nameText goal.name)),
    ("fragment", .str fragment),
    ("isConversion", .bool (fragment == "conv")),
    ("target", ← expressionRecord settings here decl.type),
    ("vars", .arr (← locals.mapM (variableRecord settings here)).toArray),
    ("pp", .str (← goalText context goal))] ++ name)

end Dojo
