'use strict';
/** `frontend.process`: elaborates a text and reports on each of its commands. */

const { INFO, TACTIC_INFO } = require('./infotree.js');
const { isError } = require('./messages.js');

const END_OF_INPUT = 'Lean.Parser.Command.eoi';
/** Syntax that only holds tactics together; as in Pantograph, what it holds is listed and it is not. */
const COMBINATORS = new Set([
  '',
  'null',
  'Lean.cdot',
  'Lean.cdotTk',
  'Lean.Parser.Term.byTactic',
  'Lean.Parser.Tactic.tacticSeq',
  'Lean.Parser.Tactic.tacticSeq1Indented',
  'Lean.Parser.Tactic.«tactic_<;>_»',
  'Lean.Parser.Tactic.paren',
]);

/** @param {object} engine everything main.js put together */
function frontendCommands(engine) {
  const { rt, trees, constants, frontend, replay, pretty, mvars, drafts } = engine;
  /** Goals as Pantograph lists them: nothing where there are none. */
  const shown = (context, goals) => goals.map((goal) => pretty.goalText(context, goal)).join('\n');

  function processText(request) {
    const { readHeader = false, inheritEnv = false } = request;
    return rt.scope(() => {
      const session = engine.files.open({
        ...request,
        fileName: request.fileName ?? '<anonymous>',
        header: readHeader,
      });
      const units =
        session.messages.length === 0
          ? []
          : [{ boundary: [0, session.text.toFile(session.bodyStart)], messages: session.messages }];
      const end = frontend.run(session, (unit) => {
        if (unit.kind !== END_OF_INPUT || unit.messages.length > 0)
          units.push(describe(unit, session.text, request));
      });
      if (inheritEnv) engine.setCommandState(end, session.library);
      return { units };
    });
  }

  function describe(unit, text, request) {
    const { sorrys, typeErrorsAsGoals, invocations, newConstants } = request;
    const record = {
      boundary: [text.toFile(unit.start), text.toFile(unit.end)],
      messages: unit.messages,
    };
    if (invocations !== undefined) {
      record.invocations = tacticsOf(unit, text);
      record.nInvocations = record.invocations.length;
    }
    const typeErrors = typeErrorsAsGoals === true && unit.messages.some(isError);
    if (sorrys || typeErrors) Object.assign(record, openGoals(unit, text, { sorrys, typeErrors }));
    if (newConstants)
      record.newConstants = constants.addedBy(unit).map(([name]) => rt.nameText(name));
    return record;
  }

  function openGoals(unit, text, what) {
    const opened = replay.openSorries(unit, what);
    if (opened === null) return {};
    return {
      goalStateId: opened.stateId,
      goals: engine.states.shown(opened.stateId).goals,
      goalSrcBoundaries: opened.ranges.map((range) => range.map((offset) => text.toFile(offset))),
    };
  }

  /** Pantograph's InvokedTactic records. */
  function tacticsOf(unit, text) {
    const found = [];
    trees.walk(unit.trees, (info, context) => {
      if (rt.tag(info) !== INFO.tactic) return;
      const syntax = trees.syntaxOf(info);
      const range = trees.syntaxRange(syntax);
      if (range === null || COMBINATORS.has(trees.kindOf(syntax))) return;
      found.push({
        tactic: text.slice(...range),
        boundary: range.map((offset) => text.toFile(offset)),
        ...states(rt.field(info, 0), context),
      });
    });
    return found;
  }
  function states(details, context) {
    const part = (name) => rt.field(details, TACTIC_INFO[name]);
    const [before, after] = [part('goalsBefore'), part('goalsAfter')].map(rt.listItems);
    const proofs = before.map((mvar) => mvars.instantiate(part('mctxAfter'), mvars.term(mvar)));
    return {
      goalBefore: shown(drafts.printContext(context, part('mctxBefore')), before),
      goalAfter: shown(drafts.printContext(context, part('mctxAfter')), after),
      usedConstants: [...new Set(proofs.flatMap((e) => constants.usedIn(e).map(rt.nameText)))],
    };
  }

  return { 'frontend.process': processText };
}

module.exports = { frontendCommands };
