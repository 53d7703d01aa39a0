'use strict';
/** A text of a request as a file to elaborate: its header, the environment it starts from, and its own module name. */

const { RequestError } = require('./errors.js');
const { COMMAND_STATE } = require('./contexts.js');
const { SCOPE } = require('./frontend.js');
const { SourceText, nestingProblem } = require('./text.js');
const { withLimits } = require('./options.js');

/** The module of a text without a name, as on Lean's command line. */
const UNNAMED = '_stdin';

/** @param {object} engine everything main.js put together */
function createFiles(engine) {
  const { rt, frontend } = engine;

  /**
   * Opens a text. Objects live in the current arena.
   * @param {object} request
   * @param {string} request.file the text
   * @param {string} [request.fileName] its name in messages, where it lies in the project's folder for what it includes,
   *   and its module's name where that is inside the project
   * @param {boolean} [request.header] whether it begins with imports of its own (true); else it continues the
   *   environment of the session
   * @param {boolean} [request.scoped] without a header: whether what the session has opened is open in the text too, as
   *   it is for goals
   * @param {boolean} [request.compiled] whether to import the project's modules from their compiled files
   * @param {object} [request.options] Lean options
   * @returns {object} what `frontend.run` takes (source, parserState; state: that before the first command), and
   *   text; module; imports; messages of the header, and where it ends (bodyStart); below: the environment that the text
   *   begins in; library: that of the library's modules that it is built on; isImported: whether all that it begins with
   *   was imported, and nothing elaborated in memory; moduleOf
   */
  function open(request) {
    const { file, fileName = '<input>', header = true, scoped = false } = request;
    const { options = {}, module = null, compiled = false } = request;
    if (file.includes('\0')) throw new RequestError('command', 'file holds a NUL byte');
    const problem = nestingProblem(file);
    if (problem !== null) throw new RequestError('command', `file: ${problem}`);
    const text = new SourceText(file);
    const source = frontend.openText(text.lean, placeOf(fileName));
    const start = header ? readHeader(source, compiled) : continueSession();
    const own = module ?? engine.modules.nameOfFile(fileName);
    const limits = withLimits(engine.options, options);
    const fresh = frontend.stateFor(start.below, limits, own ?? UNNAMED);
    const plain = engine.modules.seeing(fresh, start.whole, file);
    return {
      ...start,
      text,
      source,
      module: own,
      state: scoped && !header ? inScopeOfSession(plain, options) : plain,
      moduleOf: (name) => start.moduleOf(name) ?? own,
    };
  }

  function readHeader(source, compiled) {
    const { imports, whole, messages, parserState, end } = frontend.parseHeader(source);
    // without `Init` (`prelude`) a text may define for itself what Lean's code takes for the library's
    if (!imports.includes('Init')) engine.taint.note();
    const { env, ...found } = engine.modules.environment(imports, compiled);
    const below = engine.initializers.upToDate(env);
    const unique = [...new Set(imports)];
    return { imports: unique, whole, messages, parserState, bodyStart: end, below, ...found };
  }

  /** `include_str` looks beside its file, and a name alone is beside nothing to Lean; Lake has paths with folders too. */
  const placeOf = (fileName) =>
    fileName.endsWith('.lean') && !fileName.includes('/') ? `./${fileName}` : fileName;

  const continueSession = () => ({
    imports: [],
    whole: [],
    messages: [],
    parserState: frontend.startOfText(),
    bodyStart: 0,
    below: rt.field(engine.commandState(), COMMAND_STATE.env),
    library: engine.library(),
    isImported: false,
    moduleOf: () => null,
  });

  function inScopeOfSession(state, options) {
    const [own, theirs] = [state, engine.commandState()].map((one) =>
      rt.field(rt.field(one, COMMAND_STATE.scopes), 0),
    );
    const taken = [SCOPE.currNamespace, SCOPE.openDecls];
    if (Object.keys(options).length === 0) taken.push(SCOPE.options);
    const parts = Object.fromEntries(taken.map((i) => [i, rt.field(theirs, i)]));
    const scope = rt.withFields(own, parts);
    return rt.withFields(state, { [COMMAND_STATE.scopes]: rt.list([scope]) });
  }

  return { open };
}

module.exports = { createFiles };
