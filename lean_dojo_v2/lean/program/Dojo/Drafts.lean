import Dojo.Declarations
import Dojo.States

/-!
# Proof states out of elaborated texts

At a `sorry`, or before or after a tactic. A theorem must not be provable by citing itself. So its own auxiliary
hypothesis (for recursion) is cleared, and the environment is the one before its command. Where the goals mention helpers
that the command itself added (matchers, local definitions), the later environment is needed: then the theorem, and all
that rests on it, is forbidden by name.
-/

namespace Dojo

open Lean Elab Meta

/-- A goal of a text. -/
inductive Draft where
  /-- A goal as it is. -/
  | goal (mvar : MVarId)
  /-- A new goal that says the same as one. -/
  | copy (mvar : MVarId)
  /-- A new goal of a type. -/
  | typed (lctx : LocalContext) (type : Expr)
  deriving Inhabited

private def Draft.place? (mctx : MetavarContext) : Draft → Option (LocalContext × Expr)
  | .goal mvar | .copy mvar => (mctx.findDecl? mvar).map fun decl => (decl.lctx, decl.type)
  | .typed lctx type => some (lctx, type)

private def locals (lctx : LocalContext) : Array LocalDecl :=
  lctx.decls.toArray.filterMap id

/-- All that a goal says: its target, and the types and values of its hypotheses. -/
private def draftTerms (lctx : LocalContext) (type : Expr) : Array Expr :=
  (locals lctx).foldl (init := #[type]) fun all decl =>
    match decl with
    | .cdecl .. => all.push decl.type
    | .ldecl (value := value) .. => (all.push decl.type).push value

private def isNumbered (start ending : String) : Bool :=
  ending.startsWith start && (behind start ending).isNat

/-- Whether Lean derives a name of this ending from a definition or matcher when a tactic asks for it. -/
private def isDerivedEnding (ending : String) : Bool :=
  ["splitter", "eq_def", "eq_unfold", "induct", "induct_unfolding", "mutual_induct", "mutual_induct_unfolding",
    "fun_cases", "fun_cases_unfolding"].contains ending || isNumbered "eq_" ending || isNumbered "congr_eq_" ending

/-- A lemma that Lean split off a proof, and takes again for the same statement: what it uses counts, not its name. -/
private def isSplitOff : Name → Bool
  | .str _ ending => isNumbered "_proof_" ending || isNumbered "_simp_" ending
  | _ => false

/-- The environment that the goals can live in, and what must not be used there. -/
private def world (unit : Elaborated) (context : ContextInfo) (terms : Array Expr) : Environment × NameSet := Id.run do
  let before := unit.before.env
  let mut missing : NameSet := {}
  for e in terms do
    for name in e.getUsedConstants do
      unless before.contains name do missing := missing.insert name
  if missing.isEmpty then return (before, {})
  let env := context.env
  let needed := (closureOf env missing.toArray (!before.contains ·)).foldl (init := ({} : NameSet)) fun all (name, _) =>
    all.insert name
  -- what `split` or `simp` derives from something that is allowed says nothing about the theorem either
  let isDerived (name : Name) : Bool :=
    [name, (privateToUserName? name).getD name].any fun
      | .str base ending => isDerivedEnding ending && (needed.contains base || before.contains base)
      | _ => false
  let mut forbidden : NameSet := {}
  for (name, _) in addedTo before env do
    unless needed.contains name || isDerived name || isSplitOff name do forbidden := forbidden.insert name
  return (env, forbidden)

/-- Lean's local instances: the hypotheses whose type is a class. -/
private def instancesIn (lctx : LocalContext) : MetaM LocalInstances := do
  withLCtx lctx {} do
    let mut found := #[]
    for decl in locals lctx do
      if let some className ← isClass? decl.type then
        found := found.push { className, fvar := .fvar decl.fvarId }
    return found

private def Draft.open (draft : Draft) (recursion : Bool) : MetaM MVarId := do
  let new (lctx : LocalContext) (instances : LocalInstances) (type : Expr) (userName : Name) : MetaM MVarId := do
    let type ← instantiateMVars type
    return (← mkFreshExprMVarAt lctx instances type .syntheticOpaque userName).mvarId!
  let goal ← match draft with
    | .goal mvar => pure mvar
    | .copy mvar => do
      let decl ← mvar.getDecl
      new decl.lctx decl.localInstances decl.type decl.userName
    | .typed lctx type => do new lctx (← instancesIn lctx) type .anonymous
  if recursion then return goal
  let auxiliaries := (locals (← goal.getDecl).lctx).filter (·.kind == .auxDecl)
  auxiliaries.foldlM (init := goal) fun goal decl => goal.tryClear decl.fvarId

/-- Options and open namespaces as they are at a node of an information tree, and what else holds there. -/
private def Monads.atNode (monads : Monads) (context : ContextInfo) (mctx : MetavarContext) (env : Environment) : Monads :=
  { monads with
    coreContext := { monads.coreContext with
      options := context.options, currNamespace := context.currNamespace, openDecls := context.openDecls }
    metaState := { monads.metaState with mctx }
    coreState := { monads.coreState with env, ngen := context.ngen } }

/--
A state of goals at a node of a command's information tree, with its number. With `recursion` a proof may go on with what
it defines itself: the theorem, the others of its `mutual` block, `where` and `let rec`. Whether the recursion ends, only
the whole proof shows.
-/
def openDrafts (unit : Elaborated) (library : Environment) (context : ContextInfo) (mctx : MetavarContext)
    (drafts : List Draft) (recursion := false) : DojoM (Nat × ProofState) := do
  let terms := drafts.foldl (init := #[]) fun all draft =>
    match draft.place? mctx with
    | some (lctx, type) => all ++ (draftTerms lctx type).map fun e => (instantiateMVarsCore mctx e).1
    | none => all
  let (env, forbidden) := world unit context terms
  let levels := (terms.foldl (init := ({} : CollectLevelParams.State)) collectLevelParams).params.toList
  let monads := ((← Monads.ofCommand unit.before).atNode context mctx env).withLevels levels
  let (goals, monads) ← monads.run (drafts.mapM (·.open recursion))
  let state : ProofState := { monads, library, goals, root := goals.head?.getD ⟨.anonymous⟩, forbidden }
  return (← keepState state, state)

/-- Whether a term at a node of an information tree has a type, up to what Lean unfolds. -/
def hasTypeAt (unit : Elaborated) (context : ContextInfo) (lctx : LocalContext) (e type : Expr) : DojoM Bool := do
  if e.isSyntheticSorry then return false
  let monads := (← Monads.ofCommand unit.before).atNode context context.mctx context.env
  match ← monads.attempt (withLCtx lctx {} do isDefEqGuarded (← inferType e) type) with
  | (.ok fits, _) => return fits
  | (.error _, _) => return false

end Dojo
