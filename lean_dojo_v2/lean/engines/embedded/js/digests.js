'use strict';
/**
 * `dojo.digest`: what the goals of a state say, each as a digest.
 *
 * Two goals share a digest exactly if they are the same terms: hypotheses in order, and target, instantiated. Names of
 * hypotheses, binders, universes and metavariables do not matter, nor does how Lean prints them; whether a hypothesis
 * *has* a name that a proof can write does.
 */

const { canonical, universeNames } = require('./expressions.js');
const { LOCAL_DECL, LOCAL_DECL_KIND, MVAR_DECL } = require('./mvars.js');
const { sha256 } = require('./text.js');

/** How `canonical` writes a free variable or a metavariable: a row of its own. */
const NAMED_ROW = /(^|;)(fvar|mvar) ([^;]*)/g;

/** @param {object} engine everything main.js put together */
function createDigests(engine) {
  const { rt, states, mvars } = engine;

  /**
   * `dojo.digest` {stateId}: {goals: a digest each, as parts of one state; each: the same as if each were alone;
   * hasSorry: whether one of them mentions `sorry`}.
   */
  function digest({ stateId }) {
    const state = states.get(stateId);
    return rt.scope(() => {
      const mctx = states.mctxOf(state);
      const goals = states.goalsOf(state).map((mvar) => contents(mctx, mvar));
      const expressions = goals.flatMap(({ parts }) => parts);
      const universes = universeNames(rt, expressions);
      const numbered = numbering();
      return {
        goals: goals.map((goal) => sha256(written(goal, universes, numbered))),
        each: goals.map(alone),
        hasSorry: expressions.some((e) => rt.holds('l_Lean_Expr_hasSorry', e)),
      };
    });
  }

  /** The digest of a goal by itself: universes and variables are numbered in it alone. */
  const alone = (goal) => sha256(written(goal, universeNames(rt, goal.parts), numbering()));
  const ofGoal = (mctx, mvar) => alone(contents(mctx, mvar));

  /** The hypotheses and the target of a goal; `parts` is all of its expressions. */
  function contents(mctx, mvar) {
    const decl = mvars.declaration(mctx, mvar);
    const instantiated = (e) => (e === null ? null : mvars.instantiate(mctx, e));
    const ordinary = mvars
      .hypothesesOf(decl)
      .filter((local) => mvars.kind(local) === LOCAL_DECL_KIND.ordinary);
    const youngest = new Map(ordinary.map((local) => [userName(local), local]));
    const locals = ordinary.map((local) => ({
      name: rt.nameText(rt.field(local, LOCAL_DECL.fvarId)),
      writable: !hasMacroScopes(local) && youngest.get(userName(local)) === local,
      type: instantiated(rt.field(local, LOCAL_DECL.type)),
      value: mvars.isHave(local) ? null : instantiated(mvars.value(local)),
    }));
    const target = instantiated(rt.field(decl, MVAR_DECL.type));
    const said = locals.flatMap(({ type, value }) => (value === null ? [type] : [type, value]));
    return { locals, target, parts: [...said, target] };
  }
  const userName = (local) => rt.nameText(rt.field(local, LOCAL_DECL.userName));
  const hasMacroScopes = (local) =>
    rt.holds('l_Lean_Name_hasMacroScopes', rt.field(local, LOCAL_DECL.userName));

  function written({ locals, target }, universes, numbered) {
    const text = (e) =>
      canonical(rt, e, universes).replace(NAMED_ROW, (_, start, kind, name) =>
        [start, kind, numbered(name)].join(' '),
      );
    const lines = locals.map(({ name, writable, type, value }) => {
      const line = [writable ? 'named' : 'nameless', text(type), value === null ? '' : text(value)];
      numbered(name);
      return line.join('|');
    });
    return [...lines, text(target)].join('\n');
  }

  /** Numbers names by their first mention, the same all over a state: its goals may share metavariables. */
  function numbering() {
    const known = new Map();
    return (name) => {
      if (!known.has(name)) known.set(name, known.size);
      return known.get(name);
    };
  }

  return { ofGoal, commands: { 'dojo.digest': digest } };
}

module.exports = { createDigests };
