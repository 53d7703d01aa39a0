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
const { LOCAL_DECL, LOCAL_DECL_KIND, MVAR_DECL } = require('./mvars.js');

const DELAYED_PENDING = 1;
/** Lean's `ApplyConfig`, as it is by default: newGoals, synthAssignedInstances, allowSynthFailures, approx. */
const APPLY = [0, 1, 0, 1];

/** @param {object} engine everything main.js has put together by then */
function createProofs({ rt, mvars }) {
  const hasMVar = (e) => rt.holds('l_Lean_Expr_hasExprMVar', e);

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
      const whole = hasMVar(written) ? mvars.instantiate(mctx, written) : written;
      terms.push(whole);
      if (!hasMVar(whole)) continue;
      for (const part of subterms(rt, whole)) {
        if (rt.tag(part) !== EXPR.mvar) continue;
        const mvar = rt.field(part, 0);
        const name = rt.nameText(mvar);
        if (visited.has(name)) continue;
        visited.add(name);
        const delayed = mvars.delayed(mctx, mvar);
        if (delayed === null) open.set(name, mvar);
        else pending.push(mvars.term(rt.field(delayed, DELAYED_PENDING)));
      }
    }
    return { terms, open };
  }

  /** The proofs of goals, as far as they go. */
  const of = (mctx, goals) => follow(mctx, goals.map(mvars.term));

  /** The open metavariables that goals speak of, in their targets and hypotheses, and in those metavariables' types. */
  function mentioned(mctx, goals) {
    const found = new Map();
    let expressions = goals
      .map((mvar) => mvars.declaration(mctx, mvar))
      .flatMap((decl) => mvars.said(rt.field(decl, MVAR_DECL.lctx), rt.field(decl, MVAR_DECL.type)));
    while (expressions.length > 0) {
      const fresh = [...follow(mctx, expressions).open].filter(([name]) => !found.has(name));
      for (const [name, mvar] of fresh) found.set(name, mvar);
      expressions = fresh.map(([, mvar]) => rt.field(mvars.declaration(mctx, mvar), MVAR_DECL.type));
    }
    return found;
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
    const decl = mvars.declaration(mctx, mvar);
    const wanted = mvars.instantiate(mctx, rt.field(decl, MVAR_DECL.type));
    if (hasMVar(wanted)) return false;
    const isWanted = (e) => rt.holds('l_Lean_Expr_eqv', mvars.instantiate(mctx, e), wanted);
    // Lean's own hypotheses, such as a theorem's itself for recursion, prove nothing
    const known = mvars
      .hypothesesOf(decl)
      .filter((local) => mvars.kind(local) === LOCAL_DECL_KIND.ordinary);
    if (known.some((local) => isWanted(rt.field(local, LOCAL_DECL.type)))) return true;
    try {
      const [name, how] = [rt.name('Classical.ofNonempty'), rt.constructor(0, [], APPLY)];
      const left = monad.meta('l_Lean_MVarId_applyConst', mvar, name, how);
      return rt.listItems(left).length === 0;
    } catch (error) {
      if (error instanceof LeanException) return false;
      throw error;
    }
  }

  return { of, follow, mentioned, isInhabited };
}

module.exports = { createProofs };
