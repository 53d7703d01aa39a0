'use strict';
/** `goal.subsume`: whether what proves one goal proves another. */

const { LOCAL_DECL, MVAR_DECL } = require('./mvars.js');

/** @param {object} engine everything main.js put together */
function createSubsumption({ rt, mvars, proofs, states }) {
  const hasMVar = (e) => rt.holds('l_Lean_Expr_hasExprMVar', e);
  const isProposition = (monad, type) => {
    const sort = monad.meta('l_Lean_Meta_inferType', type);
    return rt.holds('l_Lean_Expr_isProp', monad.instantiate(sort));
  };

  /**
   * The first of some goals whose proof, or whose goal itself, proves a goal.
   * @param {object} monad over the state of the goal; where the answer is `subsumed` its goal is filled
   * @param {number} goal
   * @param {number[]} candidates
   * @param {object|null} source the state of the candidates, if it is another one: then only finished proofs count
   * @returns {{result: string, by: number|null}}
   */
  function find(monad, goal, candidates, source) {
    for (const candidate of candidates) {
      let result = 'none';
      const worked = monad.attempt(() => {
        result = compare(monad, goal, candidate, source);
      });
      if (worked && result !== 'none') return { result, by: candidate };
    }
    return { result: 'none', by: null };
  }

  function compare(monad, goal, candidate, source) {
    const mctx = source === null ? monad.mctx() : states.mctxOf(source);
    const theirs = described(mctx, candidate);
    const ours = described(monad.mctx(), goal);
    const inside = monad.within(monad.goal(goal));
    if (hasMVar(theirs.type) || !isProposition(inside, ours.type)) return 'none';
    const { open } = proofs.of(mctx, [candidate]);
    if (source !== null && open.size > 0) return 'none';
    const image = embed(inside, theirs.locals, ours.locals);
    if (image === null || !isEqual(inside, moved(theirs.type, image), ours.type)) return 'none';
    if (open.has(rt.nameText(goal)))
      return theirs.locals.length === ours.locals.length ? 'cycle' : 'none';
    // what is still open cannot be moved to other hypotheses
    const isSame = image.from.every((fvar, i) => rt.holds('l_Lean_Expr_eqv', fvar, image.to[i]));
    if (open.size > 0 && !isSame) return 'none';
    const solution = moved(mvars.instantiate(mctx, mvars.term(candidate)), image);
    inside.meta('l_Lean_Meta_check', solution);
    inside.assign(goal, solution);
    return 'subsumed';
  }

  function described(mctx, mvar) {
    const decl = mvars.declaration(mctx, mvar);
    const whole = (e) => (e === null ? null : mvars.instantiate(mctx, e));
    const locals = mvars.hypothesesOf(decl).map((local) => ({
      fvar: rt.call('lean_expr_mk_fvar', rt.field(local, LOCAL_DECL.fvarId)),
      type: whole(rt.field(local, LOCAL_DECL.type)),
      value: whole(mvars.value(local)),
    }));
    return { type: whole(rt.field(decl, MVAR_DECL.type)), locals };
  }

  /** Finds their hypotheses among ours, in order; each of ours stands for one of theirs at most. */
  function embed(inside, theirs, ours) {
    const image = { from: [], to: [] };
    let next = 0;
    for (const local of theirs) {
      if (hasMVar(local.type)) return null;
      const found = ours.findIndex(
        (mine, i) =>
          i >= next &&
          isEqual(inside, moved(local.type, image), mine.type) &&
          (local.value === null) === (mine.value === null) &&
          (local.value === null || isEqual(inside, moved(local.value, image), mine.value)),
      );
      if (found < 0) return null;
      image.from.push(local.fvar);
      image.to.push(ours[found].fvar);
      next = found + 1;
    }
    return image;
  }
  const moved = (e, { from, to }) =>
    rt.call('l_Lean_Expr_replaceFVars', e, rt.array(from), rt.array(to));
  const isEqual = (inside, a, b) => inside.meta('l_Lean_Meta_isExprDefEqGuarded', a, b) === rt.YES;

  return { find };
}

module.exports = { createSubsumption };
