'use strict';
/** Proof states kept alive between requests, and the tactics that lead from one to the next. */

const { RequestError } = require('./errors.js');
const { isTooDeep, MAX_NESTING } = require('./text.js');
const { CORE_STATE, LeanException, META_STATE } = require('./contexts.js');

/** So many states at once; a client that never deletes any is told so. */
const MAX_STATES = 100_000;
/** `Term.Context.errToSorry`, by offset in the scalar area: a failing term must fail, not become `sorry`. */
const ERR_TO_SORRY = 1;
const SYNTHETIC_OPAQUE = 2;
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

/**
 * @param {object} rt the runtime
 * @param {object} contexts see contexts.js
 * @param {object} pretty see pretty.js
 * @param {object} proofs see proofs.js
 */
function createStates(rt, contexts, pretty, proofs) {
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
  function drop(state) {
    [...state.contexts, ...state.states, state.goals, state.root, state.owed].forEach(rt.drop);
    rt.drop(state.parents);
    state.fragments.flatMap(objectsOf).forEach(rt.drop);
    if (state.outside !== null) rt.drop(state.outside);
  }
  const objectsOf = (fragment) => Object.values(fragment).filter(Number.isInteger);
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
  const keepAll = (objects) => objects.map(rt.keep);

  /** A new state that shares the contexts of `parent` (or captured ones); `left` is what is open besides its goals. */
  function store(parent, monad, goals, root, left = {}) {
    const { outside = null, owed = rt.UNIT, parents = [], fragments = [] } = left;
    fragments.flatMap(objectsOf).forEach(rt.keep);
    return add({
      contexts: keepAll(parent.contexts),
      states: keepAll(monad.states()),
      goals: rt.keep(goals),
      root: rt.keep(root),
      outside: outside === null ? null : rt.keep(outside),
      owed: rt.keep(owed),
      parents: rt.keep(rt.list(parents)),
      fragments,
      forbidden: parent.forbidden,
    });
  }

  /** Another view of a state: other goals, and what else is named. */
  function derive(state, { goals, monad = null, outside, fragments = state.fragments }) {
    const own = { contexts: state.contexts, forbidden: state.forbidden };
    const after = monad ?? { states: () => state.states };
    const parents = rt.listItems(state.parents);
    const left = { outside, owed: state.owed, parents, fragments };
    return store(own, after, rt.list(goals), state.root, left);
  }

  /** Contexts in which terms that fail are errors. */
  function strict(captured) {
    const [term, meta, core] = captured.contexts;
    return {
      contexts: [rt.withFields(term, {}, { [ERR_TO_SORRY]: 0 }), meta, core],
      states: captured.states,
    };
  }

  /**
   * Runs `body` with a monad over a command state's environment and scope.
   * @param {number} commandState
   * @param {(monad: object, origin: object) => T} body
   * @template T
   */
  function inTermElab(commandState, body) {
    const captured = contexts.captureFrom(commandState);
    try {
      return rt.scope(() => {
        const origin = strict(captured);
        return body(contexts.monad(origin.contexts, origin.states), origin);
      });
    } finally {
      contexts.release(captured);
    }
  }

  /** Parses one tactic, or several one after the other, as in a `by` block; all of the text must be used. */
  function parseSequence(env, text) {
    if (isTooDeep(text)) return { error: `brackets are nested deeper than ${MAX_NESTING}` };
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
    const input = rt.call(
      'l_Lean_Parser_mkInputContext___redArg',
      rt.string(text),
      rt.string('<input>'),
      rt.box(1),
      rt.box(Buffer.byteLength(text)),
    );
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
  /** Lean's `tacticSeq`, behind white space and comments. */
  const sequenceParser = rt.closureMaker(2, (context, start) => {
    const state = rt.call('l_Lean_Parser_whitespace', context, start);
    const parser = rt.constant('l_Lean_Parser_Tactic_tacticSeq');
    return rt.apply(rt.field(parser, PARSER.run), context, state);
  });
  let wantedCategory = 'tactic';
  const categoryParser = rt.closureMaker(2, (context, start) => {
    const state = rt.call('l_Lean_Parser_whitespace', context, start);
    return rt.call('l_Lean_Parser_categoryParserFn', rt.name(wantedCategory), context, state);
  });

  /** Parses a text of a category; all of it must be used. */
  function parse(env, category, text) {
    if (typeof text === 'string' && isTooDeep(text)) {
      return { error: `brackets are nested deeper than ${MAX_NESTING}` };
    }
    const parsed = rt.call(
      'l_Lean_Parser_runParserCategory',
      env,
      rt.name(category),
      rt.string(text),
      rt.string('<input>'),
    );
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
      const term = monad.term(
        'l_Lean_Elab_Term_elabTermEnsuringType',
        syntax,
        expected,
        mayPostpone,
        implicitLambda,
        header,
      );
      synthesize(monad);
      return monad.instantiate(term);
    });
  }

  /** A new goal of a type; `userName` is its case tag. */
  function newGoal(monad, type, userName = rt.UNIT) {
    const mvar = monad.meta(
      'l_Lean_Meta_mkFreshExprMVar',
      rt.some(type),
      rt.box(SYNTHETIC_OPAQUE),
      userName,
    );
    return rt.field(mvar, 0);
  }

  const mctxOf = (state) => rt.field(state.states[1], META_STATE.mctx);
  const envOf = (state) => rt.field(state.states[2], CORE_STATE.env);
  const goalsOf = (state) => rt.listItems(state.goals);

  function isAssigned(mctx, mvar) {
    const assigned = (symbol) => rt.optional(rt.call(symbol, mctx, mvar)) !== null;
    return assigned('lean_get_mvar_assignment') || assigned('lean_get_delayed_mvar_assignment');
  }
  /** Whether an open metavariable stands in a term, at any depth. */
  const mentions = (mctx, e, mvar) => proofs.follow(mctx, [e]).open.has(rt.nameText(mvar));

  const findFragment = (fragments, mvar) =>
    fragments.findLast((one) => rt.nameText(one.goal) === rt.nameText(mvar)) ?? null;
  const fragmentOf = (state, mvar) => findFragment(state.fragments, mvar);

  /** The printing context of a state. */
  function printContext(state) {
    const env = rt.field(state.states[2], CORE_STATE.env);
    return pretty.contextOfState(
      state.contexts[2],
      env,
      rt.field(state.states[1], META_STATE.mctx),
    );
  }

  return {
    add,
    get,
    remove,
    clear,
    store,
    derive,
    strict,
    inTermElab,
    parse,
    parseSequence,
    parsePrefix,
    orError,
    mctxOf,
    envOf,
    goalsOf,
    isAssigned,
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
