'use strict';
/** `dojo.trace`: everything about a file that tracing needs, out of one elaboration. */

const { COMMAND_STATE } = require('./contexts.js');
const { INFO, TACTIC_INFO, TERM_INFO } = require('./infotree.js');
const { EXPR } = require('./expressions.js');

const FIELD_INFO = 7;
/** Syntax of `TacticInfo`s that is no tactic; '' is that of atoms. */
const NO_TACTIC = new Set(['', 'null', 'Lean.Parser.Term.byTactic']);

/** @param {object} engine everything main.js put together */
function traceCommands(engine) {
  const { rt, trees, mvars, pretty, constants, declarations, drafts, compiled, frontend } = engine;
  const { sequences } = engine;

  function trace(request) {
    return rt.scope(() => {
      const session = engine.files.open(request);
      const result = {
        imports: session.imports,
        module: session.module,
        messages: [...session.messages],
        declarations: [],
        tactics: [],
        references: [],
        commands: [],
        info_trees: [],
        made: [],
      };
      const names = new Map();
      const kept = [];
      const visit = (unit) => {
        if (request.ilean === true) kept.push(...unit.trees.map((tree) => rt.keep(tree)));
        result.commands.push({ kind: unit.kind, ...session.text.range(unit.start, unit.end) });
        result.messages.push(...unit.messages);
        if (request.infoTrees === true) result.info_trees.push(...unit.trees.map(infoTreeText));
        const declared = describeDeclarations(unit, session.text);
        result.declarations.push(...declared);
        if (declared.length === 0) result.made.push(...theoremsMade(unit));
        const env = rt.field(unit.after, COMMAND_STATE.env);
        collect(unit, session.text, result, request.sequenceOnly === true);
        resolve(env, session, names, result.references);
      };
      elaborate(request, session, visit, result);
      result.references = result.references.filter(
        (reference, i, all) => i === 0 || differs(reference, all[i - 1]),
      );
      if (request.ilean === true) result.ilean = ilean(session, kept);
      kept.forEach(rt.drop);
      return result;
    });
  }

  /** Compiles a module of the project: what others import. */
  function compile(request) {
    return rt.scope(() => {
      const result = {};
      elaborate({ ...request, olean: true }, engine.files.open(request), () => {}, result);
      return result;
    });
  }

  /** Elaborates all; with `olean`, the module itself is a part of the answer, where all that it imports was compiled. */
  function elaborate(request, session, visit, result) {
    const end = frontend.run(session, visit);
    if (request.olean !== true || !session.isImported) return;
    const bytes = compiled.write(session.module, rt.field(end, COMMAND_STATE.env));
    if (bytes !== null) result.olean = bytes.toString('base64');
  }

  /** What `trace.Elab.info` prints: an information tree as Lean formats it, indented as in a trace. */
  function infoTreeText(tree) {
    const format = rt.io('l_Lean_Elab_InfoTree_format', tree, rt.none);
    const [width, indent, column] = [rt.box(120), rt.box(2), rt.box(2)];
    return `[Elab.info] \n  ${rt.text(rt.call('l_Std_Format_pretty', format, width, indent, column))}`;
  }

  /** What `lean -i` would write: Lean's own collection of all references, as the text of an .ilean file. */
  function ilean(session, infoTrees) {
    const [localVariables, binderUses, version, directImports] = [rt.NO, rt.NO, rt.box(5), rt.array([])];
    const args = [session.source.fileMap, rt.array(infoTrees), localVariables, binderUses];
    const references = rt.call('l_Lean_Server_findModuleRefs', ...args);
    const lsp = rt.call('l_Lean_Server_ModuleRefs_toLspModuleRefs', references);
    const parts = [version, rt.name(session.module), directImports, rt.field(lsp, 0), rt.field(lsp, 1)];
    const json = rt.call('l_Lean_Server_instToJsonIlean_toJson', rt.constructor(0, parts));
    return rt.text(rt.call('l_Lean_Json_compress', json));
  }
  const differs = (a, b) =>
    a.bytes[0] !== b.bytes[0] || a.bytes[1] !== b.bytes[1] || a.full_name !== b.full_name;

  /** The theorems of a command that declares nothing by its own syntax: a macro made them. */
  const theoremsMade = (unit) =>
    constants
      .addedBy(unit)
      .filter(([name, info]) => constants.kind(info) === 'theorem' && !isInternal(name))
      .map(([name]) => rt.nameText(name));
  const isInternal = (name) =>
    rt.holds('l_Lean_Name_isInternalDetail', rt.name(constants.userName(name)));

  function describeDeclarations(unit, text) {
    const found = declarations.ofUnit(unit);
    if (found.length === 0) return [];
    const after = rt.field(unit.after, COMMAND_STATE.env);
    const added = constants.addedBy(unit);
    return found.map((declaration) => {
      const { kind, name, range, statement, mutual } = declaration;
      const info = name === null ? null : constants.find(after, name);
      return {
        kind,
        full_name: name === null || kind === 'example' ? null : constants.userName(name),
        lean_name: name === null ? null : rt.nameText(name),
        is_private: name !== null && constants.isPrivate(name),
        mutual,
        ...text.range(...range),
        statement: text.range(...statement),
        elaborated: info !== null,
        ...(info === null
          ? { has_sorry: mentionsSorry(unit), uses: [] }
          : declarations.dependencies(after, name, added)),
        is_prop: info !== null && constants.kind(info) === 'theorem',
      };
    });
  }
  /** For what leaves no constant behind (examples, failures), Lean's own warning is all there is. */
  const mentionsSorry = (unit) => unit.messages.some((message) => message.kind === 'hasSorry');

  function collect(unit, text, result, sequenceOnly) {
    const printed = new Map();
    const runs = sequences.runs(unit, sequences.of(unit));
    const seen = new Set([...runs.values()].map(({ info }) => info));
    const add = (info, context, parents) =>
      addTactic({ info, context, parents }, seen.has(info), text, printed, result.tactics);
    if (sequenceOnly) runs.forEach(({ info, context, parents }) => add(info, context, parents));
    trees.walk(unit.trees, (info, context, parents) => {
      const tag = rt.tag(info);
      if (tag === INFO.tactic) {
        if (!sequenceOnly && !holdsTactics(info, seen)) add(info, context, parents);
      } else if (tag === INFO.term) addReference(info, text, result.references);
      else if (tag === FIELD_INFO) addField(info, text, result.references);
    });
  }
  /** `{ … }` is a tactic where it is a member of a sequence; else sequences are what holds the tactics. */
  function holdsTactics(info, seen) {
    const syntax = trees.syntaxOf(info);
    return (trees.isSequence(syntax) || NO_TACTIC.has(trees.kindOf(syntax))) && !seen.has(info);
  }

  /** Printing goals is what costs time: with `sequenceOnly` each member of a tactic sequence is printed once. */
  function addTactic({ info, context, parents }, inSequence, text, printed, tactics) {
    const syntax = trees.syntaxOf(info);
    const range = trees.syntaxRange(syntax);
    if (range === null) return;
    const parent = parents.findLast((node) => rt.tag(node) === INFO.tactic);
    const details = rt.field(info, 0);
    const goals = (mctx, list) =>
      print(context, rt.field(details, mctx), rt.field(details, list), printed);
    const declaration = trees.parentDeclaration(context);
    tactics.push({
      tactic: text.slice(...range),
      kind: trees.kindOf(syntax),
      parent_kind: parent === undefined ? null : trees.kindOf(trees.syntaxOf(parent)),
      in_sequence: inSequence,
      ...text.range(...range),
      state_before: goals(TACTIC_INFO.mctxBefore, TACTIC_INFO.goalsBefore),
      state_after: goals(TACTIC_INFO.mctxAfter, TACTIC_INFO.goalsAfter),
      digest: firstDigest(details, printed),
      declaration: declaration === null ? null : constants.userName(declaration),
    });
  }
  /** The digest of the first goal before a tactic, as `dojo.digest` gives it; null without one. */
  function firstDigest(details, printed) {
    const [mvar] = rt.listItems(rt.field(details, TACTIC_INFO.goalsBefore));
    if (mvar === undefined) return null;
    const mctx = rt.field(details, TACTIC_INFO.mctxBefore);
    const decl = mvars.declaration(mctx, mvar);
    const key = isSettled(decl, printed) ? `digest ${decl}` : `digest ${decl} ${mctx}`;
    return remember(printed, key, () => engine.digests.ofGoal(mctx, mvar));
  }

  /**
   * Goals as text. Printing is what tracing spends its time on, and the same goals appear at many nodes: a goal without
   * metavariables reads the same wherever it appears, any other wherever the metavariables are the same.
   */
  function print(context, mctx, goals, printed) {
    const mvars = rt.listItems(goals);
    if (mvars.length === 0) return pretty.stateText(null, []);
    return mvars.map((mvar) => printGoal(context, mctx, mvar, printed)).join('\n\n');
  }
  function printGoal(context, mctx, mvar, printed) {
    const decl = mvars.declaration(mctx, mvar);
    const key = isSettled(decl, printed) ? `goal ${decl}` : `goal ${decl} ${mctx}`;
    return remember(printed, key, () => pretty.goalText(drafts.printContext(context, mctx), mvar));
  }
  const isSettled = (decl, printed) =>
    remember(printed, `settled ${decl}`, () => drafts.isSettled(decl));
  function remember(memory, key, compute) {
    if (!memory.has(key)) memory.set(key, compute());
    return memory.get(key);
  }

  function addReference(info, text, references) {
    const e = rt.field(rt.field(info, 0), TERM_INFO.expr);
    if (rt.tag(e) !== EXPR.const) return;
    const range = trees.syntaxRange(trees.syntaxOf(info));
    if (range === null) return;
    const is_binder = trees.isBinder(info);
    references.push({ name: rt.field(e, 0), is_binder, ...text.range(...range) });
  }
  function addField(info, text, references) {
    const field = rt.field(info, 0);
    const range = trees.syntaxRange(rt.field(field, 4));
    if (range !== null)
      references.push({ name: rt.field(field, 0), is_binder: false, ...text.range(...range) });
  }

  /** Replaces the Lean names of new references by what is known of the constants. */
  function resolve(env, session, names, references) {
    for (let i = references.length - 1; i >= 0 && typeof references[i].name === 'number'; i--) {
      const { name, ...rest } = references[i];
      const key = rt.nameText(name);
      if (!names.has(key)) names.set(key, describeConstant(env, session, name));
      references[i] = { ...rest, ...names.get(key) };
    }
  }
  function describeConstant(env, session, name) {
    const range = constants.nameRange(env, name);
    return {
      full_name: constants.userName(name),
      lean_name: rt.nameText(name),
      module: constants.moduleOf(env, name) ?? session.moduleOf(name),
      def_pos: range === null ? null : range.start,
      def_end_pos: range === null ? null : range.end,
    };
  }

  return { 'dojo.trace': trace, 'dojo.compile': compile };
}

module.exports = { traceCommands };
