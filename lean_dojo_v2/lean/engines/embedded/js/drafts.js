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

const MVAR_DECL = { userName: 0, lctx: 1, type: 2, localInstances: 4 };
const LOCAL_DECL = { fvarId: 1, type: 3, value: 4 };
const AUXILIARY = 2;
const TRUE = 3; // box(1)
const SYNTHETIC_OPAQUE = 5; // box(2)

/** What Lean derives from a definition or matcher when a tactic asks for it; the names are its own (reserved). */
const DERIVED =
  /\.(?:splitter|(?:congr_)?eq_\d+|eq_def|eq_unfold|(?:mutual_)?induct(?:_unfolding)?|fun_cases(?:_unfolding)?)$/;

/** @param {object} engine everything main.js put together */
function createDrafts(engine) {
  const { rt, contexts, states, trees, pretty, constants } = engine;

  /** The printing context at a node of an information tree. */
  const printContext = (context, mctx) =>
    pretty.printContext(
      trees.contextPart(context, 'env'),
      mctx,
      pretty.emptyLocalContext(),
      trees.contextPart(context, 'options'),
      trees.contextPart(context, 'currNamespace'),
      trees.contextPart(context, 'openDecls'),
    );

  const declarationOf = (mctx, mvar) =>
    rt.optional(rt.call('l_Lean_MetavarContext_findDecl_x3f', mctx, mvar));
  const localDeclarations = (lctx) =>
    rt
      .persistentArrayItems(rt.field(lctx, 1))
      .map(rt.optional)
      .filter((d) => d !== null);

  /** Whether a goal mentions no metavariables, so that nothing can change what it says. */
  function isSettled(decl) {
    const hasMVar = (e) => rt.call('l_Lean_Expr_hasMVar', e) === TRUE;
    const lctx = rt.field(decl, MVAR_DECL.lctx);
    return (
      !hasMVar(rt.field(decl, MVAR_DECL.type)) &&
      !localDeclarations(lctx).some(
        (local) =>
          hasMVar(rt.field(local, LOCAL_DECL.type)) ||
          (rt.tag(local) === 1 && hasMVar(rt.field(local, LOCAL_DECL.value))),
      )
    );
  }

  /** All that a goal says: its target, and the types and values of its hypotheses. */
  function expressionsOf(mctx, lctx, type) {
    const hypotheses = localDeclarations(lctx).flatMap((decl) => [
      rt.field(decl, LOCAL_DECL.type),
      ...(rt.tag(decl) === 1 ? [rt.field(decl, LOCAL_DECL.value)] : []),
    ]);
    return [type, ...hypotheses].map((e) => pretty.instantiate(mctx, e));
  }

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
      .filter((name) => !needed.has(rt.nameText(name)) && !derived(name));
    return { env, forbidden: new Set(forbidden.map(rt.nameText)) };
  }

  /**
   * Opens a state.
   * @param {object} unit the command (frontend.js)
   * @param {number} context the ContextInfo there
   * @param {number} mctx the metavariables there
   * @param {object[]} goals {mvar} or {lctx, type}
   * @returns {number} the state's id
   */
  function openState(unit, context, mctx, goals) {
    const described = goals.map((goal) => describe(mctx, goal));
    const expressions = described.flatMap(({ lctx, type }) => expressionsOf(mctx, lctx, type));
    const { env, forbidden } = world(unit, context, expressions);
    const captured = contexts.captureFrom(unit.before);
    try {
      const origin = states.strict(captured);
      const [term, meta, core] = origin.states;
      const monad = contexts.monad(withScope(origin.contexts, context), [
        term,
        rt.withFields(meta, { [META_STATE.mctx]: mctx }),
        rt.withFields(core, {
          [CORE_STATE.env]: env,
          [CORE_STATE.ngen]: trees.contextPart(context, 'ngen'),
        }),
      ]);
      monad.setLevelNames(rt.list(universeNames(rt, expressions).map(rt.name)));
      const mvars = described.map((goal) =>
        withoutAuxiliaries(monad, goal.mvar ?? newGoal(monad, goal)),
      );
      const parent = { contexts: withScope(origin.contexts, context), forbidden };
      return states.store(parent, monad, rt.list(mvars), mvars[0] ?? rt.UNIT);
    } finally {
      contexts.release(captured);
    }
  }

  function describe(mctx, goal) {
    if (goal.mvar === undefined) return { ...goal, type: pretty.instantiate(mctx, goal.type) };
    const decl = declarationOf(mctx, goal.mvar);
    const described = {
      lctx: rt.field(decl, MVAR_DECL.lctx),
      type: rt.field(decl, MVAR_DECL.type),
    };
    if (!goal.fresh) return { mvar: goal.mvar, ...described };
    return {
      ...described,
      type: pretty.instantiate(mctx, described.type),
      localInstances: rt.field(decl, MVAR_DECL.localInstances),
      userName: rt.field(decl, MVAR_DECL.userName),
    };
  }

  /** Options and open namespaces as they are at the node, not at the command. */
  function withScope([term, meta, core], context) {
    const part = (name) => trees.contextPart(context, name);
    return [
      term,
      meta,
      rt.withFields(core, {
        [CORE_CONTEXT.options]: part('options'),
        [CORE_CONTEXT.currNamespace]: part('currNamespace'),
        [CORE_CONTEXT.openDecls]: part('openDecls'),
      }),
    ];
  }

  function newGoal(monad, { lctx, type, localInstances, userName = rt.UNIT }) {
    const instances = localInstances ?? instancesIn(monad, lctx);
    const mvar = monad.meta(
      'l_Lean_Meta_mkFreshExprMVarAt',
      lctx,
      instances,
      type,
      SYNTHETIC_OPAQUE,
      userName,
      rt.box(0),
    );
    return rt.field(mvar, 0);
  }

  /** Lean's LocalInstances: the hypotheses whose type is a class. */
  function instancesIn(monad, lctx) {
    const found = [];
    for (const decl of localDeclarations(lctx)) {
      const className = rt.optional(
        monad.meta('l_Lean_Meta_isClass_x3f', rt.field(decl, LOCAL_DECL.type)),
      );
      if (className !== null)
        found.push(
          rt.constructor(0, [
            className,
            rt.call('lean_expr_mk_fvar', rt.field(decl, LOCAL_DECL.fvarId)),
          ]),
        );
    }
    return rt.array(found);
  }

  function withoutAuxiliaries(monad, mvar) {
    const lctx = rt.field(declarationOf(monad.mctx(), mvar), MVAR_DECL.lctx);
    const auxiliaries = localDeclarations(lctx).filter(
      (decl) => rt.scalarByte(decl, 1) === AUXILIARY,
    );
    return auxiliaries.reduce(
      (goal, decl) => monad.meta('l_Lean_MVarId_tryClear', goal, rt.field(decl, LOCAL_DECL.fvarId)),
      mvar,
    );
  }

  /** Whether a term at a node of an information tree has a type, up to what Lean unfolds. */
  function hasType(unit, context, lctx, { e, type }) {
    const captured = contexts.captureFrom(unit.before);
    try {
      return rt.scope(() => {
        const [term, meta, core] = captured.states;
        const monad = contexts.monad(captured.contexts, [
          term,
          rt.withFields(meta, { [META_STATE.mctx]: trees.contextPart(context, 'mctx') }),
          rt.withFields(core, { [CORE_STATE.env]: trees.contextPart(context, 'env') }),
        ]);
        const inside = monad.within({ lctx, localInstances: rt.array([]) });
        let fits = false;
        inside.attempt(() => {
          const own = inside.meta('l_Lean_Meta_inferType', e);
          fits = inside.meta('l_Lean_Meta_isExprDefEqGuarded', own, type) === TRUE;
        });
        return fits && rt.call('l_Lean_Expr_isSyntheticSorry', e) !== TRUE;
      });
    } finally {
      contexts.release(captured);
    }
  }

  return { printContext, declarationOf, isSettled, openState, hasType };
}

module.exports = { createDrafts };
