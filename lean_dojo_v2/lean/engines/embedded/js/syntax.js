'use strict';
/** Parsing alone: `dojo.parse_tactic` and `env.parse`. Nothing is elaborated and nothing runs. */

const { RequestError } = require('./errors.js');
const { COMMAND_STATE } = require('./contexts.js');
const { SYNTAX } = require('./infotree.js');

/** @param {object} engine everything main.js put together */
function syntaxCommands(engine) {
  const { rt, states, taint } = engine;

  const environment = (stateId) =>
    stateId === undefined
      ? rt.field(engine.commandState(), COMMAND_STATE.env)
      : states.envOf(states.get(stateId));

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
    return rt.scope(() => {
      const { error, syntax } = states.parse(environment(stateId), 'tactic', tactic);
      if (error !== undefined) return { parseError: error };
      const evaluates = taint.isPlain(syntax) ? {} : { evaluates: true };
      return { kind: rt.nameText(rt.field(syntax, 1)), ...inventory(syntax), ...evaluates };
    });
  }

  /** Pantograph's `env.parse`: one piece of syntax at the beginning of a text, and where it ends in bytes. */
  function parse({ input, category }) {
    const env = environment();
    return rt.scope(() => {
      if (!rt.holds('l_Lean_Parser_isParserCategory', env, rt.name(category)))
        throw new RequestError('parse', `there is no syntax category ${category}`);
      const { end, error } = states.parsePrefix(env, category, input);
      if (error !== undefined) throw new RequestError('parse', error);
      return { pos: end };
    });
  }

  return { 'dojo.parse_tactic': parseTactic, 'env.parse': parse };
}

module.exports = { syntaxCommands };
