'use strict';
/** The `goal.*` commands of Pantograph's protocol. */

const { RequestError } = require('./errors.js');
const { CORE_CONTEXT, CORE_STATE, LeanException, META_STATE } = require('./contexts.js');
const { messages } = require('./messages.js');
const { withLimits } = require('./options.js');
const { createProofs } = require('./proofs.js');
const { SourceText } = require('./text.js');

/** The largest number that fits a scalar box of 32 bits. */
const MAX_SCALAR = 2 ** 31 - 1;

/** @param {object} engine everything main.js put together */
function goalCommands(engine) {
  const { rt, states, pretty, contexts, constants } = engine;
  const proofs = createProofs(rt, pretty);

  const mctxOf = (state) => rt.field(state.states[1], META_STATE.mctx);
  const envOf = (state) => rt.field(state.states[2], CORE_STATE.env);
  const goalsOf = (state) => rt.listItems(state.goals);

  function records(state) {
    const context = states.printContext(state);
    return goalsOf(state).map((mvar) => pretty.goalRecord(context, mvar, engine.settings));
  }
  /** What is common to every answer that shows a state: its goals, and Lean's own text of them. */
  function shown(state) {
    return {
      goals: records(state),
      pp: pretty.stateText(states.printContext(state), goalsOf(state)),
    };
  }

  function start({ expr = null, copyFrom = null, levels = [] }) {
    if ((expr === null) === (copyFrom === null)) {
      throw new RequestError('arguments', 'Exactly one of {expr, copyFrom} must be supplied');
    }
    return states.inTermElab(engine.commandState(), (monad, origin) => {
      const inScope = monad.levelNames(); // of `universe u` in what was loaded
      monad.setLevelNames(rt.list([...levels.map(rt.name), ...rt.listItems(inScope)]));
      const type =
        expr === null
          ? typeOfConstant(monad.environment(), copyFrom)
          : states.elaborateType(monad, expr);
      const root = states.newGoal(monad, type);
      monad.clearMessages();
      const stateId = states.store(origin, monad, rt.list([root]), root);
      return { stateId, root: rt.nameText(root), ...shown(states.get(stateId)) };
    });
  }
  function typeOfConstant(env, name) {
    const info = rt.optional(rt.call('l_Lean_Environment_find_x3f', env, rt.name(name), rt.box(0)));
    if (info === null) throw new RequestError('index', `Symbol not found: ${name}`);
    return rt.field(rt.field(rt.field(info, 0), 0), 2);
  }

  /** The goals a tactic sees: one alone, or all with the chosen one first (Pantograph's Site). */
  function site(state, goalId, autoResume) {
    const goals = goalsOf(state);
    const together = autoResume ?? engine.settings.automaticMode;
    if (goals.length === 0) throw new RequestError('index', 'No goals to be solved');
    if (goalId === undefined || goalId === null) return together ? goals : goals.slice(0, 1);
    if (!Number.isInteger(goalId) || goals[goalId] === undefined)
      throw new RequestError('index', `Invalid goal index ${goalId}`);
    return together ? [goals[goalId], ...goals.filter((_, i) => i !== goalId)] : [goals[goalId]];
  }

  const FORMS = ['tactic', 'mode', 'expr', 'have', 'let', 'draft', 'calc', 'conv'];

  function tactic(request) {
    const { stateId, goalId, autoResume } = request;
    const state = states.get(stateId);
    const forms = FORMS.filter((form) => request[form] !== undefined && request[form] !== null);
    if (forms.length !== 1)
      throw new RequestError('operation', `Exactly one of {${FORMS.join(', ')}} must be supplied`);
    const before = site(state, goalId, autoResume);
    return rt.scope(() => {
      const text = asTactic(forms[0], request);
      const { error, syntax } = states.parse(envOf(state), 'tactic', text);
      if (error !== undefined) return { parseError: error };
      return runTactic(
        prepared(state, text, request.options),
        before,
        syntax,
        new SourceText(text),
        request.axioms === true,
      );
    });
  }

  /** Pantograph's other ways to act on a goal are tactics too. */
  function asTactic(form, request) {
    const value = request[form];
    if (typeof value !== 'string') throw new RequestError('operation', `${form} must be a text`);
    const binder = request.binderName ?? '';
    switch (form) {
      case 'tactic':
        return value;
      case 'expr':
        return `exact ${value}`;
      case 'have':
        return `refine no_implicit_lambda% (have ${binder} : ${value} := ?_; ?_)`;
      case 'let':
        return `refine no_implicit_lambda% (let ${binder || 'x'} : ${value} := ?${binder || '_'}; ?_)`;
      default:
        throw new RequestError('operation', `${form} is not supported by the embedded engine`);
    }
  }

  /** The state as this request sees it: positions are those of its text, and limits its own. */
  function prepared(state, text, options) {
    const [term, meta, core] = state.contexts;
    const limits = options === undefined || options === null ? null : withLimits({}, options);
    const bounded = rt.withFields(core, {
      [CORE_CONTEXT.fileMap]: rt.call('l_Lean_FileMap_ofString', rt.string(text)),
      ...(limits === null
        ? {}
        : {
            [CORE_CONTEXT.maxHeartbeats]: rt.box(Math.min(limits.maxHeartbeats * 1000, MAX_SCALAR)),
            [CORE_CONTEXT.maxRecDepth]: rt.box(limits.maxRecDepth),
          }),
    });
    return { ...state, contexts: [term, meta, bounded], stored: state };
  }

  function runTactic(state, before, syntax, text, withAxioms) {
    const monad = contexts.monad(state.contexts, state.states);
    const context = rt.constructor(0, [rt.UNIT], [0]); // no elaborator; recover := false
    const ref = rt.newRef(rt.list(before));
    try {
      monad.tactic(context, ref, 'l_Lean_Elab_Tactic_evalTactic', syntax);
      states.synthesize(monad);
      monad.tactic(context, ref, 'l_Lean_Elab_Tactic_pruneSolvedGoals');
    } catch (error) {
      if (!(error instanceof LeanException)) throw error;
      const logged = messages(rt, monad.log());
      // an abort only says that the error has been logged already
      return {
        messages:
          error.internal && logged.length > 0 ? logged : [...logged, errorMessage(error, text)],
      };
    }
    const log = messages(rt, monad.log());
    if (log.some((message) => message.severity === 'error')) return { messages: log };
    monad.clearMessages();
    const after = rt.listItems(rt.readRef(ref));
    return accept(state, monad, before, after, log, withAxioms);
  }

  function accept(state, monad, before, after, log, withAxioms) {
    const { terms, lost, left } = outcome(state, monad, before, after);
    const refuse = (text) => ({
      messages: [...log, errorMessage(new LeanException(text))],
    });
    if (lost.length > 0) {
      const context = states.printContext({ contexts: state.contexts, states: monad.states() });
      return refuse(
        `the tactic leaves this open, which is not among its goals:\n${pretty.stateText(context, lost)}`,
      );
    }
    const used = usedBy(terms, monad.environment());
    const circular = [...used].find((name) => state.forbidden?.has(name));
    if (circular !== undefined)
      return refuse(`the proof uses ${circular}, which it is to prove`);
    const nextStateId = states.store(state.stored, monad, rt.list(after), state.root, left);
    return {
      nextStateId,
      ...shown(states.get(nextStateId)),
      messages: log,
      hasSorry: used.has('sorryAx'),
      hasUnsafe: terms.some(
        (e) => rt.call('l_Lean_Environment_hasUnsafe', monad.environment(), e) === rt.box(1),
      ),
      ...(withAxioms
        ? { axioms: axiomsOf(terms, monad.environment()), owed: hidden(state, monad, left.owed) }
        : {}),
    };
  }

  /** What is open, no goal, and asks for a proof of something: the text of it, or '' where there is none. */
  function hidden(state, monad, owed) {
    const scratch = contexts.monad(state.contexts, monad.states());
    const asking = rt.listItems(owed).filter((mvar) => !proofs.isInhabited(scratch, mvar));
    const context = states.printContext({ contexts: state.contexts, states: monad.states() });
    return asking.length === 0 ? '' : pretty.stateText(context, asking);
  }

  /**
   * What a tactic did to all that was open.
   * @returns {{terms: number[], lost: number[], left: object}} the proofs it gave; metavariables in them that nobody
   *   would ever ask for; and what its state leaves open besides the goals (see states.js)
   */
  function outcome(state, monad, before, after) {
    const mctx = monad.mctx();
    const named = (mvars) => new Map(mvars.map((mvar) => [rt.nameText(mvar), mvar]));
    const [goals, acted] = [named(after), named(before)];
    const aside = goalsOf(state).filter((mvar) => !acted.has(rt.nameText(mvar)));
    const outside = [...named([...outsideOf(state), ...aside])]
      .filter(([name]) => !goals.has(name))
      .map(([, mvar]) => mvar);
    const gone = before.filter((mvar) => !goals.has(rt.nameText(mvar)));
    const { terms, open } = proofs.of(mctx, [...gone, ...rt.listItems(state.owed), ...outside]);
    const stillOutside = outside.filter((mvar) => open.has(rt.nameText(mvar)));
    const expected = named([...after, ...stillOutside]);
    const others = [...open].filter(([name]) => !expected.has(name));
    const spokenOf =
      others.length === 0 ? new Map() : proofs.mentioned(mctx, [...expected.values()]);
    const pick = (wanted) =>
      others.filter(([name]) => spokenOf.has(name) === wanted).map(([, mvar]) => mvar);
    return {
      terms,
      lost: pick(false),
      left: { outside: rt.list(stillOutside), owed: rt.list(pick(true)) },
    };
  }
  /** See states.js; a state just opened answers for nothing that its goals already speak of. */
  const outsideOf = (state) =>
    state.outside === null
      ? [...proofs.mentioned(mctxOf(state), goalsOf(state)).values()]
      : rt.listItems(state.outside);

  /** The axioms that proofs rest on, through every theorem that is not the library's. */
  const axiomsOf = (terms, env) =>
    constants.restsOn(env, terms.flatMap(constants.usedIn)).axioms.map(({ name }) => name);

  /** The constants that proofs use. Tactics hide some in auxiliary lemmas, whose names have a part that begins with `_`. */
  function usedBy(terms, env) {
    const isAuxiliary = (name) =>
      /(^|\.)_/.test(rt.nameText(name)) && constants.moduleOf(env, name) === null;
    return new Set(constants.closure(env, terms.flatMap(constants.usedIn), isAuxiliary).keys());
  }

  function resume({ target, branch = null, goals = null }) {
    if ((branch === null) === (goals === null)) {
      throw new RequestError('arguments', 'Exactly one of {branch, goals} must be supplied');
    }
    const state = states.get(target);
    return rt.scope(() => {
      const wanted =
        branch === null ? goals.map(rt.name) : goalsOfBranch(state, states.get(branch));
      const open = wanted.filter((mvar) => !isAssigned(state, mvar));
      const nextStateId = states.add({
        contexts: state.contexts.map(rt.keep),
        states: state.states.map(rt.keep),
        goals: rt.keep(rt.list(open)),
        root: rt.keep(state.root),
        outside: rt.keep(rt.list([...outsideOf(state), ...goalsOf(state)])),
        owed: rt.keep(state.owed),
        forbidden: state.forbidden,
      });
      return { nextStateId, ...shown(states.get(nextStateId)) };
    });
  }
  function goalsOfBranch(target, branch) {
    if (goalsOf(target).length > 0)
      throw new RequestError('structure', 'Target state has unresolved goals');
    if (rt.nameText(target.root) !== rt.nameText(branch.root)) {
      throw new RequestError('structure', 'Roots of two continued goal states do not match');
    }
    return goalsOf(branch);
  }
  function isAssigned(state, mvar) {
    const mctx = mctxOf(state);
    if (rt.optional(rt.call('l_Lean_MetavarContext_findDecl_x3f', mctx, mvar)) === null) {
      throw new RequestError('structure', `Goal ${rt.nameText(mvar)} is not in scope`);
    }
    const assigned = (symbol) => rt.optional(rt.call(symbol, mctx, mvar)) !== null;
    return assigned('lean_get_mvar_assignment') || assigned('lean_get_delayed_mvar_assignment');
  }

  function print({ stateId, rootExpr = false, parentExprs = false, goals = false }) {
    const state = states.get(stateId);
    return rt.scope(() => {
      const context = states.printContext(state);
      const root = pretty.instantiate(mctxOf(state), rt.call('lean_expr_mk_mvar', state.root));
      const open = rt.call('l_Lean_Expr_hasExprMVar', root) === rt.box(1);
      const { terms } = proofs.of(mctxOf(state), [state.root]);
      const started =
        rt.optional(rt.call('lean_get_mvar_assignment', mctxOf(state), state.root)) !== null;
      return {
        ...(rootExpr && started
          ? { root: pretty.expressionRecord(context, root, engine.settings) }
          : {}),
        ...(parentExprs ? { parentExprs: [] } : {}),
        ...(goals ? shown(state) : { goals: [] }),
        extraMVars: [],
        rootHasSorry: terms.some((e) => rt.call('l_Lean_Expr_hasSorry', e) === rt.box(1)),
        rootHasUnsafe: terms.some(
          (e) => rt.call('l_Lean_Environment_hasUnsafe', envOf(state), e) === rt.box(1),
        ),
        rootHasMVar: open,
      };
    });
  }

  function remove({ stateIds }) {
    if (!Array.isArray(stateIds))
      throw new RequestError('command', 'stateIds must be a list of numbers');
    states.remove(stateIds);
    return {};
  }

  return {
    'goal.start': start,
    'goal.tactic': tactic,
    'goal.continue': resume,
    'goal.print': print,
    'goal.delete': remove,
    shown,
  };
}

/**
 * An exception as the message that Lean's front end would log for it.
 * @param {LeanException} exception
 * @param {SourceText} [text] the tactic, for the position
 */
function errorMessage({ message, offset = null }, text = null) {
  const [line, column] =
    offset === null || text === null ? [1, 1] : text.position(Math.min(offset, text.bytes.length));
  return {
    severity: 'error',
    pos: { line, column: column - 1 },
    endPos: null,
    data: message,
    kind: '[anonymous]',
    fileName: '<input>',
    caption: '',
  };
}

module.exports = { goalCommands };
