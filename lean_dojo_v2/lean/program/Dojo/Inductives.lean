import Dojo.Constants

/-!
# What a kernel takes on trust when it makes an inductive type

Kernels before Lean 4.34 accept some inductive types that lead to a proof of `False`. Lean's own syntax makes none of
them, but a program can give one to the kernel, and the judge's kernel may be an old one. So whatever its version, the
judge checks what newer kernels check:

* No term has free variables or metavariables (lean4#14498).
* The sort of a type is found by unfolding definitions. A sort that a recursor computes may be `Prop` in one place and not
  in another, and then data can be read from a proof (lean4#14613, lean4#14807).
* The types of constructors and recursors are well typed, and a recursor's rules have the types that the recursor
  promises (lean4#14577, lean4#14616, lean4#14806, lean4#14808).
-/

namespace Dojo

open Lean

/--
The sort that a type former ends in, if unfolding definitions is enough to find it, or if it depends on no argument. Then
it is the same for all arguments, as a sort that a recursor computes from them need not be. The type is well typed.
-/
private partial def resultSort? (kernel : Kernel.Environment) (type : Expr) : Option Level :=
  match type.consumeMData with
  | .forallE _ _ body _ => resultSort? kernel body
  | .letE _ _ value body _ => resultSort? kernel (body.instantiate1 value)
  | .sort level => some level
  | type =>
    if type.getAppFn.consumeMData.isLambda then resultSort? kernel type.headBeta
    else match type.getAppFn with
      | .const name levels => do
        if let some (.defnInfo info) := kernel.find? name then
          resultSort? kernel ((info.value.instantiateLevelParams info.levelParams levels).beta type.getAppArgs)
        else closed? type
      | _ => closed? type
where
  closed? (type : Expr) : Option Level := do
    guard !type.hasLooseBVars
    let .ok reduced := Kernel.whnf (.ofKernelEnv kernel) {} type | none
    guard (reduced != type)
    resultSort? kernel reduced

/-- Why an inductive type that a kernel has accepted is refused: its sort may be `Prop` in one place and not in another. -/
def sortFault? (kernel : Kernel.Environment) (declaration : Declaration) : Option String := do
  let .inductDecl _ _ types _ := declaration | none
  types.findSome? fun type =>
    match resultSort? kernel type.type with
    | none => s!"the sort of {type.name} is computed, so a kernel could take it for Prop in one place only"
    | some level =>
      if level.normalize.isZero && !level.isZero then s!"the sort of {type.name} is Prop, but not written as Prop" else none

/-- The body of a function type for the given arguments. -/
private def applyType (type : Expr) (args : Array Expr) : Expr :=
  args.foldl (init := type) fun type arg => type.bindingBody!.instantiate1 arg

/-- A function type whose body, under its first `count` binders, is changed. -/
private def mapBody : (count : Nat) → Expr → (Expr → Expr) → Expr
  | count + 1, .forallE name type body info, change => .forallE name type (mapBody count body change) info
  | _, body, change => change body

/-- The type that a rule's value must have for the rule to preserve types, from the types of recursor and constructor. -/
private def typeOfRule (recursor : RecursorVal) (constructor : ConstructorVal) (fields : Nat) : Expr :=
  mapBody (recursor.numParams + recursor.numMotives + recursor.numMinors) recursor.type fun elimination =>
    let major := (applyType elimination (.replicate recursor.numIndices (.sort .zero))).bindingDomain!
    let levels := major.getAppFn.constLevels!
    let params := major.getAppArgs.take constructor.numParams
    let ofFields := applyType (constructor.type.instantiateLevelParams constructor.levelParams levels) params
    mapBody fields ofFields fun result =>
      let params := params.map (·.liftLooseBVars 0 fields)
      let made := mkAppN (.const constructor.name levels) (params ++ (Array.range fields).reverse.map Expr.bvar)
      let indices := result.getAppArgs.drop constructor.numParams
      applyType (elimination.liftLooseBVars 0 fields) (indices.push made)

/-- The declarations that are true of the inductive types that a kernel has accepted, if it made them well. -/
def consequences (kernel : Kernel.Environment) (declaration : Declaration) : Array Declaration := Id.run do
  let .inductDecl levelParams _ types _ := declaration | return #[]
  let name := `_lean_dojo.consequence
  let wellTyped (levelParams : List Name) (type : Expr) : Declaration :=
    .axiomDecl { name, levelParams, type, isUnsafe := false }
  let mut found := #[]
  let mut recursors := types.map (mkRecName ·.name)
  if let some (.inductInfo first) := types.head?.bind (kernel.find? ·.name) then
    recursors := recursors ++ (List.range first.numNested).map fun i => .str first.name s!"rec_{i + 1}"
  for type in types do
    for constructor in type.ctors do
      found := found.push (wellTyped levelParams constructor.type)
      if let some made := kernel.find? constructor.name then found := found.push (wellTyped levelParams made.type)
  for recursor in recursors do
    let some (.recInfo recursor) := kernel.find? recursor | continue
    found := found.push (wellTyped recursor.levelParams recursor.type)
    for rule in recursor.rules do
      let some (.ctorInfo constructor) := kernel.find? rule.ctor | continue
      found := found.push <| .defnDecl {
        name, levelParams := recursor.levelParams, type := typeOfRule recursor constructor rule.nfields
        value := rule.rhs, hints := .opaque, safety := .safe }
  return found

end Dojo
