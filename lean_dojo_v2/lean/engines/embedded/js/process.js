'use strict';
/** `frontend.process` and `frontend.distil`: elaborate a text and report on each of its commands. */

const { COMMAND_STATE } = require('./contexts.js');
const { INFO, TACTIC_INFO } = require('./infotree.js');

const END_OF_INPUT = 'Lean.Parser.Command.eoi';
const SEQUENCE = /^Lean\.Parser\.(Tactic\.tacticSeq(1Indented|Bracketed)?|Term\.byTactic)$/;

/** @param {object} engine everything main.js put together */
function frontendCommands(engine) {
  const { rt, trees, constants, replay, pretty, drafts } = engine;

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
      const end = session.runTo((unit) => {
        if (unit.kind !== END_OF_INPUT || unit.messages.length > 0)
          units.push(describe(unit, session.text, request));
      });
      if (inheritEnv) engine.setCommandState(end);
      rt.drop(end);
      return { units };
    });
  }

  function describe(unit, text, { sorrys = false, invocations = false, newConstants = false }) {
    const record = {
      boundary: [text.toFile(unit.start), text.toFile(unit.end)],
      messages: unit.messages,
    };
    if (invocations) {
      record.invocations = tacticsOf(unit, text);
      record.nInvocations = record.invocations.length;
    }
    if (sorrys) Object.assign(record, openGoals(unit, text));
    if (newConstants) {
      const [before, after] = [unit.before, unit.after].map((state) =>
        rt.field(state, COMMAND_STATE.env),
      );
      record.newConstants = constants.added(before, after).map(([name]) => rt.nameText(name));
    }
    return record;
  }

  function openGoals(unit, text) {
    const opened = replay.openSorries(unit);
    if (opened === null) return {};
    return {
      goalStateId: opened.stateId,
      goals: engine.shown(engine.states.get(opened.stateId)).goals,
      goalSrcBoundaries: opened.ranges.map((range) => range.map((offset) => text.toFile(offset))),
    };
  }

  /** Pantograph's InvokedTactic records. */
  function tacticsOf(unit, text) {
    const found = [];
    for (const tree of unit.trees) {
      trees.walk(tree, (info, context) => {
        if (rt.tag(info) !== INFO.tactic) return;
        const syntax = trees.syntaxOf(info);
        const range = trees.syntaxRange(syntax);
        const kind = trees.kindOf(syntax);
        if (range === null || kind === '' || kind === 'null' || SEQUENCE.test(kind)) return;
        found.push({ tactic: text.slice(...range), ...states(rt.field(info, 0), context) });
      });
    }
    return found;
  }
  function states(details, context) {
    const [mctxBefore, mctxAfter] = [TACTIC_INFO.mctxBefore, TACTIC_INFO.mctxAfter].map((i) =>
      rt.field(details, i),
    );
    const [before, after] = [TACTIC_INFO.goalsBefore, TACTIC_INFO.goalsAfter].map((i) =>
      rt.listItems(rt.field(details, i)),
    );
    const proofs = before.map((mvar) =>
      pretty.instantiate(mctxAfter, rt.call('lean_expr_mk_mvar', mvar)),
    );
    return {
      goalBefore: pretty.stateText(drafts.printContext(context, mctxBefore), before),
      goalAfter: pretty.stateText(drafts.printContext(context, mctxAfter), after),
      usedConstants: [...new Set(proofs.flatMap((e) => constants.usedIn(e).map(rt.nameText)))],
    };
  }

  /** One target for each command with a `sorry`, in Pantograph's form. */
  function distil(request) {
    return rt.scope(() => {
      const session = engine.files.open({ ...request, header: false });
      const targets = [];
      session.run((unit) => {
        const opened = replay.openSorries(unit);
        if (opened !== null)
          targets.push({
            stateId: opened.stateId,
            ...engine.shown(engine.states.get(opened.stateId)),
          });
      });
      return { targets };
    });
  }

  return { 'frontend.process': processText, 'frontend.distil': distil };
}

module.exports = { frontendCommands };
