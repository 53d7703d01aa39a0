'use strict';
/** `frontend.process`: elaborates a text and reports on each of its commands. */

const { RequestError } = require('./errors.js');
const { COMMAND_STATE } = require('./contexts.js');
const { withLimits } = require('./options.js');

/** @param {object} engine everything main.js put together */
function frontendCommands(engine) {
  const { rt, frontend } = engine;

  function processText(request) {
    const { file, fileName = '<anonymous>', readHeader = false, inheritEnv = false, options = {} } = request;
    if (typeof file !== 'string') throw new RequestError('arguments', 'file must be supplied: the text itself');
    return rt.scope(() => {
      const source = frontend.openText(file, fileName);
      const limits = withLimits(engine.options, options);
      const { parserState, env, notes } = readHeader ? header(source) : {
        parserState: frontend.startOfText(), env: rt.field(engine.commandState(), COMMAND_STATE.env), notes: [],
      };
      const units = [];
      const end = frontend.run(source, parserState, frontend.stateFor(env, limits), (unit) => {
        if (unit.kind !== 'Lean.Parser.Command.eoi' || unit.messages.length > 0) {
          units.push({ boundary: [unit.start, unit.end], messages: unit.messages });
        }
      });
      if (inheritEnv) engine.setCommandState(end);
      rt.drop(end);
      if (notes.length > 0) units.unshift({ boundary: [0, 0], messages: notes });
      return { units };
    });
  }

  function header(source) {
    const parsed = frontend.parseHeader(source);
    return { ...parsed, env: engine.environments.importModules(parsed.imports), notes: parsed.messages };
  }

  return { 'frontend.process': processText };
}

module.exports = { frontendCommands };
