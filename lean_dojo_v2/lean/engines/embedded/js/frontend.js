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
/** The flag `importAll` of an `Import`. */
const IMPORT_ALL = 0;
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

/** @param {object} engine everything main.js has put together by then */
function createFrontend({ rt, contexts, trees, axioms, taint }) {
  /** A command state to begin with; in `module`, whose name private names carry, if one is given. */
  function stateFor(env, optionValues, module = null) {
    const own =
      module === null ? env : rt.call('l_Lean_Environment_setMainModule', env, rt.name(module));
    return rt.call('l_Lean_Elab_Command_mkState', own, emptyLog(rt), leanOptions(rt, optionValues));
  }

  /** A text ready for the parser: its input context, and the positions of its lines. */
  function openText(text, fileName) {
    return {
      input: inputContext(rt, text, fileName),
      fileName,
      fileMap: rt.call('l_Lean_FileMap_ofString', rt.string(text)),
      bytes: Buffer.byteLength(text),
    };
  }
  const startOfText = () => rt.constructor(0, [rt.box(0)], [0]);

  /**
   * Reads a header with Lean's own parser.
   * @returns {{imports: string[], whole: string[], messages: object[], parserState: number, end: number}} `Init` is
   *   among the imports unless the file begins with `prelude`; `whole` are those of `import all`
   */
  function parseHeader(source) {
    const parsed = rt.io('l_Lean_Parser_parseHeader', source.input);
    const [parserState, log] = [rt.field(rt.field(parsed, 1), 0), rt.field(rt.field(parsed, 1), 1)];
    const found = rt.call('l_Lean_Elab_headerToImports', rt.field(parsed, 0), rt.box(1));
    const imports = rt.arrayItems(found).map((item) => ({
      module: rt.moduleText(rt.field(item, 0)),
      isWhole: rt.scalarByte(item, IMPORT_ALL) === 1,
    }));
    return {
      imports: imports.map(({ module }) => module),
      whole: imports.filter(({ isWhole }) => isWhole).map(({ module }) => module),
      messages: messages(rt, log),
      parserState,
      end: rt.unbox(rt.field(parserState, MODULE_PARSER_STATE.position)),
    };
  }

  function parseCommand(source, parserState, commandState) {
    const scope = rt.field(rt.field(commandState, COMMAND_STATE.scopes), 0);
    const context = rt.constructor(0, [
      rt.field(commandState, COMMAND_STATE.env),
      ...[SCOPE.options, SCOPE.currNamespace, SCOPE.openDecls].map((i) => rt.field(scope, i)),
    ]);
    const args = [source.input, context, parserState, emptyLog(rt)];
    const parsed = rt.call('l_Lean_Parser_parseCommand', ...args);
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
   * @param {{source: object, parserState: number, state: number}} session the text (see `openText`), the parser state,
   *   and the command state
   * @param {(unit: Unit) => (boolean|void)} visit returning true ends the run
   * @returns {number} the final command state
   */
  function run(session, visit) {
    const end = runTo(session, Infinity, visit);
    rt.drop(end.parserState);
    return rt.adopt(end.state);
  }

  /**
   * The same for the commands that end at or before a byte of the text. One that ends there with a syntax error is not
   * among them: it may be the beginning of what follows, which Lean could not read.
   * @returns {{parserState: number, state: number}} where it ended; the caller owns both
   */
  function runTo({ source, parserState, state: start, library }, limit, visit) {
    const below = library ?? rt.field(start, COMMAND_STATE.env);
    let [parser, state, finished] = [rt.keep(parserState), rt.keep(start), false];
    while (!finished && positionOf(parser) < limit) {
      rt.scope(() => {
        const parsed = parseCommand(source, parser, state);
        const end = Math.min(positionOf(parsed.parserState), source.bytes);
        const complaints = messages(rt, parsed.log);
        if (end > limit || (end === limit && complaints.length > 0)) {
          finished = true;
          return;
        }
        const unit = elaborated(source, parsed, state, positionOf(parser), end, complaints);
        taint.settle(() => taint.isDataOfCommand(unit, below));
        finished = END_OF_INPUT.has(unit.kind);
        if (visit(unit) === true) finished = true;
        const [oldParser, oldState] = [parser, state];
        parser = rt.keep(parsed.parserState);
        state = rt.keep(unit.after);
        rt.drop(oldParser);
        rt.drop(oldState);
      });
    }
    return { parserState: parser, state };
  }
  const positionOf = (parser) => rt.unbox(rt.field(parser, MODULE_PARSER_STATE.position));

  /** @returns {Unit} */
  function elaborated(source, { syntax }, before, start, end, complaints) {
    const after = elaborate(source, syntax, before, start);
    const kind = trees.kindOf(syntax);
    const found = informationTrees(after);
    const said = messages(rt, rt.field(after, COMMAND_STATE.messages));
    const env = rt.field(after, COMMAND_STATE.env);
    return {
      start,
      end,
      syntax,
      kind,
      messages: [...complaints, ...axioms.corrected(kind, said, found, env)],
      trees: found,
      before,
      after,
    };
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

  return { stateFor, openText, startOfText, parseHeader, run, runTo };
}

/** A text as Lean's parser reads it. */
function inputContext(rt, text, fileName) {
  const end = rt.box(Buffer.byteLength(text));
  const args = [rt.string(text), rt.string(fileName), rt.box(1), end];
  return rt.call('l_Lean_Parser_mkInputContext___redArg', ...args);
}

module.exports = { createFrontend, inputContext, SCOPE };
