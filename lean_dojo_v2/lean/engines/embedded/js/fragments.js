'use strict';
/**
 * Goals whose next step is not a tactic: inside `conv`, and in a chain of `calc`.
 *
 * A fragment is a plain record {goal, kind, …Lean objects}: `calc` {previous: the last right-hand side or null},
 * `conv` {right: what the goal is rewritten to, proof} for the goal that waits, and `conv-part` {parent: that goal} for
 * each goal inside. A state holds its fragments (states.js).
 */

const { LeanException } = require('./contexts.js');
const { RequestError } = require('./errors.js');

/** @param {object} engine everything main.js put together */
function createFragments({ rt, mvars, states }) {
  const same = (a, b) => rt.nameText(a) === rt.nameText(b);
  const partsOf = (fragments, parent) =>
    fragments.filter((one) => one.kind === 'conv-part' && same(one.parent, parent));
  const isOpen = (tactic, { goal }) => !mvars.isAssigned(tactic.monad.mctx(), goal);
  const pair = (o) => [rt.field(o, 0), rt.field(o, 1)];

  /** What a request's `mode` does to a goal. */
  function change(mode, fragments, goal, fragment) {
    const refuse = (why) => {
      throw new RequestError('invalid', why);
    };
    switch (mode) {
      case 'tactic':
        if (fragment === null) refuse('the goal is in no conv or calc mode');
        return (tactic) => leave(tactic, fragments, fragment);
      case 'calc':
        if (fragment !== null) refuse('the goal is in a conv or calc mode already');
        return () => [...fragments, { goal, kind: 'calc', previous: rt.UNIT }];
      case 'conv':
        if (fragment !== null && fragment.kind !== 'calc') refuse('the goal is in conv mode already');
        return (tactic) => enterConv(tactic, fragments, goal);
      default:
        throw new RequestError('command', `Invalid mode ${mode}: there are tactic, conv and calc`);
    }
  }

  function enterConv(tactic, fragments, goal) {
    const { type, ...place } = tactic.monad.goal(goal);
    const inPlace = tactic.monad.within(place);
    const [right, proof] = pair(inPlace.meta('l_Lean_Elab_Tactic_Conv_mkConvGoalFor', type, rt.UNIT));
    const inside = rt.field(proof, 0);
    tactic.setGoals([inside, ...tactic.goals().slice(1)]);
    return [
      ...fragments,
      { goal, kind: 'conv', right, proof },
      { goal: inside, kind: 'conv-part', parent: goal },
    ];
  }

  /** One step in the language of a fragment. */
  function step(tactic, fragments, fragment, syntax) {
    return fragment.kind === 'calc'
      ? calcStep(tactic, fragments, fragment, syntax)
      : convStep(tactic, fragments, fragment, syntax);
  }

  function convStep(tactic, fragments, fragment, syntax) {
    const others = new Set(tactic.goals().map(rt.nameText));
    tactic.run('l_Lean_Elab_Tactic_evalTactic', syntax);
    const made = tactic
      .goals()
      .filter((goal) => !others.has(rt.nameText(goal)) && isConvGoal(tactic, goal))
      .map((goal) => ({ goal, kind: 'conv-part', parent: fragment.parent }));
    const next = [...fragments, ...made];
    const parts = partsOf(next, fragment.parent);
    return parts.some((part) => isOpen(tactic, part)) ? next : leave(tactic, next, fragment);
  }
  const isConvGoal = (tactic, goal) =>
    rt.optional(rt.call('l_Lean_isLHSGoal_x3f', tactic.monad.goal(goal).type)) !== null;

  /** Leaves a mode: the goal that a `conv` began at comes back, rewritten. */
  function leave(tactic, fragments, fragment) {
    if (fragment.kind === 'calc') return fragments.filter((one) => !same(one.goal, fragment.goal));
    const parent =
      fragment.kind === 'conv' ? fragment : states.findFragment(fragments, fragment.parent);
    const { monad } = tactic;
    const parts = partsOf(fragments, parent.goal);
    parts.filter((part) => isOpen(tactic, part)).forEach(({ goal }) => close(monad, goal));
    const left = parts.filter((part) => isOpen(tactic, part)).map(({ goal }) => goal);
    if (left.length > 0) {
      const shown = left.map((goal) => tactic.text(monad.goal(goal)));
      throw new LeanException(`conv: these are not solved yet:\n${shown.join('\n')}`);
    }
    const [target, proof] = [parent.right, parent.proof].map(monad.instantiate);
    const inPlace = monad.within(monad.goal(parent.goal));
    const others = tactic.goals();
    const next = inPlace.meta('l_Lean_MVarId_replaceTargetEq', parent.goal, target, proof);
    tactic.setGoals([next]);
    tactic.attempt('with_reducible rfl');
    const own = new Set([parent, ...parts].map(({ goal }) => rt.nameText(goal)));
    tactic.setGoals([...tactic.goals(), ...others.filter((goal) => !own.has(rt.nameText(goal)))]);
    const rest = fragments.filter((one) => !own.has(rt.nameText(one.goal)));
    // the step of a `calc` that the `conv` began at is one still
    const outer = fragments.find((one) => one.kind === 'calc' && same(one.goal, parent.goal));
    return outer === undefined ? rest : [...rest, { ...outer, goal: next }];
  }

  /** Closes a goal by `rfl` or by an instance, if that works. */
  function close(monad, goal) {
    const inside = monad.within(monad.goal(goal));
    monad.attempt(() => inside.meta('l_Lean_MVarId_refl', goal, rt.YES)) ||
      monad.attempt(() => inside.meta('l_Lean_MVarId_inferInstance', goal));
  }

  /** `left ∼ right`, where `_` on the left is the right-hand side before it. */
  function calcStep(tactic, fragments, fragment, syntax) {
    const { monad } = tactic;
    const { goal } = fragment;
    const { type: target, userName, ...place } = monad.goal(goal);
    const inside = monad.within(place);
    const previous = rt.isScalar(fragment.previous) ? null : fragment.previous;
    const annotated =
      previous === null
        ? syntax
        : inside.term(
            'l_Lean_Elab_Term_annotateFirstHoleWithType',
            syntax,
            inside.meta('l_Lean_Meta_inferType', previous),
          );
    const claim = inside.term('l_Lean_Elab_Term_elabType', annotated);
    const [, left, right] = relation(inside, claim) ?? fail(tactic, place, 'expected a relation', claim);
    if (previous !== null && inside.meta('l_Lean_Meta_isExprDefEqGuarded', left, previous) !== rt.YES)
      fail(tactic, place, 'the left-hand side is not the right-hand side of the step before', claim);
    const step = inside.newMVarAt(place, claim, rt.call('l_Lean_Name_append', userName, rt.name('calc')));
    const goals = [rt.field(step, 0)];
    const rest = fragments.filter((one) => !same(one.goal, goal));
    let proof = step;
    if (inside.meta('l_Lean_Meta_isExprDefEq', claim, target) !== rt.YES) {
      const remains = remainder(inside, tactic, place, claim, target);
      const after = inside.newMVarAt(place, remains, userName);
      const whole = inside.meta('l_Lean_Elab_Term_mkCalcTrans', step, claim, after, remains);
      proof = rt.field(whole, 0);
      if (inside.meta('l_Lean_Meta_isExprDefEq', rt.field(whole, 1), target) !== rt.YES)
        fail(tactic, place, 'the chain does not lead to the goal', rt.field(whole, 1));
      goals.push(rt.field(after, 0));
      rest.push({ goal: goals[1], kind: 'calc', previous: right });
    }
    monad.assign(goal, proof);
    tactic.setGoals([...goals, ...tactic.goals().slice(1)]);
    return rest;
  }
  /** What is left to show: the goal's relation between where the step ends and where the goal ends. */
  function remainder(inside, tactic, place, claim, target) {
    const [, , from] = relation(inside, inside.instantiate(claim));
    const wanted = relation(inside, target);
    if (wanted === null) fail(tactic, place, 'the goal is no relation', target);
    const [related, , to] = wanted;
    return rt.call('lean_expr_mk_app', rt.call('lean_expr_mk_app', related, from), to);
  }
  function relation(inside, e) {
    const found = rt.optional(inside.meta('l_Lean_Elab_Term_getCalcRelation_x3f', e));
    if (found === null) return null;
    return [rt.field(found, 0), ...pair(rt.field(found, 1))];
  }
  function fail(tactic, place, why, e) {
    throw new LeanException(`calc: ${why}: ${tactic.text({ ...place, type: e })}`);
  }

  return { change, step };
}

module.exports = { createFragments };
