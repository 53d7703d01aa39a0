'use strict';
/**
 * Lean's monads from outside. A `TermElabM` action takes three contexts and three references to states (term, meta,
 * core); this file captures them from Lean itself, so that nothing here depends on how they are built, and runs
 * exported functions on them.
 */

const { exceptionText, emptyLog } = require('./messages.js');

/** Fields of Lean's structures, by position. */
const COMMAND_STATE = { env: 0, messages: 1, scopes: 2, ngen: 6, infoState: 8 };
const CORE_CONTEXT = {
  fileMap: 1,
  options: 2,
  maxRecDepth: 4,
  currNamespace: 6,
  openDecls: 7,
  initHeartbeats: 8,
  maxHeartbeats: 9,
};
const CORE_STATE = { env: 0, ngen: 2, messages: 6, infoState: 7 };
const META_STATE = { mctx: 0 };
const TERM_STATE = { levelNames: 0 };

/** A Lean exception that an action threw: the request fails, the engine goes on. */
class LeanException extends Error {
  /** Where in the text, in bytes, if known. */
  offset = null;

  /** Lean's own control flow (abort, postpone), which has no message for users. */
  internal = false;
}

function leanException(rt, exception) {
  const error = new LeanException(exceptionText(rt, exception));
  error.internal = rt.tag(exception) === 1;
  if (!error.internal) {
    const offset = rt.optional(
      rt.call('l_Lean_Syntax_getPos_x3f', rt.field(exception, 0), rt.box(0)),
    );
    if (offset !== null && rt.isScalar(offset)) error.offset = rt.unbox(offset);
  }
  return error;
}

/** @param {object} rt the runtime */
function createContexts(rt) {
  let captured = null;
  const capture = rt.closureMaker(
    7,
    (termContext, termRef, metaContext, metaRef, coreContext, coreRef) => {
      captured = {
        contexts: [termContext, metaContext, coreContext].map(rt.keep),
        states: [termRef, metaRef, coreRef].map((ref) => rt.keep(rt.readRef(ref))),
      };
      return rt.constructor(0, [rt.UNIT]);
    },
  );

  /** Lean's `Command.Context` at a byte position of a text. */
  function commandContext(fileName, fileMap, position) {
    const [recursion, macroStack, quotation, scope, ref, snapshot, cancel] = [
      rt.box(0),
      rt.UNIT,
      rt.none,
      rt.box(1),
      rt.UNIT,
      rt.none,
      rt.none,
    ];
    return rt.constructor(
      0,
      [
        rt.string(fileName),
        fileMap,
        recursion,
        rt.box(position),
        macroStack,
        quotation,
        scope,
        ref,
        snapshot,
        cancel,
      ],
      [0],
    );
  }

  /**
   * The contexts and initial states that Lean's `liftTermElabM` makes for a command state.
   * The caller owns what it gets, and gives it back with `release`.
   * @param {number} commandState
   * @returns {{contexts: number[], states: number[]}} term, meta, core, each
   */
  function captureFrom(commandState) {
    rt.scope(() => {
      const context = commandContext(
        '<input>',
        rt.call('l_Lean_FileMap_ofString', rt.string('')),
        0,
      );
      const ref = rt.newRef(commandState);
      const result = rt.call('l_Lean_Elab_Command_liftTermElabM___redArg', capture(), context, ref);
      if (rt.tag(result) !== 0) throw leanException(rt, rt.field(result, 0));
    });
    const result = captured;
    captured = null;
    return result;
  }

  function release({ contexts, states }) {
    [...contexts, ...states].forEach(rt.drop);
  }

  /**
   * A monad to run actions in: fresh references over given states. Lives in the current arena.
   * @param {number[]} contexts term, meta, core
   * @param {number[]} states term, meta, core
   */
  function monad(contexts, states) {
    const heartbeats = rt.call('lean_io_get_num_heartbeats');
    const core = rt.withFields(contexts[2], { [CORE_CONTEXT.initHeartbeats]: heartbeats });
    const [termRef, metaRef, coreRef] = states.map(rt.newRef);
    const levels = {
      core: [core, coreRef],
      meta: [contexts[1], metaRef, core, coreRef],
      term: [contexts[0], termRef, contexts[1], metaRef, core, coreRef],
    };
    function run(level, symbol, args) {
      const result = rt.call(symbol, ...args, ...levels[level]);
      if (rt.tag(result) === 0) return rt.field(result, 0);
      throw leanException(rt, rt.field(result, 0));
    }
    const read = () => [termRef, metaRef, coreRef].map(rt.readRef);
    return {
      core: (symbol, ...args) => run('core', symbol, args),
      meta: (symbol, ...args) => run('meta', symbol, args),
      term: (symbol, ...args) => run('term', symbol, args),
      tactic: (context, ref, symbol, ...args) => run('term', symbol, [...args, context, ref]),
      states: read,
      environment: () => rt.field(rt.readRef(coreRef), CORE_STATE.env),
      mctx: () => rt.field(rt.readRef(metaRef), META_STATE.mctx),
      log: () => rt.field(rt.readRef(coreRef), CORE_STATE.messages),
      setMctx(mctx) {
        update(metaRef, META_STATE.mctx, mctx);
      },
      levelNames: () => rt.field(rt.readRef(termRef), TERM_STATE.levelNames),
      setLevelNames(names) {
        update(termRef, TERM_STATE.levelNames, names);
      },
      setNameGenerator(ngen) {
        update(coreRef, CORE_STATE.ngen, ngen);
      },
      clearMessages() {
        update(coreRef, CORE_STATE.messages, emptyLog(rt));
      },
    };
    function update(ref, index, value) {
      const next = rt.withFields(rt.readRef(ref), { [index]: value });
      rt.wasm.lean_st_ref_set(ref, rt.keep(next));
    }
  }

  return { commandContext, captureFrom, release, monad };
}

module.exports = {
  createContexts,
  LeanException,
  COMMAND_STATE,
  CORE_CONTEXT,
  CORE_STATE,
  META_STATE,
};
