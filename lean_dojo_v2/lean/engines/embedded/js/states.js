'use strict';
/** Proof states kept alive between requests, and the tactics that lead from one to the next. */

const { RequestError } = require('./errors.js');
const { isTooDeep, MAX_NESTING } = require('./text.js');
const { CORE_STATE, META_STATE } = require('./contexts.js');

/** So many states at once; a client that never deletes any is told so. */
const MAX_STATES = 100_000;
/** `Term.Context.errToSorry`, by offset in the scalar area: a failing term must fail, not become `sorry`. */
const ERR_TO_SORRY = 1;
const SYNTHETIC_OPAQUE = 2;

/**
 * @typedef {object} ProofState Lean objects that this file owns
 * @property {number[]} contexts term, meta, core
 * @property {number[]} states term, meta, core
 * @property {number} goals the open goals, in order, a Lean list
 * @property {number} root the goal all began with
 * @property {number|null} outside metavariables that are not goals here but may stay open: goals that were set aside,
 *   and what the goals spoke of when the state was opened; a Lean list, or null for a state just opened (see proofs.js)
 * @property {number} owed metavariables that are left open in the proofs so far and that only the goals speak of
 * @property {Set<string>} [forbidden] constants that no proof from here may use: the theorem itself
 */

/**
 * @param {object} rt the runtime
 * @param {object} contexts see contexts.js
 * @param {object} pretty see pretty.js
 */
function createStates(rt, contexts, pretty) {
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
    if (state.outside !== null) rt.drop(state.outside);
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
  const keepAll = (objects) => objects.map(rt.keep);

  /** A new state that shares the contexts of `parent` (or captured ones); `left` is what is open besides its goals. */
  function store(parent, monad, goals, root, left = { outside: null, owed: rt.UNIT }) {
    return add({
      contexts: keepAll(parent.contexts),
      states: keepAll(monad.states()),
      goals: rt.keep(goals),
      root: rt.keep(root),
      outside: left.outside === null ? null : rt.keep(left.outside),
      owed: rt.keep(left.owed),
      forbidden: parent.forbidden,
    });
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
    if (error !== undefined) throw new RequestError('parsing', error);
    return syntax;
  }

  function synthesize(monad) {
    monad.term('l_Lean_Elab_Term_synthesizeSyntheticMVarsNoPostponing', rt.box(0));
  }

  /** Elaborates a text as a type; nothing may stay postponed. */
  function elaborateType(monad, text) {
    const type = monad.term('l_Lean_Elab_Term_elabType', parseTerm(monad.environment(), text));
    synthesize(monad);
    return pretty.instantiate(monad.mctx(), type);
  }

  /** Elaborates a text as a term, of a type if one is given. */
  function elaborateTerm(monad, text, type = null) {
    const [mayPostpone, implicitLambda, header] = [rt.box(1), rt.box(1), rt.none];
    const expected = type === null ? rt.none : rt.some(type);
    const term = monad.term(
      'l_Lean_Elab_Term_elabTermEnsuringType',
      parseTerm(monad.environment(), text),
      expected,
      mayPostpone,
      implicitLambda,
      header,
    );
    synthesize(monad);
    return pretty.instantiate(monad.mctx(), term);
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
    strict,
    inTermElab,
    parse,
    synthesize,
    elaborateType,
    elaborateTerm,
    newGoal,
    printContext,
    count: () => states.size,
  };
}

module.exports = { createStates };
