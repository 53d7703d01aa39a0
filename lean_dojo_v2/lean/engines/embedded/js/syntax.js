'use strict';
/** Parsing alone: `dojo.parse_tactic` and `env.parse`. Nothing is elaborated and nothing runs. */

const { RequestError } = require('./errors.js');
const { COMMAND_STATE, CORE_STATE } = require('./contexts.js');
const { SYNTAX } = require('./infotree.js');
const { SourceText } = require('./text.js');

/** @param {object} engine everything main.js put together */
function syntaxCommands(engine) {
  const { rt, states } = engine;

  const environment = (stateId) =>
    stateId === undefined || stateId === null
      ? rt.field(engine.commandState(), COMMAND_STATE.env)
      : rt.field(states.get(stateId).states[2], CORE_STATE.env);

  /** Node kinds, identifiers and atoms of a syntax tree, each once, in order. */
  function inventory(syntax) {
    const [kinds, identifiers, atoms] = [new Set(), new Set(), new Set()];
    const pending = [syntax];
    while (pending.length > 0) {
      const node = pending.pop();
      if (rt.isScalar(node)) continue;
      if (rt.tag(node) === SYNTAX.node) {
        kinds.add(rt.nameText(rt.field(node, 1)));
        pending.push(...rt.arrayItems(rt.field(node, 2)).reverse());
      } else if (rt.tag(node) === SYNTAX.atom) atoms.add(rt.text(rt.field(node, 1)));
      else identifiers.add(rt.nameText(rt.field(node, 2)));
    }
    return { kinds: [...kinds], identifiers: [...identifiers], atoms: [...atoms] };
  }

  function parseTactic({ tactic, stateId }) {
    if (typeof tactic !== 'string') throw new RequestError('arguments', 'tactic must be a text');
    return rt.scope(() => {
      const { error, syntax } = states.parse(environment(stateId), 'tactic', tactic);
      if (error !== undefined) return { parseError: error };
      return { kind: rt.nameText(rt.field(syntax, 1)), ...inventory(syntax) };
    });
  }

  /** Pantograph's `env.parse`: one piece of syntax at the beginning of a text, and where it ends in bytes. */
  function parse({ input, category = 'tactic' }) {
    if (typeof input !== 'string') throw new RequestError('arguments', 'input must be a text');
    const env = environment(null);
    return rt.scope(() => {
      // Lean's parser takes all or says where it had to stop: then what is before that place is the piece
      const whole = states.parse(env, category, input);
      if (whole.error === undefined) return { pos: Buffer.byteLength(input) };
      const [, line, column] =
        /^<input>:(\d+):(\d+): expected end of input$/.exec(whole.error) ?? [];
      if (line === undefined) throw new RequestError('parse', whole.error);
      const pos = new SourceText(input).offset(Number(line), Number(column));
      const piece = Buffer.from(input).subarray(0, pos).toString('utf8').trimEnd();
      return { pos: Buffer.byteLength(piece) };
    });
  }

  return { 'dojo.parse_tactic': parseTactic, 'env.parse': parse };
}

module.exports = { syntaxCommands };
