'use strict';
/** `dojo.check`: elaborates a text and says what its declarations rest on. */

const crypto = require('node:crypto');
const { COMMAND_STATE } = require('./contexts.js');
const { canonical, sexp } = require('./expressions.js');
const { RequestError } = require('./errors.js');

/** Elaborated beginnings of files that are kept, by use. */
const MAX_WARM = 16;

/** @param {object} engine everything main.js put together */
function checkCommands(engine) {
  const { rt, constants, frontend } = engine;
  /** key → {parserState, state (both kept), messages, start env kept by state} */
  const warm = new Map();

  /**
   * `dojo.check` {file, names?, prefix?, header?, fileName?, options?}. `prefix` is a byte offset where a command begins;
   * the state there is kept for the next check of a text that begins the same.
   */
  function check(request) {
    const { names = [], prefix = 0 } = request;
    if (!Number.isInteger(prefix) || prefix < 0)
      throw new RequestError('arguments', 'prefix must be a byte offset');
    return rt.scope(() => {
      const start = prefix > 0 ? warmStart(request, prefix) : coldStart(request);
      const messages = [...start.messages];
      const base = rt.field(start.state, COMMAND_STATE.env);
      const end = frontend.run(start.source, start.parserState, start.state, (unit) => {
        messages.push(...unit.messages);
      });
      const env = rt.field(end, COMMAND_STATE.env);
      rt.hold(end);
      rt.drop(end);
      return {
        messages,
        declarations: Object.fromEntries(names.map((name) => [name, describe(env, name)])),
        new_constants: constants
          .added(base, env)
          .map(([name, info]) => constantRecord(env, name, info)),
        warm: start.warm,
      };
    });
  }

  function coldStart(request) {
    const session = engine.files.open(request);
    return { ...session, warm: false };
  }

  function warmStart(request, prefix) {
    const session = engine.files.open(request);
    const offset = session.text.fromFile(prefix);
    const beginning = session.text.bytes.subarray(0, offset);
    const key = crypto
      .createHash('sha256')
      .update(beginning)
      .update(
        JSON.stringify([
          session.module,
          request.options ?? {},
          request.header ?? true,
          engine.modules.fingerprint(session.imports),
        ]),
      )
      .digest('hex');
    const known = warm.get(key) ?? elaborateBeginning(session, offset);
    warm.delete(key);
    warm.set(key, known);
    if (warm.size > MAX_WARM) forget();
    rt.hold(known.parserState);
    rt.hold(known.state);
    return { ...session, ...known, warm: known.used++ > 0 };
  }
  function forget() {
    const [oldest, entry] = warm.entries().next().value;
    warm.delete(oldest);
    rt.drop(entry.parserState);
    rt.drop(entry.state);
  }

  function elaborateBeginning(session, offset) {
    if (offset <= session.bodyStart)
      return keepStart(session.parserState, session.state, session.messages);
    const messages = [...session.messages];
    let last = null;
    const state = frontend.run(session.source, session.parserState, session.state, (unit) => {
      if (unit.start >= offset && last !== null) return true;
      messages.push(...unit.messages);
      if (unit.end >= offset) {
        last = unit.end;
        return true;
      }
      return false;
    });
    rt.hold(state);
    rt.drop(state);
    if (last !== offset)
      throw new RequestError(
        'arguments',
        `no command ends at byte ${offset}: prefix must be where one begins`,
      );
    return keepStart(rt.constructor(0, [rt.box(offset)], [0]), state, messages);
  }
  const keepStart = (parserState, state, messages) => ({
    parserState: rt.keep(parserState),
    state: rt.keep(state),
    messages,
    used: 0,
  });

  /** The Lean name of what a user calls `written`: itself, or the private name of this module. */
  function lookUp(env, written) {
    const name = rt.name(written);
    if (constants.find(env, name) !== null) return name;
    const privately = rt.call('l_Lean_mkPrivateName', env, name);
    return constants.find(env, privately) === null ? null : privately;
  }

  function describe(env, written) {
    const name = lookUp(env, written);
    if (name === null) return { exists: false };
    const info = constants.find(env, name);
    const universes = constants.levelParams(info).map(rt.nameText);
    return {
      exists: true,
      kind: constants.kind(info),
      lean_name: rt.nameText(name),
      module: constants.moduleOf(env, name),
      universes,
      type: sexp(rt, constants.type(info)),
      statement: statementDigest(env, constants.type(info), universes),
      ...constants.restsOn(env, [name]),
    };
  }

  /** A digest of a statement with all the definitions it rests on, so that a redefined symbol is a different statement. */
  function statementDigest(env, type, universes) {
    const digest = crypto.createHash('sha256').update(canonical(rt, type, universes));
    const local = constants.closure(
      env,
      constants.usedIn(type),
      (name) => constants.moduleOf(env, name) === null,
    );
    for (const [key, { name, info }] of [...local].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (info === null || constants.moduleOf(env, name) !== null) continue;
      const parameters = constants.levelParams(info).map(rt.nameText);
      const parts = [
        constants.type(info),
        ...(constants.kind(info) === 'def' ? [constants.value(info)] : []),
      ];
      digest.update(
        `|${key}:${constants.kind(info)}:${parts.map((e) => canonical(rt, e, parameters)).join(':')}`,
      );
    }
    return digest.digest('hex');
  }

  function constantRecord(env, name, info) {
    const implementedBy = rt.optional(rt.call('l_Lean_Compiler_getImplementedBy_x3f', env, name));
    return {
      name: constants.userName(name),
      kind: constants.kind(info),
      unsafe: constants.isUnsafe(info),
      ...(implementedBy === null ? {} : { implemented_by: rt.nameText(implementedBy) }),
      ...(rt.optional(rt.call('l_Lean_getExternAttrData_x3f', env, name)) === null
        ? {}
        : { extern: true }),
    };
  }

  return { 'dojo.check': check };
}

module.exports = { checkCommands };
