'use strict';
/**
 * Elaborates a text, command by command, as Lean's own front end does (Lean.Elab.Frontend).
 *
 * A visitor sees each command with the state before it, its syntax, messages and information trees.
 */

const { COMMAND_STATE } = require('./contexts.js');
const { messages, emptyLog } = require('./messages.js');
const { leanOptions } = require('./options.js');

const SCOPE = { header: 0, options: 1, currNamespace: 2, openDecls: 3 };
const INFO_STATE = { lazyAssignment: 1, trees: 2 };
const MODULE_PARSER_STATE = { position: 0 };
const END_OF_INPUT = new Set(['Lean.Parser.Command.eoi', 'Lean.Parser.Command.exit']);

/**
 * @typedef {object} Unit one command of a text; objects in it live as long as the visitor's call
 * @property {number} start where it begins, in bytes
 * @property {number} end where it ends, trailing white space included
 * @property {number} syntax its Lean syntax
 * @property {string} kind its syntax kind
 * @property {object[]} messages its messages, as JSON
 * @property {number[]} trees its information trees
 * @property {number} before the command state before it
 * @property {number} after the command state after it
 */

/**
 * @param {object} rt the runtime
 * @param {object} contexts see contexts.js
 */
function createFrontend(rt, contexts) {
  const stateFor = (env, optionValues) =>
    rt.call('l_Lean_Elab_Command_mkState', env, emptyLog(rt), leanOptions(rt, optionValues));

  /** A text ready for the parser: its input context, and the positions of its lines. */
  function openText(text, fileName) {
    const bytes = Buffer.byteLength(text);
    const input = rt.call(
      'l_Lean_Parser_mkInputContext___redArg',
      rt.string(text),
      rt.string(fileName),
      rt.box(1),
      rt.box(bytes),
    );
    return { input, fileName, fileMap: rt.call('l_Lean_FileMap_ofString', rt.string(text)), bytes };
  }
  const startOfText = () => rt.constructor(0, [rt.box(0)], [0]);

  /**
   * Reads a header with Lean's own parser.
   * @returns {{imports: string[], messages: object[], parserState: number, end: number}} `Init` is among the imports
   *   unless the file begins with `prelude`
   */
  function parseHeader(source) {
    const parsed = rt.io('l_Lean_Parser_parseHeader', source.input);
    const [parserState, log] = [rt.field(rt.field(parsed, 1), 0), rt.field(rt.field(parsed, 1), 1)];
    const imports = rt.call('l_Lean_Elab_headerToImports', rt.field(parsed, 0), rt.box(1));
    return {
      imports: rt.arrayItems(imports).map((item) => rt.nameText(rt.field(item, 0))),
      messages: messages(rt, log),
      parserState,
      end: rt.unbox(rt.field(parserState, MODULE_PARSER_STATE.position)),
    };
  }

  function parseCommand(source, parserState, commandState) {
    const scope = rt.field(rt.field(commandState, COMMAND_STATE.scopes), 0);
    const parserContext = rt.constructor(0, [
      rt.field(commandState, COMMAND_STATE.env),
      rt.field(scope, SCOPE.options),
      rt.field(scope, SCOPE.currNamespace),
      rt.field(scope, SCOPE.openDecls),
    ]);
    const parsed = rt.call(
      'l_Lean_Parser_parseCommand',
      source.input,
      parserContext,
      parserState,
      emptyLog(rt),
    );
    const rest = rt.field(parsed, 1);
    return { syntax: rt.field(parsed, 0), parserState: rt.field(rest, 0), log: rt.field(rest, 1) };
  }

  function elaborate(source, syntax, commandState, position) {
    const ref = rt.newRef(commandState);
    const context = contexts.commandContext(source.fileName, source.fileMap, position);
    // what elaborators throw is logged; an exception that gets here is an abort, which is silent in Lean too
    rt.call('l_Lean_Elab_Command_elabCommandTopLevel', syntax, context, ref);
    return rt.readRef(ref);
  }

  /**
   * Elaborates a text from a parser state on.
   * @param {object} source from `openText`
   * @param {number} parserState
   * @param {number} commandState
   * @param {(unit: Unit) => (boolean|void)} visit returning true ends the run
   * @returns {number} the final command state; the caller owns it
   */
  function run(source, parserState, commandState, visit) {
    let [parser, state, finished] = [rt.keep(parserState), rt.keep(commandState), false];
    while (!finished) {
      rt.scope(() => {
        const start = rt.unbox(rt.field(parser, MODULE_PARSER_STATE.position));
        const parsed = parseCommand(source, parser, state);
        const kind = syntaxKind(rt, parsed.syntax);
        finished = END_OF_INPUT.has(kind);
        const after = elaborate(source, parsed.syntax, state, start);
        const unit = {
          start,
          end: Math.min(
            rt.unbox(rt.field(parsed.parserState, MODULE_PARSER_STATE.position)),
            source.bytes,
          ),
          syntax: parsed.syntax,
          kind,
          messages: [
            ...messages(rt, parsed.log),
            ...messages(rt, rt.field(after, COMMAND_STATE.messages)),
          ],
          trees: informationTrees(after),
          before: state,
          after,
        };
        if (visit(unit) === true) finished = true;
        const [oldParser, oldState] = [parser, state];
        parser = rt.keep(parsed.parserState);
        state = rt.keep(after);
        rt.drop(oldParser);
        rt.drop(oldState);
      });
    }
    rt.drop(parser);
    return state;
  }

  /** The trees of the last command, with what its tasks contributed filled in. */
  function informationTrees(commandState) {
    let info = rt.field(commandState, COMMAND_STATE.infoState);
    if (!isEmptyMap(rt.field(info, INFO_STATE.lazyAssignment))) {
      info = rt.taskResult(rt.call('l_Lean_Elab_InfoState_substituteLazy', info));
    }
    return rt.persistentArrayItems(rt.field(info, INFO_STATE.trees));
  }
  /** Whether a `PersistentHashMap` has no entries: its root holds only empty slots. */
  const isEmptyMap = (map) =>
    rt.tag(map) === 0 && rt.arrayItems(rt.field(map, 0)).every(rt.isScalar);

  return { stateFor, openText, startOfText, parseHeader, run };
}

/** A syntax node's kind; '' for atoms, identifiers and missing syntax. */
const syntaxKind = (rt, syntax) =>
  rt.tag(syntax) === 1 && !rt.isScalar(syntax) ? rt.nameText(rt.field(syntax, 1)) : '';

module.exports = { createFrontend, syntaxKind, SCOPE };
