'use strict';
/** A text of a request as a file to elaborate: its header, the environment it starts from, and its own module name. */

const { RequestError } = require('./errors.js');
const { COMMAND_STATE } = require('./contexts.js');
const { SCOPE } = require('./frontend.js');
const { SourceText, isTooDeep, MAX_NESTING } = require('./text.js');
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
   * @param {string} [request.fileName] its name in messages, and its module's name where that is inside the project
   * @param {boolean} [request.header] whether it begins with imports of its own (true); else it continues the
   *   environment of the session
   * @param {boolean} [request.scoped] without a header: whether what the session has opened is open in the text too, as
   *   it is for goals
   * @param {boolean} [request.compiled] whether to import the project's modules from their compiled files
   * @param {object} [request.options] Lean options
   */
  function open({
    file,
    fileName = '<input>',
    header = true,
    scoped = false,
    options = {},
    module = null,
    compiled = false,
  }) {
    if (typeof file !== 'string')
      throw new RequestError('command', 'file must be supplied: the text itself');
    if (file.includes('\0')) throw new RequestError('command', 'file holds a NUL byte');
    if (isTooDeep(file)) {
      throw new RequestError('command', `file: brackets are nested deeper than ${MAX_NESTING}`);
    }
    const text = new SourceText(file);
    const source = frontend.openText(text.lean, fileName);
    const start = header ? readHeader(source, options, compiled) : continueSession(options);
    const own = module ?? engine.modules.nameOfFile(fileName) ?? null;
    const plain = withMainModule(start.state, own ?? UNNAMED);
    const state = scoped && !header ? inScopeOfSession(plain, options) : plain;
    return {
      text,
      source,
      module: own,
      imports: [...new Set(start.imports)],
      /** The environment of the library's modules that it is built on. */
      library: start.library,
      /** Whether all that it begins with was imported, and nothing elaborated in memory. */
      isImported: start.isImported,
      /** The environment that it begins in. */
      below: start.below,
      parserState: start.parserState,
      messages: start.messages,
      bodyStart: start.end,
      /** The command state before the first command. */
      state,
      /** Elaborates it all; the final state is the caller's. */
      run(visit) {
        return frontend.run(source, start.parserState, state, visit);
      },
      moduleOf: (name) => start.moduleOf(name) ?? own,
    };
  }

  function readHeader(source, options, compiled) {
    const parsed = frontend.parseHeader(source);
    const found = engine.modules.environment(parsed.imports, compiled);
    const env = engine.initializers.upToDate(found.env);
    return {
      ...parsed,
      ...found,
      below: env,
      state: frontend.stateFor(env, withLimits(engine.options, options)),
    };
  }

  function continueSession(options) {
    const state = engine.commandState();
    const env = rt.field(state, COMMAND_STATE.env);
    return {
      imports: [],
      library: engine.library(),
      below: env,
      messages: [],
      end: 0,
      parserState: frontend.startOfText(),
      moduleOf: () => null,
      isImported: false,
      state: frontend.stateFor(env, withLimits(engine.options, options)),
    };
  }

  function inScopeOfSession(state, options) {
    const [own, theirs] = [state, engine.commandState()].map((one) =>
      rt.field(rt.field(one, COMMAND_STATE.scopes), 0),
    );
    const taken = [SCOPE.currNamespace, SCOPE.openDecls];
    if (Object.keys(options).length === 0) taken.push(SCOPE.options);
    const scope = rt.withFields(
      own,
      Object.fromEntries(taken.map((i) => [i, rt.field(theirs, i)])),
    );
    return rt.withFields(state, { [COMMAND_STATE.scopes]: rt.list([scope]) });
  }

  /** Private names carry their module's name. */
  function withMainModule(state, module) {
    const env = rt.call(
      'l_Lean_Environment_setMainModule',
      rt.field(state, COMMAND_STATE.env),
      rt.name(module),
    );
    const options = rt.field(rt.field(rt.field(state, COMMAND_STATE.scopes), 0), 1);
    return rt.call(
      'l_Lean_Elab_Command_mkState',
      env,
      rt.constant('l_Lean_MessageLog_empty'),
      options,
    );
  }

  return { open, withMainModule };
}

module.exports = { createFiles };
