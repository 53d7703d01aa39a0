'use strict';
/** Steps that are given as terms: Pantograph's `expr`, `have`, `let` and `draft`. */

const { LeanException } = require('./contexts.js');
const { application } = require('./expressions.js');

/** Constructors of `TransformStep`. */
const STEP = { done: 0, continue: 2 };
const TRANSFORM = 'l_Lean_Meta_transform___at___00Lean_Meta_zetaReduce_spec__1';
/** `sorryAx T false`, or with the place that it stands at `sorryAx (Name → T) false place`. */
const LABELLED_ARGUMENTS = 3;
const PI = { body: 2 };

/** @param {object} engine everything main.js put together */
function createActions({ rt, states }) {
  const { NO, YES } = rt;
  /** `BinderInfo.default` and `LocalDeclKind.default`. */
  const [EXPLICIT, ORDINARY] = [rt.box(0), rt.box(0)];

  /** Gives the first goal a value, and puts goals in its place. */
  function replace(tactic, value, goals) {
    const [goal, ...others] = tactic.goals();
    if (states.mentions(tactic.monad.mctx(), value, goal))
      throw new LeanException('the term contains the goal that it is to fill');
    tactic.monad.assign(goal, value);
    tactic.setGoals([...goals, ...others]);
  }

  /** Elaborates a term for the first goal; `_` and `?_` in it become goals. */
  function withHoles(tactic, syntax) {
    const { type, ...place } = tactic.monad.goal(tactic.goals()[0]);
    const inside = tactic.monad.within(place);
    const [tagSuffix, naturalHoles, parentTag] = [rt.UNIT, YES, rt.none];
    const args = [syntax, rt.some(type), tagSuffix, naturalHoles, parentTag];
    const pair = tactic.runIn(inside, 'l_Lean_Elab_Tactic_elabTermWithHoles', ...args);
    return { inside, term: rt.field(pair, 0), goals: rt.listItems(rt.field(pair, 1)) };
  }

  function assign(tactic, syntax) {
    const { term, goals } = withHoles(tactic, syntax);
    replace(tactic, term, goals);
  }

  /** A term whose `sorry`s become goals too. */
  function draft(tactic, syntax) {
    const { inside, term, goals } = withHoles(tactic, syntax);
    // the draft as a whole has the type before holes are made in it; this settles what is left to the unifier
    const { type } = tactic.monad.goal(tactic.goals()[0]);
    inside.freshName(); // Pantograph uses a name up here: so the goals get the same numbers
    inside.meta('l_Lean_Meta_isExprDefEq', type, inside.meta('l_Lean_Meta_inferType', term));
    const drafted = withoutSorry(inside, inside.instantiate(term));
    replace(tactic, drafted.term, [...goals, ...drafted.goals]);
  }

  /** `have binder : type` or `let binder : type`: a goal for it, and then the goal with it. */
  function branch(tactic, syntax, binder, isLet) {
    const { userName, type: target, ...place } = tactic.monad.goal(tactic.goals()[0]);
    const outside = tactic.monad.within(place);
    const type = outside.term('l_Lean_Elab_Term_elabType', syntax);
    const shown = outside.newMVarAt(place, type, isLet ? binder : rt.UNIT);
    const variable = outside.freshName();
    const lctx = isLet
      ? rt.call('l_Lean_LocalContext_mkLetDecl', place.lctx, variable, binder, type, shown, NO, ORDINARY)
      : rt.call('l_Lean_LocalContext_mkLocalDecl', place.lctx, variable, binder, type, EXPLICIT, ORDINARY);
    const fvar = rt.call('lean_expr_mk_fvar', variable);
    const className = rt.optional(outside.meta('l_Lean_Meta_isClass_x3f', type));
    const localInstances =
      className === null
        ? place.localInstances
        : rt.array([...rt.arrayItems(place.localInstances), rt.constructor(0, [className, fvar])]);
    const inside = outside.within({ lctx, localInstances });
    const rest = inside.newMVarAt({ lctx, localInstances }, target, userName);
    const variables = rt.array([fvar]);
    const bind = (symbol, ...flags) => inside.meta(symbol, variables, rest, ...flags);
    const value = isLet
      ? bind('l_Lean_Meta_mkLetFVars', NO, NO, NO)
      : rt.call('lean_expr_mk_app', bind('l_Lean_Meta_mkLambdaFVars', NO, NO, NO, NO, NO), shown);
    replace(tactic, value, [rt.field(shown, 0), rt.field(rest, 0)]);
  }

  let visit = null;
  /** Lean's `pre` and `post` of `Meta.transform`; one of each, since a closure costs a slot for good. */
  const pre = rt.closureMaker(6, (e, ...monad) => rt.constructor(0, [visit(e, monad.slice(0, 4))]));
  const post = rt.closureMaker(6, (e) => rt.constructor(0, [rt.constructor(STEP.done, [e])]));

  /**
   * Puts a new goal in the place of each `sorry` of a term.
   * @param {object} monad
   * @param {number} term
   * @param {number} [userName] the goals' tag
   * @returns {{term: number, goals: number[]}}
   */
  function withoutSorry(monad, term, userName = rt.UNIT) {
    const kept = [];
    let problem = null;
    visit = (e, levels) => {
      const carryOn = () => rt.constructor(STEP.continue, [rt.none]);
      if (problem !== null || !rt.holds('l_Lean_Expr_isSorry', e)) return carryOn();
      const args = application(rt, e)[1];
      const type = args.length < LABELLED_ARGUMENTS ? args[0] : rt.field(args[0], PI.body);
      if (rt.holds('l_Lean_Expr_hasSorry', type)) {
        problem = 'a `sorry` whose type has a `sorry` cannot become a goal';
        return carryOn();
      }
      const made = rt.call('l_Lean_Meta_mkFreshExprSyntheticOpaqueMVar', type, userName, ...levels);
      const goal = rt.field(made, 0);
      kept.push(rt.keep(rt.field(goal, 0)));
      return rt.constructor(STEP.done, [goal]);
    };
    const whole = monad.meta(TRANSFORM, term, pre(), post(), NO, NO);
    for (const goal of kept) {
      rt.hold(goal);
      rt.drop(goal);
    }
    if (problem !== null) throw new LeanException(problem);
    return { term: whole, goals: kept };
  }

  return { assign, draft, branch, withoutSorry };
}

module.exports = { createActions };
