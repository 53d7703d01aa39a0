'use strict';
/** Proof states kept alive between requests, and the tactics that lead from one to the next. */

const { RequestError } = require('./errors.js');
const { CORE_CONTEXT, CORE_STATE, LeanException, META_STATE } = require('./contexts.js');
const { inputContext } = require('./frontend.js');
const { SYNTHETIC_OPAQUE } = require('./mvars.js');
const { nestingProblem } = require('./text.js');

/** So many states at once; a client that never deletes any is told so. */
const MAX_STATES = 100_000;
/** `Term.Context.errToSorry`, by offset in the scalar area: a failing term must fail, not become `sorry`. */
const ERR_TO_SORRY = 1;
/** Fields of Lean's `ParserState` and `Parser`. */
const PARSER_STATE = { stack: 0, position: 2 };
const PARSER = { run: 1 };

/**
 * @typedef {object} ProofState Lean objects that this file owns
 * @property {number[]} contexts term, meta, core
 * @property {number[]} states term, meta, core
 * @property {number} goals the open goals, in order, a Lean list
 * @property {number} root the goal all began with
 * @property {number|null} outside metavariables that are not goals here but may stay open: goals that were set aside,
 *   and what the goals spoke of when the state was opened; a Lean list, or null for a state just opened (see proofs.js)
 * @property {number} owed metavariables that are left open in the proofs so far and that only the goals speak of
 * @property {number} parents the goals that the last step took away, a Lean list
 * @property {object[]} fragments see fragments.js
 * @property {Set<string>} [forbidden] constants that no proof from here may use: the theorem itself
 */

/** @param {object} engine everything main.js has put together by then */
function createStates({ rt, settings, contexts, pretty, proofs }) {
  const states = new Map();
  let nextId = 0;

  function add(state) {
    if (states.size >= MAX_STATES) {
      drop(state);
      throw new RequestError('memory', `${MAX_STATES} states are alive; delete some (goal.delete)`);
    }
    states.set(nextId, state);
    nextId += 1;
    return nextId - 1;
  }
  function get(id) {
    const state = states.get(id);
    if (state === undefined) throw new RequestError('index', `Invalid state index ${id}`);
    return state;
  }
  const drop = (state) => objectsIn(state).forEach(rt.drop);
  /** The Lean objects that a state owns. */
  function objectsIn({ contexts: own, states: inside, goals, root, outside, owed, parents, fragments }) {
    const others = [{ goals, root, outside, owed, parents }, ...fragments];
    return [...own, ...inside, ...others.flatMap(Object.values).filter(Number.isInteger)];
  }
  function remove(ids) {
    for (const id of ids) {
      const state = states.get(id);
      if (state !== undefined) drop(state);
      states.delete(id);
    }
  }
  function clear() {
    const count = states.size;
    remove([...states.keys()]);
    nextId = 0;
    return count;
  }

  /** A new state that shares the contexts of `parent` (or captured ones); `left` is what is open besides its goals. */
  function store(parent, monad, goals, root, left = {}) {
    const { outside = null, owed = rt.UNIT, parents = [], fragments = [] } = left;
    const { contexts: own, forbidden } = parent;
    const open = { goals, root, outside, owed, parents: rt.list(parents), fragments };
    const state = { contexts: own, states: monad.states(), ...open, forbidden };
    objectsIn(state).forEach(rt.keep);
    return add(state);
  }

  /** Another view of a state: other goals, and what else is named. */
  function derive(state, { goals, monad = null, outside, fragments = state.fragments }) {
    const after = monad ?? { states: () => state.states };
    const parents = rt.listItems(state.parents);
    const left = { outside, owed: state.owed, parents, fragments };
    return store(state, after, rt.list(goals), state.root, left);
  }

  /**
   * Runs `body` with a monad over a command state's environment and scope, in which terms that fail are errors.
   * @param {number} commandState
   * @param {(monad: object, origin: object) => T} body `origin` has the contexts and states that the monad began with
   * @template T
   */
  function inTermElab(commandState, body) {
    const captured = contexts.captureFrom(commandState);
    try {
      return rt.scope(() => {
        const [term, meta, core] = captured.contexts;
        const own = [rt.withFields(term, {}, { [ERR_TO_SORRY]: 0 }), meta, core];
        const origin = { contexts: own, states: captured.states };
        return body(contexts.monad(origin.contexts, origin.states), origin);
      });
    } finally {
      contexts.release(captured);
    }
  }

  /** Parses one tactic, or several one after the other, as in a `by` block; all of the text must be used. */
  function parseSequence(env, text) {
    const parsed = runParser(env, text, sequenceParser());
    if (parsed.error !== undefined || parsed.end === Buffer.byteLength(text)) return parsed;
    const { input, state } = parsed;
    const expected = rt.call('l_Lean_Parser_ParserState_mkError', state, rt.string('end of input'));
    return { error: rt.text(rt.call('l_Lean_Parser_ParserState_toErrorMsg', input, expected)) };
  }
  /** Parses a piece of a category at the beginning of a text. */
  function parsePrefix(env, category, text) {
    wantedCategory = category;
    return runParser(env, text, categoryParser());
  }
  /**
   * Runs one of Lean's parsers on the beginning of a text.
   * @returns {{error: string}|{syntax: number, end: number, input: number, state: number}} what it took, the byte
   *   behind that, and its last state
   */
  function runParser(env, text, parser) {
    const problem = nestingProblem(text);
    if (problem !== null) return { error: problem };
    const input = inputContext(rt, text, '<input>');
    const options = rt.constant('l_Lean_Options_empty');
    const module = rt.constructor(0, [env, options, rt.UNIT, rt.UNIT]);
    const tokens = rt.call('l_Lean_Parser_getTokenTable', env);
    const start = rt.call('l_Lean_Parser_mkParserState', rt.string(text));
    const state = rt.call('l_Lean_Parser_ParserFn_run', parser, input, module, tokens, start);
    if (rt.arrayItems(rt.call('l_Lean_Parser_ParserState_allErrors', state)).length > 0)
      return { error: rt.text(rt.call('l_Lean_Parser_ParserState_toErrorMsg', input, state)) };
    const syntax = rt.arrayItems(rt.field(rt.field(state, PARSER_STATE.stack), 0)).at(-1);
    return { syntax, end: rt.unbox(rt.field(state, PARSER_STATE.position)), input, state };
  }
  /** A parser behind white space and comments. */
  const behindSpace = (parse) =>
    rt.closureMaker(2, (context, start) =>
      parse(context, rt.call('l_Lean_Parser_whitespace', context, start)),
    );
  const sequenceParser = behindSpace((...input) =>
    rt.apply(rt.field(rt.constant('l_Lean_Parser_Tactic_tacticSeq'), PARSER.run), ...input),
  );
  let wantedCategory = 'tactic';
  const categoryParser = behindSpace((...input) =>
    rt.call('l_Lean_Parser_categoryParserFn', rt.name(wantedCategory), ...input),
  );

  /** Parses a text of a category; all of it must be used. */
  function parse(env, category, text) {
    const problem = nestingProblem(text);
    if (problem !== null) return { error: problem };
    const input = [rt.string(text), rt.string('<input>')];
    const parsed = rt.call('l_Lean_Parser_runParserCategory', env, rt.name(category), ...input);
    if (rt.tag(parsed) === 0) return { error: rt.text(rt.field(parsed, 0)) };
    return { syntax: rt.field(parsed, 0) };
  }
  function parseTerm(env, text) {
    const { error, syntax } = parse(env, 'term', text);
    if (error !== undefined) throw new RequestError('parse', error);
    return syntax;
  }
  /** Runs `body`; what Lean throws in it is an error of a kind. */
  function orError(kind, body) {
    try {
      return body();
    } catch (error) {
      throw error instanceof LeanException ? new RequestError(kind, error.message) : error;
    }
  }

  function synthesize(monad) {
    monad.term('l_Lean_Elab_Term_synthesizeSyntheticMVarsNoPostponing', rt.box(0));
  }

  /** Elaborates a text as a type; nothing may stay postponed. */
  function elaborateType(monad, text) {
    const syntax = parseTerm(monad.environment(), text);
    return orError('elab', () => {
      const type = monad.term('l_Lean_Elab_Term_elabType', syntax);
      synthesize(monad);
      return monad.instantiate(type);
    });
  }

  /** Elaborates a text as a term, of a type if one is given. */
  function elaborateTerm(monad, text, type = null) {
    const [mayPostpone, implicitLambda, header] = [rt.box(1), rt.box(1), rt.none];
    const expected = type === null ? rt.none : rt.some(type);
    const syntax = parseTerm(monad.environment(), text);
    return orError('elab', () => {
      const args = [syntax, expected, mayPostpone, implicitLambda, header];
      const term = monad.term('l_Lean_Elab_Term_elabTermEnsuringType', ...args);
      synthesize(monad);
      return monad.instantiate(term);
    });
  }

  /** A new goal of a type; `userName` is its case tag. */
  function newGoal(monad, type, userName = rt.UNIT) {
    const kind = rt.box(SYNTHETIC_OPAQUE);
    return rt.field(monad.meta('l_Lean_Meta_mkFreshExprMVar', rt.some(type), kind, userName), 0);
  }

  const mctxOf = (state) => rt.field(state.states[1], META_STATE.mctx);
  const envOf = (state) => rt.field(state.states[2], CORE_STATE.env);
  const goalsOf = (state) => rt.listItems(state.goals);

  /** What is open besides the goals; a state just opened answers for nothing that its goals already speak of. */
  const outsideOf = (state) =>
    state.outside === null
      ? [...proofs.mentioned(mctxOf(state), goalsOf(state)).values()]
      : rt.listItems(state.outside);
  /** Whether an open metavariable stands in a term, at any depth. */
  const mentions = (mctx, e, mvar) => proofs.follow(mctx, [e]).open.has(rt.nameText(mvar));

  const findFragment = (fragments, mvar) =>
    fragments.findLast((one) => rt.nameText(one.goal) === rt.nameText(mvar)) ?? null;
  const fragmentOf = (state, mvar) => findFragment(state.fragments, mvar);

  /** The printing context of a state, or of what a monad has made of it by now; without hypotheses. */
  function printContext({ contexts: [, , core], states: stored }, monad = null) {
    const now = { states: monad?.states() ?? stored };
    return pretty.printContext(envOf(now), mctxOf(now), (name) => rt.field(core, CORE_CONTEXT[name]));
  }

  /** What is common to every answer that shows a state: its goals, and Lean's own text of them. */
  function shown(id) {
    const state = get(id);
    const context = printContext(state);
    const goals = goalsOf(state).map((mvar) => {
      const kind = fragmentOf(state, mvar)?.kind;
      const mode = kind === undefined ? 'tactic' : kind === 'calc' ? 'calc' : 'conv';
      return pretty.goalRecord(context, mvar, settings, mode);
    });
    return { goals, pp: pretty.stateText(context, goalsOf(state)) };
  }

  return {
    get,
    remove,
    clear,
    store,
    derive,
    inTermElab,
    parse,
    parseSequence,
    parsePrefix,
    orError,
    mctxOf,
    envOf,
    goalsOf,
    outsideOf,
    shown,
    mentions,
    findFragment,
    fragmentOf,
    synthesize,
    elaborateType,
    elaborateTerm,
    newGoal,
    printContext,
    count: () => states.size,
  };
}

module.exports = { createStates };
