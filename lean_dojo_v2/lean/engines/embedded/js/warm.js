'use strict';
/** Beginnings of files that stay elaborated, for requests about what follows them. */

const { COMMAND_STATE } = require('./contexts.js');

/** Elaborated beginnings that are kept, by use. */
const MAX_WARM = 128;

/** @param {object} engine everything main.js put together */
function createWarm(engine) {
  const { rt, frontend } = engine;
  /** The least recently used first: {family, bytes, parserState and state (both kept), messages, used}. */
  let kept = [];

  /**
   * Opens a request's text behind the commands that end in its `prefix`, a number of bytes. The state there is kept for
   * the next request whose text begins the same, and a longer prefix goes on from a shorter one. Only Lean's parser
   * knows where a command begins (at its docstring, at `open Foo in`, at `mutual`), so the prefix may end inside one.
   * @returns {object} the session of files.js; parserState, state, below and messages are those behind the commands
   */
  function open(request) {
    const { prefix = 0, header = true } = request;
    const session = engine.files.open({ ...request, scoped: true });
    // Without a header the text continues the session, whose environment may change.
    if (prefix === 0 || !header) return { ...session, warm: false };
    const offset = session.text.fromFile(prefix);
    const bytes = session.text.bytes.subarray(0, offset);
    const sources = engine.modules.fingerprint(session.imports);
    const family = JSON.stringify([session.module, request.options ?? {}, sources]);
    const nearest = longest(family, bytes);
    const entry =
      nearest?.bytes.length === offset
        ? nearest
        : { family, bytes: Buffer.from(bytes), used: 0, ...elaborate(session, offset, nearest) };
    kept = [...kept.filter((other) => other !== entry), entry];
    if (kept.length > MAX_WARM) forget(kept.shift());
    const below = rt.field(entry.state, COMMAND_STATE.env);
    return { ...session, ...held(entry), below, warm: entry.used++ > 0 };
  }

  /** The longest kept beginning of a text, if there is one. */
  function longest(family, bytes) {
    return kept
      .filter((entry) => entry.family === family)
      .filter((entry) => entry.bytes.equals(bytes.subarray(0, entry.bytes.length)))
      .sort((a, b) => b.bytes.length - a.bytes.length)
      .at(0);
  }

  function held({ parserState, state, messages }) {
    rt.hold(parserState);
    rt.hold(state);
    return { parserState, state, messages };
  }
  function forget(entry) {
    rt.drop(entry.parserState);
    rt.drop(entry.state);
  }

  function elaborate(session, offset, from) {
    const start = from === undefined ? session : { ...session, ...held(from) };
    const messages = [...start.messages];
    const end = frontend.runTo(start, offset, (unit) => void messages.push(...unit.messages));
    return { ...end, messages };
  }

  return { open };
}

module.exports = { createWarm };
