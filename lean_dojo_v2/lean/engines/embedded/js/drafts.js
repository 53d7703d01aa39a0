'use strict';
/**
 * Proof states out of elaborated texts: at a `sorry`, or before or after a tactic.
 *
 * A theorem must not be provable by citing itself. So its own auxiliary hypothesis (for recursion) is cleared, and the
 * environment is the one before its command. Where the goals mention helpers that the command itself added (matchers,
 * local definitions), the later environment is needed: then the theorem, and all that rests on it, is forbidden by name.
 */

const { COMMAND_STATE, CORE_CONTEXT, CORE_STATE, META_STATE } = require('./contexts.js');
const { EXPR, subterms, universeNames } = require('./expressions.js');
const { LOCAL_DECL, LOCAL_DECL_KIND, MVAR_DECL } = require('./mvars.js');

/** What Lean derives from a definition or matcher when a tactic asks for it; the names are its own (reserved). */
const DERIVED =
  /\.(?:splitter|(?:congr_)?eq_\d+|eq_def|eq_unfold|(?:mutual_)?induct(?:_unfolding)?|fun_cases(?:_unfolding)?)$/;

/** A lemma that Lean split off a proof, and takes again for the same statement: what it uses counts, not its name. */
const LEMMA = /\._(?:proof|simp)_\d+$/;

/** @param {object} engine everything main.js put together */
function createDrafts(engine) {
  const { rt, contexts, states, mvars, trees, pretty, constants } = engine;

  /** The printing context at a node of an information tree. */
  const printContext = (context, mctx) =>
    pretty.printContext(trees.contextPart(context, 'env'), mctx, (name) =>
      trees.contextPart(context, name),
    );

  /** Whether a goal mentions no metavariables, so that nothing can change what it says. */
  const isSettled = (decl) =>
    !mvars
      .said(rt.field(decl, MVAR_DECL.lctx), rt.field(decl, MVAR_DECL.type))
      .some((e) => rt.holds('l_Lean_Expr_hasMVar', e));

  /** Which environment the goals can live in, and what must not be used there. */
  function world(unit, context, expressions) {
    const before = rt.field(unit.before, COMMAND_STATE.env);
    const mentioned = new Map();
    const seen = new Set();
    expressions.forEach((e) => subterms(rt, e, seen));
    for (const term of seen)
      if (rt.tag(term) === EXPR.const)
        mentioned.set(rt.nameText(rt.field(term, 0)), rt.field(term, 0));
    const missing = [...mentioned.values()].filter((name) => constants.find(before, name) === null);
    if (missing.length === 0) return { env: before, forbidden: undefined };
    const env = trees.contextPart(context, 'env');
    const added = constants.added(before, env);
    const needed = constants.closure(env, missing, (name) => constants.find(before, name) === null);
    // what `split` or `simp` derives from something that is allowed says nothing about the theorem either
    const derived = (name) =>
      [rt.nameText(name), constants.userName(name)]
        .filter((written) => DERIVED.test(written))
        .map((written) => written.replace(DERIVED, ''))
        .some((base) => needed.has(base) || constants.find(before, rt.name(base)) !== null);
    const forbidden = added
      .map(([name]) => name)
      .filter((name) => !needed.has(rt.nameText(name)) && !derived(name))
      .filter((name) => !LEMMA.test(rt.nameText(name)));
    return { env, forbidden: new Set(forbidden.map(rt.nameText)) };
  }

  /**
   * Opens a state.
   * @param {object} unit the command (frontend.js)
   * @param {number} context the ContextInfo there
   * @param {number} mctx the metavariables there
   * @param {object[]} goals {mvar} or {lctx, type}
   * @param {boolean} [recursion] whether the proof may go on with what it defines itself: the theorem, for recursion,
   *   the others of its `mutual` block, `where` and `let rec`. Whether the recursion ends only the whole proof shows
   * @returns {number} the state's id
   */
  function openState(unit, context, mctx, goals, recursion = false) {
    const described = goals.map((goal) => describe(mctx, goal));
    const expressions = described
      .flatMap(({ lctx, type }) => mvars.said(lctx, type))
      .map((e) => mvars.instantiate(mctx, e));
    const { env, forbidden } = world(unit, context, expressions);
    return states.inTermElab(unit.before, (_, origin) => {
      const [term, meta, core] = origin.states;
      const parent = { contexts: withScope(origin.contexts, context), forbidden };
      const monad = contexts.monad(parent.contexts, [
        term,
        rt.withFields(meta, { [META_STATE.mctx]: mctx }),
        rt.withFields(core, {
          [CORE_STATE.env]: env,
          [CORE_STATE.ngen]: trees.contextPart(context, 'ngen'),
        }),
      ]);
      monad.setLevelNames(rt.list(universeNames(rt, expressions).map(rt.name)));
      const all = described.map((goal) => goal.mvar ?? newGoal(monad, goal));
      const opened = recursion ? all : all.map((mvar) => withoutAuxiliaries(monad, mvar));
      return states.store(parent, monad, rt.list(opened), opened[0] ?? rt.UNIT);
    });
  }

  function describe(mctx, goal) {
    if (goal.mvar === undefined) return { ...goal, type: mvars.instantiate(mctx, goal.type) };
    const decl = mvars.declaration(mctx, goal.mvar);
    const lctx = rt.field(decl, MVAR_DECL.lctx);
    const type = rt.field(decl, MVAR_DECL.type);
    if (!goal.fresh) return { mvar: goal.mvar, lctx, type };
    return {
      lctx,
      type: mvars.instantiate(mctx, type),
      localInstances: rt.field(decl, MVAR_DECL.localInstances),
      userName: rt.field(decl, MVAR_DECL.userName),
    };
  }

  /** Options and open namespaces as they are at the node, not at the command. */
  function withScope([term, meta, core], context) {
    const scope = ['options', 'currNamespace', 'openDecls'].map((name) => [
      CORE_CONTEXT[name],
      trees.contextPart(context, name),
    ]);
    return [term, meta, rt.withFields(core, Object.fromEntries(scope))];
  }

  function newGoal(monad, { lctx, type, localInstances, userName }) {
    const place = { lctx, localInstances: localInstances ?? instancesIn(monad, lctx) };
    return rt.field(monad.newMVarAt(place, type, userName), 0);
  }

  /** Lean's LocalInstances: the hypotheses whose type is a class. */
  function instancesIn(monad, lctx) {
    const found = [];
    for (const local of mvars.hypotheses(lctx)) {
      const type = rt.field(local, LOCAL_DECL.type);
      const className = rt.optional(monad.meta('l_Lean_Meta_isClass_x3f', type));
      if (className === null) continue;
      const fvar = rt.call('lean_expr_mk_fvar', rt.field(local, LOCAL_DECL.fvarId));
      found.push(rt.constructor(0, [className, fvar]));
    }
    return rt.array(found);
  }

  function withoutAuxiliaries(monad, mvar) {
    const auxiliaries = mvars
      .hypothesesOf(mvars.declaration(monad.mctx(), mvar))
      .filter((local) => mvars.kind(local) === LOCAL_DECL_KIND.auxiliary);
    return auxiliaries.reduce(
      (goal, decl) => monad.meta('l_Lean_MVarId_tryClear', goal, rt.field(decl, LOCAL_DECL.fvarId)),
      mvar,
    );
  }

  /** Whether a term at a node of an information tree has a type, up to what Lean unfolds. */
  function hasType(unit, context, lctx, { e, type }) {
    return states.inTermElab(unit.before, (_, origin) => {
      const [own, meta, core] = origin.states;
      const monad = contexts.monad(origin.contexts, [
        own,
        rt.withFields(meta, { [META_STATE.mctx]: trees.contextPart(context, 'mctx') }),
        rt.withFields(core, { [CORE_STATE.env]: trees.contextPart(context, 'env') }),
      ]);
      const inside = monad.within({ lctx, localInstances: rt.array([]) });
      let fits = false;
      inside.attempt(() => {
        const inferred = inside.meta('l_Lean_Meta_inferType', e);
        fits = inside.meta('l_Lean_Meta_isExprDefEqGuarded', inferred, type) === rt.YES;
      });
      return fits && !rt.holds('l_Lean_Expr_isSyntheticSorry', e);
    });
  }

  return { printContext, isSettled, openState, hasType };
}

module.exports = { createDrafts };
