'use strict';
/**
 * Lean's monads from outside. A `TermElabM` action takes three contexts and three references to states (term, meta,
 * core); this file captures them from Lean itself, so that nothing here depends on how they are built, and runs
 * exported functions on them.
 */

const { exceptionText, emptyLog } = require('./messages.js');
const { MVAR_DECL, SYNTHETIC_OPAQUE } = require('./mvars.js');

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
  cancelToken: 12,
};
const META_CONTEXT = { lctx: 2, localInstances: 3 };
const NAME_GENERATOR = { prefix: 0, index: 1 };
const CORE_STATE = { env: 0, ngen: 2, messages: 6, infoState: 7 };
const META_STATE = { mctx: 0, cache: 1 };
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

/** @param {object} engine everything main.js has put together by then */
function createContexts({ rt, timeout, mvars }) {
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
    const fields = {
      fileName: rt.string(fileName),
      fileMap,
      recursion: rt.box(0),
      position: rt.box(position),
      macroStack: rt.UNIT,
      quotation: rt.none,
      scope: rt.box(1),
      ref: rt.UNIT,
      snapshot: rt.none,
      cancel: timeout.cancelToken(),
    };
    return rt.constructor(0, Object.values(fields), [0]);
  }

  /**
   * The contexts and initial states that Lean's `liftTermElabM` makes for a command state.
   * The caller owns what it gets, and gives it back with `release`.
   * @param {number} commandState
   * @returns {{contexts: number[], states: number[]}} term, meta, core, each
   */
  function captureFrom(commandState) {
    rt.scope(() => {
      const noText = rt.call('l_Lean_FileMap_ofString', rt.string(''));
      const context = commandContext('<input>', noText, 0);
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
    const core = rt.withFields(contexts[2], {
      [CORE_CONTEXT.initHeartbeats]: heartbeats,
      [CORE_CONTEXT.cancelToken]: timeout.cancelToken(),
    });
    return monadOver([contexts[0], contexts[1], core], states.map(rt.newRef));
  }

  function monadOver([term, meta, core], refs) {
    const [termRef, metaRef, coreRef] = refs;
    const levels = {
      core: [core, coreRef],
      meta: [meta, metaRef, core, coreRef],
      term: [term, termRef, meta, metaRef, core, coreRef],
    };
    function run(level, symbol, args) {
      const result = rt.call(symbol, ...args, ...levels[level]);
      if (rt.tag(result) === 0) return rt.field(result, 0);
      throw leanException(rt, rt.field(result, 0));
    }
    const read = () => refs.map(rt.readRef);
    const mctx = () => rt.field(rt.readRef(metaRef), META_STATE.mctx);
    /** A name that Lean's generator has not given yet. */
    function freshName() {
      const ngen = rt.field(rt.readRef(coreRef), CORE_STATE.ngen);
      const index = rt.unbox(rt.field(ngen, NAME_GENERATOR.index));
      const next = rt.withFields(ngen, { [NAME_GENERATOR.index]: rt.box(index + 1) });
      update(coreRef, CORE_STATE.ngen, next);
      const prefix = rt.field(ngen, NAME_GENERATOR.prefix);
      return rt.call('l_Lean_Name_num___override', prefix, rt.box(index));
    }
    /** A new metavariable (`Expr`) in a local context. */
    function newMVarAt({ lctx, localInstances }, type, userName = rt.UNIT) {
      const [kind, depth] = [rt.box(SYNTHETIC_OPAQUE), rt.box(0)];
      const args = [lctx, localInstances, type, kind, userName, depth];
      return run('meta', 'l_Lean_Meta_mkFreshExprMVarAt', args);
    }
    /** What a goal says: its tag, local context and (instantiated) type. */
    function goal(mvar) {
      const decl = mvars.declaration(mctx(), mvar);
      return {
        userName: rt.field(decl, MVAR_DECL.userName),
        lctx: rt.field(decl, MVAR_DECL.lctx),
        localInstances: rt.field(decl, MVAR_DECL.localInstances),
        type: instantiate(rt.field(decl, MVAR_DECL.type)),
      };
    }
    const instantiate = (e) => mvars.instantiate(mctx(), e);
    /** The same monad, in another local context. */
    function within({ lctx, localInstances }) {
      const place = { [META_CONTEXT.lctx]: lctx, [META_CONTEXT.localInstances]: localInstances };
      return monadOver([term, rt.withFields(meta, place), core], refs);
    }
    const assign = (mvar, value) =>
      update(metaRef, META_STATE.mctx, rt.call('lean_assign_mvar', mctx(), mvar, value));
    return {
      /** Whether `body` comes through; a Lean exception undoes what it did. */
      attempt(body) {
        const saved = read();
        try {
          body();
          return true;
        } catch (error) {
          if (!(error instanceof LeanException)) throw error;
          refs.forEach((ref, i) => rt.wasm.lean_st_ref_set(ref, rt.keep(saved[i])));
          return false;
        }
      },
      freshName,
      newMVarAt,
      goal,
      instantiate,
      within,
      assign,
      core: (symbol, ...args) => run('core', symbol, args),
      meta: (symbol, ...args) => run('meta', symbol, args),
      term: (symbol, ...args) => run('term', symbol, args),
      tactic: (context, ref, symbol, ...args) => run('term', symbol, [...args, context, ref]),
      states: read,
      environment: () => rt.field(rt.readRef(coreRef), CORE_STATE.env),
      mctx,
      log: () => rt.field(rt.readRef(coreRef), CORE_STATE.messages),
      setMctx: (mctx) => update(metaRef, META_STATE.mctx, mctx),
      levelNames: () => rt.field(rt.readRef(termRef), TERM_STATE.levelNames),
      setLevelNames: (names) => update(termRef, TERM_STATE.levelNames, names),
      setNameGenerator: (ngen) => update(coreRef, CORE_STATE.ngen, ngen),
      clearMessages: () => update(coreRef, CORE_STATE.messages, emptyLog(rt)),
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
  TERM_STATE,
};
