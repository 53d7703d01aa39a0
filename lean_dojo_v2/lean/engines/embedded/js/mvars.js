'use strict';
/** Metavariables, which goals are: what they say, and what is assigned to them. */

/** Fields of Lean's `MetavarDecl` and `LocalDecl`. */
const MVAR_DECL = { userName: 0, lctx: 1, type: 2, localInstances: 4 };
const LOCAL_DECL = { fvarId: 1, userName: 2, type: 3, value: 4 };
const LOCAL_CONTEXT = { declarations: 1 };
/** The `MetavarKind` of goals: only such ones are never assigned by the unifier. */
const SYNTHETIC_OPAQUE = 2;
const LOCAL_DECL_KIND = { ordinary: 0, implementationDetail: 1, auxiliary: 2 };

/** @param {object} engine everything main.js put together */
function createMvars({ rt }) {
  /** The declaration of a metavariable, or null. */
  const declaration = (mctx, mvar) =>
    rt.optional(rt.call('l_Lean_MetavarContext_findDecl_x3f', mctx, mvar));
  /** The metavariable as a term. */
  const term = (mvar) => rt.call('lean_expr_mk_mvar', mvar);
  /** A term with what is assigned to its metavariables in their places. */
  const instantiate = (mctx, e) => rt.field(rt.call('l_Lean_instantiateMVarsCore', mctx, e), 0);

  const assigned = (mctx, mvar) => rt.optional(rt.call('lean_get_mvar_assignment', mctx, mvar));
  const delayed = (mctx, mvar) => rt.optional(rt.call('lean_get_delayed_mvar_assignment', mctx, mvar));
  const isAssigned = (mctx, mvar) => assigned(mctx, mvar) !== null || delayed(mctx, mvar) !== null;

  /** The hypotheses of a local context. */
  const hypotheses = (lctx) =>
    rt
      .persistentArrayItems(rt.field(lctx, LOCAL_CONTEXT.declarations))
      .map(rt.optional)
      .filter((local) => local !== null);
  const hypothesesOf = (decl) => hypotheses(rt.field(decl, MVAR_DECL.lctx));
  /** A hypothesis' `LocalDeclKind`, which it holds behind another byte. */
  const kind = (local) => rt.scalarByte(local, 1);
  /** The value of a `let`, or null. */
  const value = (local) => (rt.tag(local) === 1 ? rt.field(local, LOCAL_DECL.value) : null);
  /** Whether a proof cannot use the value of a `let`, which is nondependent as `have` makes it. */
  const isHave = (local) => rt.tag(local) === 1 && rt.scalarByte(local, 0) !== 0;

  /** All that a goal says: its target, and the types and values of its hypotheses. */
  const said = (lctx, type) => [
    type,
    ...hypotheses(lctx)
      .flatMap((local) => [rt.field(local, LOCAL_DECL.type), value(local)])
      .filter((e) => e !== null),
  ];

  return {
    declaration,
    term,
    instantiate,
    assigned,
    delayed,
    isAssigned,
    hypotheses,
    hypothesesOf,
    kind,
    value,
    isHave,
    said,
  };
}

module.exports = { createMvars, MVAR_DECL, LOCAL_DECL, LOCAL_DECL_KIND, SYNTHETIC_OPAQUE };
