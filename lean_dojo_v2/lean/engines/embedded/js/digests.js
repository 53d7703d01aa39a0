'use strict';
/**
 * `dojo.digest`: what the goals of a state say, each as a digest.
 *
 * Two goals share a digest exactly if they are the same terms: hypotheses in order, and target, instantiated. Names of
 * hypotheses, binders, universes and metavariables do not matter, nor does how Lean prints them; whether a hypothesis
 * *has* a name that a proof can write does.
 */

const crypto = require('node:crypto');
const { META_STATE } = require('./contexts.js');
const { canonical, universeNames } = require('./expressions.js');

const MVAR_DECL = { lctx: 1, type: 2 };
const LOCAL_DECL = { fvarId: 1, userName: 2, type: 3, value: 4 };
/** `LocalDeclKind.default`, which a local declaration holds behind another byte. */
const ORDINARY = 0;
const TRUE = 3; // box(1)
/** How `canonical` writes a free variable or a metavariable: a row of its own. */
const NAMED_ROW = /(^|;)(fvar|mvar) ([^;]*)/g;

/** @param {object} engine everything main.js put together */
function digestCommands(engine) {
  const { rt, states, pretty } = engine;

  /** `dojo.digest` {stateId}: {goals: a digest each, hasSorry: whether one of them mentions `sorry`}. */
  function digest({ stateId }) {
    const state = states.get(stateId);
    return rt.scope(() => {
      const mctx = rt.field(state.states[1], META_STATE.mctx);
      const goals = rt.listItems(state.goals).map((mvar) => contents(mctx, mvar));
      const expressions = goals.flatMap(({ parts }) => parts);
      const universes = universeNames(rt, expressions);
      const numbered = numbering();
      return {
        goals: goals.map((goal) => sha256(written(goal, universes, numbered))),
        hasSorry: expressions.some((e) => rt.call('l_Lean_Expr_hasSorry', e) === TRUE),
      };
    });
  }

  /** The hypotheses and the target of a goal; `parts` is all of its expressions. */
  function contents(mctx, mvar) {
    const decl = rt.optional(rt.call('l_Lean_MetavarContext_findDecl_x3f', mctx, mvar));
    const instantiated = (e) => pretty.instantiate(mctx, e);
    const ordinary = rt
      .persistentArrayItems(rt.field(rt.field(decl, MVAR_DECL.lctx), 1))
      .map(rt.optional)
      .filter((local) => local !== null && rt.scalarByte(local, 1) === ORDINARY);
    const youngest = new Map(ordinary.map((local) => [userName(local), local]));
    const locals = ordinary.map((local) => ({
      name: rt.nameText(rt.field(local, LOCAL_DECL.fvarId)),
      writable: !hasMacroScopes(local) && youngest.get(userName(local)) === local,
      type: instantiated(rt.field(local, LOCAL_DECL.type)),
      value: isLet(local) ? instantiated(rt.field(local, LOCAL_DECL.value)) : null,
    }));
    const target = instantiated(rt.field(decl, MVAR_DECL.type));
    const said = locals.flatMap(({ type, value }) => (value === null ? [type] : [type, value]));
    return { locals, target, parts: [...said, target] };
  }
  const userName = (local) => rt.nameText(rt.field(local, LOCAL_DECL.userName));
  const hasMacroScopes = (local) =>
    rt.call('l_Lean_Name_hasMacroScopes', rt.field(local, LOCAL_DECL.userName)) === TRUE;
  // the value of a nondependent `let`, as `have` makes it, is out of a proof's reach
  const isLet = (local) => rt.tag(local) === 1 && rt.scalarByte(local, 0) === 0;

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
  const sha256 = (text) => crypto.createHash('sha256').update(text).digest('hex');

  return { 'dojo.digest': digest };
}

module.exports = { digestCommands };
