'use strict';
/** Goals and expressions as Lean prints them, and as Pantograph's records. */

const { EXPR, sexp, subterms } = require('./expressions.js');
const { LOCAL_DECL, LOCAL_DECL_KIND, MVAR_DECL } = require('./mvars.js');

/** Lean's own default line width, so that our goal text is that of `lean --json` and of LeanDojo. */
const WIDTH = 120;

/** @param {object} engine everything main.js has put together by then */
function createPretty({ rt, mvars }) {
  const render = (format) =>
    rt.text(rt.call('l_Std_Format_pretty', format, rt.box(WIDTH), rt.box(0), rt.box(0)));

  /** Lean's PPContext; each goal puts its own local context in. `part` gives its other parts by their names. */
  function printContext(env, mctx, part) {
    const scope = ['options', 'currNamespace', 'openDecls'].map(part);
    return rt.constructor(0, [env, mctx, rt.constant('l_Lean_LocalContext_empty'), ...scope]);
  }
  const withLocalContext = (context, lctx) => rt.withFields(context, { 2: lctx });

  function expression(context, e) {
    const withInfos = rt.call('l_Lean_ppExprWithInfos', context, e);
    return render(rt.field(withInfos, 0));
  }

  /** One goal as Lean prints it: `case tag`, hypotheses, `⊢ target`. */
  const goalText = (context, mvar) =>
    render(rt.call('l_Lean_ppGoal', context, mvar)).replace(/^\n/, '');

  /** A whole state as Lean prints it. */
  const stateText = (context, mvars) =>
    mvars.length === 0 ? 'no goals' : mvars.map((mvar) => goalText(context, mvar)).join('\n\n');

  /** The hypotheses a user sees, with unreachable names marked by a dagger. */
  function sanitised(lctx, options) {
    const state = rt.constructor(0, [options, rt.EMPTY_MAP, rt.EMPTY_MAP]);
    return rt.field(rt.call('l_Lean_LocalContext_sanitizeNames', lctx, state), 0);
  }

  function isVisible(decl, settings) {
    const kind = mvars.kind(decl);
    if (kind === LOCAL_DECL_KIND.implementationDetail)
      return settings.printImplementationDetailHyps;
    return kind === LOCAL_DECL_KIND.ordinary || settings.printAuxDecls;
  }

  /** Pantograph's Expression: {pp?, sexp?, dependentMVars?}. */
  function expressionRecord(context, e, settings) {
    const record = {};
    const whole = () => mvars.instantiate(rt.field(context, 1), e);
    if (settings.printExprPretty) record.pp = expression(context, e);
    if (settings.printExprAST) record.sexp = sexp(rt, whole());
    if (settings.printDependentMVars) record.dependentMVars = openIn(whole());
    return record;
  }
  /** The names of the open metavariables of an instantiated term. */
  function openIn(e) {
    const names = [...subterms(rt, e)]
      .filter((term) => rt.tag(term) === EXPR.mvar)
      .map((term) => rt.nameText(rt.field(term, 0)));
    return [...new Set(names)];
  }
  /** The printing context in which a metavariable's own hypotheses have their names. */
  const inside = (context, decl) =>
    withLocalContext(context, sanitised(rt.field(decl, MVAR_DECL.lctx), rt.field(context, 3)));

  function variableRecord(context, decl, settings) {
    const userName = rt.nameText(rt.field(decl, LOCAL_DECL.userName));
    const record = {
      name: rt.nameText(rt.field(decl, LOCAL_DECL.fvarId)),
      userName,
      isInaccessible: userName.includes('✝'),
      type: expressionRecord(context, rt.field(decl, LOCAL_DECL.type), settings),
    };
    // as in Pantograph also for a `have` (a nondependent `let`), whose value a proof cannot use; we say so
    if (mvars.isHave(decl)) record.isHave = true;
    const value = mvars.value(decl);
    if (value !== null) record.value = expressionRecord(context, value, settings);
    return record;
  }

  /**
   * Pantograph's Goal, with the whole goal's text as `pp` besides.
   * @param {number} context a PPContext
   * @param {number} mvar the goal
   * @param {object} settings Pantograph's options
   */
  function goalRecord(context, mvar, settings, fragment = 'tactic') {
    const decl = mvars.declaration(rt.field(context, 1), mvar);
    const lctx = sanitised(rt.field(decl, MVAR_DECL.lctx), rt.field(context, 3));
    const here = withLocalContext(context, lctx);
    const userName = rt.nameText(rt.field(decl, MVAR_DECL.userName));
    return {
      name: rt.nameText(mvar),
      ...(userName === '' ? {} : { userName }),
      fragment,
      isConversion: fragment === 'conv',
      target: expressionRecord(here, rt.field(decl, MVAR_DECL.type), settings),
      vars: mvars
        .hypotheses(lctx)
        .filter((d) => isVisible(d, settings))
        .map((d) => variableRecord(here, d, settings)),
      pp: goalText(context, mvar),
    };
  }

  return {
    printContext,
    withLocalContext,
    inside,
    expression,
    expressionRecord,
    goalText,
    stateText,
    goalRecord,
  };
}

module.exports = { createPretty };
