'use strict';
/** `goal.tactic`: one step from a proof state to the next. */

const { RequestError } = require('./errors.js');
const { createActions } = require('./actions.js');
const { CORE_CONTEXT, LeanException, META_STATE } = require('./contexts.js');
const { createFragments } = require('./fragments.js');
const { isError, messages } = require('./messages.js');
const { withLimits } = require('./options.js');
const { SourceText } = require('./text.js');

/** The largest number that fits a scalar box of 32 bits. */
const MAX_SCALAR = 2 ** 31 - 1;
const FORMS = ['tactic', 'mode', 'expr', 'have', 'let', 'draft'];
/** Whom Lean's checks find nothing in: what an answer to a step that failed says. */
const NOTHING = { hasSorry: false, hasUnsafe: false };

/** @param {object} engine everything main.js put together */
function stepCommands(engine) {
  const { rt, states, pretty, contexts, constants, proofs, taint } = engine;
  const actions = createActions(engine);
  const fragments = createFragments(engine);
  const { goalsOf, envOf, outsideOf } = states;

  /** The goals a tactic sees: one alone, or all with the chosen one first (Pantograph's Site). */
  function site(state, goalId, autoResume) {
    const goals = goalsOf(state);
    const together = autoResume ?? engine.settings.automaticMode;
    if (goals.length === 0) throw new RequestError('index', 'No goals to be solved');
    if (goalId === undefined) return together ? goals : goals.slice(0, 1);
    if (goals[goalId] === undefined)
      throw new RequestError('index', `Invalid goal index ${goalId}`);
    return together ? [goals[goalId], ...goals.filter((_, i) => i !== goalId)] : [goals[goalId]];
  }

  function tactic(request) {
    const state = states.get(request.stateId);
    const forms = FORMS.filter((form) => request[form] !== undefined);
    if (forms.length !== 1)
      throw new RequestError('command', `Exactly one of {${FORMS.join(', ')}} must be supplied`);
    const [form] = forms;
    const before = site(state, request.goalId, request.autoResume);
    return rt.scope(() => {
      const text = request[form];
      const { error, act, syntax } = action(form, request, state, before[0]);
      if (error !== undefined) return { parseError: error, ...NOTHING };
      const own = prepared(state, text, request.options);
      if (form !== 'tactic' || own.fragments.length > 0) own.states = withoutCache(own.states);
      const answer = run(own, before, act, new SourceText(text), request.axioms === true);
      const isData = () => taint.isDataOf(syntax, engine.library(), envOf(state));
      taint.settle(() => syntax !== undefined && isData());
      return answer;
    });
  }

  /**
   * What a request asks for.
   * @returns {{error: string}|{act: (tactic: object) => (object[]|void)}} what keeps its text from being parsed, or
   *   what to do, which gives the fragments from then on where they change
   */
  function action(form, request, state, goal) {
    const text = request[form];
    const env = envOf(state);
    const fragment = states.fragmentOf(state, goal);
    if (form === 'mode') return { act: fragments.change(text, state.fragments, goal, fragment) };
    if (form === 'tactic' && fragment !== null) {
      const category = fragment.kind === 'calc' ? 'term' : 'conv';
      const { error, syntax } = states.parse(env, category, text);
      return error === undefined
        ? { act: (tactic) => fragments.step(tactic, state.fragments, fragment, syntax) }
        : { error };
    }
    const { error, syntax } =
      form === 'tactic' ? states.parseSequence(env, text) : states.parse(env, 'term', text);
    if (error !== undefined) return { error };
    const binder = rt.name(request.binderName ?? '');
    const acts = {
      tactic: (tactic) => void tactic.run('l_Lean_Elab_Tactic_evalTactic', syntax),
      expr: (tactic) => actions.assign(tactic, syntax),
      draft: (tactic) => actions.draft(tactic, syntax),
      have: (tactic) => actions.branch(tactic, syntax, binder, false),
      let: (tactic) => actions.branch(tactic, syntax, binder, true),
    };
    return { act: acts[form], syntax };
  }

  /** The state as this request sees it: positions are those of its text, and limits its own. */
  function prepared(state, text, options) {
    const [term, meta, core] = state.contexts;
    const own = { [CORE_CONTEXT.fileMap]: rt.call('l_Lean_FileMap_ofString', rt.string(text)) };
    if (options !== undefined) {
      const limits = withLimits({}, options);
      own[CORE_CONTEXT.maxHeartbeats] = rt.box(Math.min(limits.maxHeartbeats * 1000, MAX_SCALAR));
      own[CORE_CONTEXT.maxRecDepth] = rt.box(limits.maxRecDepth);
    }
    return { ...state, contexts: [term, meta, rt.withFields(core, own)], stored: state };
  }

  /**
   * States as Pantograph has them, which keeps nothing that Lean has cached: for steps that are terms, so that new
   * metavariables get the same numbers. For tactics the cache is worth more.
   */
  function withoutCache([term, meta, core]) {
    if (emptyCache === null) {
      const fresh = contexts.captureFrom(engine.commandState());
      emptyCache = rt.keep(rt.field(fresh.states[1], META_STATE.cache));
      contexts.release(fresh);
    }
    return [term, rt.withFields(meta, { [META_STATE.cache]: emptyCache }), core];
  }
  let emptyCache = null;

  /** What an action works with: Lean's `TacticM`. */
  function tacticOver(state, monad, goals) {
    const context = rt.constructor(0, [rt.UNIT], [0]); // no elaborator; recover := false
    const ref = rt.newRef(rt.list(goals));
    return {
      monad,
      run: (symbol, ...args) => monad.tactic(context, ref, symbol, ...args),
      runIn: (inside, symbol, ...args) => inside.tactic(context, ref, symbol, ...args),
      goals: () => rt.listItems(rt.readRef(ref)),
      setGoals: (list) => void rt.wasm.lean_st_ref_set(ref, rt.keep(rt.list(list))),
      /** Runs a text, unless that fails. */
      attempt(text) {
        const { syntax } = states.parse(monad.environment(), 'tactic', text);
        monad.attempt(() => this.run('l_Lean_Elab_Tactic_evalTactic', syntax));
      },
      text({ lctx, type }) {
        const shown = states.printContext(state, monad);
        return pretty.expression(pretty.withLocalContext(shown, lctx), type);
      },
    };
  }

  function run(state, before, act, text, withAxioms) {
    const monad = contexts.monad(state.contexts, state.states);
    const tactic = tacticOver(state, monad, before);
    let next = state.fragments;
    try {
      next = act(tactic) ?? next;
      states.synthesize(monad);
      tactic.run('l_Lean_Elab_Tactic_pruneSolvedGoals');
    } catch (error) {
      if (!(error instanceof LeanException)) throw error;
      const logged = messages(rt, monad.log());
      // an abort only says that the error has been logged already
      if (!error.internal || logged.length === 0) logged.push(errorMessage(error, text));
      return { messages: logged, ...NOTHING };
    }
    const log = messages(rt, monad.log());
    if (log.some(isError)) return { messages: log, ...NOTHING };
    monad.clearMessages();
    return accept(state, monad, { before, after: tactic.goals(), next, log, withAxioms });
  }

  function accept(state, monad, { before, after, next, log, withAxioms }) {
    const { terms, lost, left, gone } = outcome(state, monad, before, after, next);
    const refuse = (message) => ({ messages: [...log, errorMessage({ message })], ...NOTHING });
    if (lost.length > 0) {
      const open = pretty.stateText(states.printContext(state, monad), lost);
      return refuse(`the tactic leaves this open, which is not among its goals:\n${open}`);
    }
    const used = usedBy(terms, monad.environment());
    const circular = [...used].find((name) => state.forbidden?.has(name));
    if (circular !== undefined)
      return refuse(`the proof uses ${circular}, which it is to prove`);
    const nextStateId = states.store(state.stored, monad, rt.list(after), state.root, {
      ...left,
      parents: gone,
      fragments: next,
    });
    return {
      nextStateId,
      ...states.shown(nextStateId),
      messages: log,
      hasSorry: used.has('sorryAx'),
      hasUnsafe: terms.some((e) => rt.holds('l_Lean_Environment_hasUnsafe', monad.environment(), e)),
      ...(withAxioms
        ? { axioms: axiomsOf(terms, monad.environment()), owed: hidden(state, monad, left.owed) }
        : {}),
    };
  }

  /** What is open, no goal, and asks for a proof of something: the text of it, or '' where there is none. */
  function hidden(state, monad, owed) {
    const scratch = contexts.monad(state.contexts, monad.states());
    const asking = rt.listItems(owed).filter((mvar) => !proofs.isInhabited(scratch, mvar));
    return asking.length === 0 ? '' : pretty.stateText(states.printContext(state, monad), asking);
  }

  /**
   * What a tactic did to all that was open.
   * @returns {{terms: number[], lost: number[], left: object, gone: number[]}} the proofs it gave; metavariables in
   *   them that nobody would ever ask for; what its state leaves open besides the goals (see states.js); and the goals
   *   that it took away
   */
  function outcome(state, monad, before, after, next) {
    const mctx = monad.mctx();
    const named = (mvars) => new Map(mvars.map((mvar) => [rt.nameText(mvar), mvar]));
    const [goals, acted] = [named(after), named(before)];
    const aside = goalsOf(state).filter((mvar) => !acted.has(rt.nameText(mvar)));
    const waiting = next.map(({ goal }) => goal); // a `conv` block's goal comes back at its end
    const outside = [...named([...outsideOf(state), ...aside, ...waiting])]
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
      gone,
      lost: pick(false),
      left: { outside: rt.list(stillOutside), owed: rt.list(pick(true)) },
    };
  }

  /** The axioms that proofs rest on, through every theorem that is not the library's. */
  const axiomsOf = (terms, env) =>
    constants.restsOn(env, terms.flatMap(constants.usedIn)).axioms.map(({ name }) => name);

  /** The constants that proofs use. Tactics hide some in auxiliary lemmas, whose names have a part that begins with `_`. */
  function usedBy(terms, env) {
    const isAuxiliary = (name) =>
      /(^|\.)_/.test(rt.nameText(name)) && constants.moduleOf(env, name) === null;
    return new Set(constants.closure(env, terms.flatMap(constants.usedIn), isAuxiliary).keys());
  }

  return { 'goal.tactic': tactic };
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

module.exports = { stepCommands };
