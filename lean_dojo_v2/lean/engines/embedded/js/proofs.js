'use strict';
/**
 * What goals were proved by, and what their proofs still leave open.
 *
 * Lean's `instantiateMVars` stops at a metavariable with a delayed assignment (`intro`, `revert`, `cases` make them)
 * while anything behind it is open. So the term it gives for a goal may be only the outside of its proof: all that is
 * behind such metavariables belongs to it.
 */

const { LeanException } = require('./contexts.js');
const { EXPR, subterms } = require('./expressions.js');

const DELAYED_PENDING = 1;
const MVAR_DECL = { lctx: 1, type: 2 };
const LOCAL_DECL = { type: 3, value: 4 };
/** `LocalDeclKind.default`, which a local declaration holds behind another byte. */
const ORDINARY = 0;
const TRUE = 3; // box(1)
/** Lean's `ApplyConfig`, as it is by default: newGoals, synthAssignedInstances, allowSynthFailures, approx. */
const APPLY = [0, 1, 0, 1];

/** @param {object} rt the runtime @param {object} pretty see pretty.js */
function createProofs(rt, pretty) {
  const hasMVar = (e) => rt.call('l_Lean_Expr_hasExprMVar', e) === TRUE;
  const term = (mvar) => rt.call('lean_expr_mk_mvar', mvar);

  /**
   * Follows terms through every assignment, delayed ones too.
   * @param {number} mctx
   * @param {number[]} expressions
   * @returns {{terms: number[], open: Map<string, number>}} all the terms that make them up, instantiated; and the
   *   metavariables in those that nothing is assigned to, by name
   */
  function follow(mctx, expressions) {
    const [terms, open, visited] = [[], new Map(), new Set()];
    const pending = [...expressions].reverse();
    while (pending.length > 0) {
      const written = pending.pop();
      const whole = hasMVar(written) ? pretty.instantiate(mctx, written) : written;
      terms.push(whole);
      if (!hasMVar(whole)) continue;
      for (const part of subterms(rt, whole)) {
        if (rt.tag(part) !== EXPR.mvar) continue;
        const mvar = rt.field(part, 0);
        const name = rt.nameText(mvar);
        if (visited.has(name)) continue;
        visited.add(name);
        const delayed = rt.optional(rt.call('lean_get_delayed_mvar_assignment', mctx, mvar));
        if (delayed === null) open.set(name, mvar);
        else pending.push(term(rt.field(delayed, DELAYED_PENDING)));
      }
    }
    return { terms, open };
  }

  /** The proofs of goals, as far as they go. */
  const of = (mctx, mvars) => follow(mctx, mvars.map(term));

  /** The open metavariables that goals speak of, in their targets and hypotheses, and in those metavariables' types. */
  function mentioned(mctx, goals) {
    const found = new Map();
    let expressions = goals.flatMap((mvar) => statement(mctx, mvar));
    while (expressions.length > 0) {
      const fresh = [...follow(mctx, expressions).open].filter(([name]) => !found.has(name));
      for (const [name, mvar] of fresh) found.set(name, mvar);
      expressions = fresh.map(([, mvar]) => rt.field(declaration(mctx, mvar), MVAR_DECL.type));
    }
    return found;
  }
  const declaration = (mctx, mvar) =>
    rt.optional(rt.call('l_Lean_MetavarContext_findDecl_x3f', mctx, mvar));
  const localsOf = (decl) =>
    rt
      .persistentArrayItems(rt.field(rt.field(decl, MVAR_DECL.lctx), 1))
      .map(rt.optional)
      .filter((local) => local !== null);
  function statement(mctx, mvar) {
    const decl = declaration(mctx, mvar);
    return [
      rt.field(decl, MVAR_DECL.type),
      ...localsOf(decl).flatMap((local) => [
        rt.field(local, LOCAL_DECL.type),
        ...(rt.tag(local) === 1 ? [rt.field(local, LOCAL_DECL.value)] : []),
      ]),
    ];
  }

  /**
   * Whether there is, without further proof, something that an open metavariable may stand for: by an instance of
   * `Nonempty`, or among its hypotheses. `?n : Nat` asks for nothing; `?h : P` and `?h : PLift P` ask for a proof of P.
   * What mentions other metavariables counts as asking: it has to hold for one choice of them all.
   * @param {object} monad see contexts.js; its state may be changed
   * @param {number} mvar
   */
  function isInhabited(monad, mvar) {
    const mctx = monad.mctx();
    const decl = declaration(mctx, mvar);
    const wanted = pretty.instantiate(mctx, rt.field(decl, MVAR_DECL.type));
    if (hasMVar(wanted)) return false;
    const isWanted = (e) => rt.call('l_Lean_Expr_eqv', pretty.instantiate(mctx, e), wanted) === TRUE;
    // Lean's own hypotheses, such as a theorem's itself for recursion, prove nothing
    const known = localsOf(decl).filter((local) => rt.scalarByte(local, 1) === ORDINARY);
    if (known.some((local) => isWanted(rt.field(local, LOCAL_DECL.type)))) return true;
    try {
      const name = rt.name('Classical.ofNonempty');
      const left = monad.meta(
        'l_Lean_MVarId_applyConst',
        mvar,
        name,
        rt.constructor(0, [], APPLY),
      );
      return rt.listItems(left).length === 0;
    } catch (error) {
      if (error instanceof LeanException) return false;
      throw error;
    }
  }

  return { of, follow, mentioned, isInhabited };
}

module.exports = { createProofs };
