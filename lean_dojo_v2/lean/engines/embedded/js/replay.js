'use strict';
/** Where the states in a text are: at its `sorry`s, and around the tactic at a position (`dojo.state_at`). */

const { RequestError } = require('./errors.js');
const { INFO, TACTIC_INFO, TERM_INFO } = require('./infotree.js');

const SORRY_TACTICS = new Set(['Lean.Parser.Tactic.tacticSorry', 'Lean.Parser.Tactic.tacticAdmit']);
const SORRY_TERM = 'Lean.Parser.Term.sorry';
const SEQUENCE = /^Lean\.Parser\.(Tactic\.tacticSeq(1Indented)?|Term\.byTactic)$/;
/** `{ … }`: a tactic where it is a member of a sequence, else what holds the tactics. */
const BRACES = 'Lean.Parser.Tactic.tacticSeqBracketed';

/** @param {object} engine everything main.js put together */
function createReplay(engine) {
  const { rt, trees, drafts } = engine;

  /**
   * The `sorry`s of a command, in order of the text.
   * @param {object} unit the command
   * @param {{sorrys?: boolean, typeErrors?: boolean}} [what] whether these, or also terms that Lean refused
   * @returns {{range: number[], context: number, goal: object}[]}
   */
  function sorries(unit, { sorrys = true, typeErrors = false } = {}) {
    const found = new Map();
    const add = (range, context, goal) => {
      if (range !== null && !found.has(range[0])) found.set(range[0], { range, context, goal });
    };
    trees.walk(unit.trees, (info, context, parents) => {
      const range = () => trees.syntaxRange(trees.syntaxOf(info));
      if (sorrys && isSorryTactic(info)) {
        const goals = rt.field(rt.field(info, 0), TACTIC_INFO.goalsBefore);
        if (!rt.isScalar(goals)) add(range(), context, { mvar: rt.field(goals, 0), fresh: true });
      } else if (
        rt.tag(info) === INFO.term &&
        !parents.some(isSorryTactic) &&
        ((sorrys && trees.kindOf(trees.syntaxOf(info)) === SORRY_TERM) ||
          (typeErrors && isRefused(unit, context, rt.field(info, 0))))
      ) {
        const term = rt.field(info, 0);
        const type = rt.optional(rt.field(term, TERM_INFO.expectedType));
        if (type !== null) add(range(), context, { lctx: rt.field(term, TERM_INFO.lctx), type });
      }
    });
    return [...found.values()].sort((a, b) => a.range[0] - b.range[0]);
  }
  /** Whether a term has not the type that is expected of it: Lean put an error, a `sorry` of its own, in its place. */
  function isRefused(unit, context, term) {
    if (trees.kindOf(rt.field(rt.field(term, 0), 1)) === SORRY_TERM) return false;
    const expected = rt.optional(rt.field(term, TERM_INFO.expectedType));
    if (expected === null) return false;
    return !drafts.hasType(unit, context, rt.field(term, TERM_INFO.lctx), {
      e: rt.field(term, TERM_INFO.expr),
      type: expected,
    });
  }
  const isSorryTactic = (info) =>
    rt.tag(info) === INFO.tactic && SORRY_TACTICS.has(trees.kindOf(trees.syntaxOf(info)));

  /** A term that Lean refused holds others that it refused too. */
  const outermost = (found) =>
    found.filter(
      ({ range }) =>
        !found.some((other) => other.range !== range && other.range[0] <= range[0] && range[1] <= other.range[1]),
    );
  /** One state with a goal for each `sorry`, or null without any. */
  function openSorries(unit, what) {
    const found = outermost(sorries(unit, what));
    if (found.length === 0) return null;
    const { context } = found[found.length - 1];
    const goals = found.map(({ goal }) => goal);
    return {
      stateId: drafts.openState(unit, context, trees.contextPart(context, 'mctx'), goals),
      ranges: found.map(({ range }) => range),
    };
  }

  /** The innermost tactic that begins exactly at a byte, or else the smallest that holds it. */
  function tacticAt(unit, offset) {
    let best = null;
    trees.walk(unit.trees, (info, context, parents) => {
      if (rt.tag(info) !== INFO.tactic) return;
      const kind = trees.kindOf(trees.syntaxOf(info));
      const range = trees.syntaxRange(trees.syntaxOf(info));
      if (range === null || kind === '' || kind === 'null' || SEQUENCE.test(kind)) return;
      if (kind === BRACES && !trees.isMember(parents)) return;
      if (offset < range[0] || offset >= range[1]) return;
      const size = range[0] === offset ? 0 : range[1] - range[0];
      if (best === null || size < best.size) best = { info, context, range, kind, size };
    });
    return best;
  }

  /**
   * `dojo.state_at` {file, position (bytes), stateBefore?: true, prefix?, clean?}; for `prefix` see warm.js. With
   * `clean`, an error before the position is an error: Lean goes on after it, with other goals.
   */
  function stateAt(request) {
    const { position, stateBefore = true, clean = false } = request;
    return rt.scope(() => {
      const session = engine.warm.open(request);
      const offset = session.text.fromFile(position);
      let answer = null;
      engine.frontend.run(session, (unit) => {
        if (unit.end <= offset) return false;
        if (clean) refuseErrors(unit, session.text.position(offset));
        const found = tacticAt(unit, offset);
        if (found !== null) answer = open(unit, found, session.text, stateBefore);
        return true;
      });
      if (answer === null) throw new RequestError('index', `no tactic at byte ${position}`);
      return answer;
    });
  }
  function refuseErrors(unit, [line, column]) {
    const before = ({ pos }) => pos.line < line || (pos.line === line && pos.column + 1 < column);
    const error = unit.messages.find((m) => m.severity === 'error' && before(m));
    if (error !== undefined)
      throw new RequestError('elab', `there is an error before it: ${error.data}`);
  }
  function open(unit, { info, context, range, kind }, text, stateBefore) {
    const details = rt.field(info, 0);
    const [mctx, goals] = stateBefore
      ? [TACTIC_INFO.mctxBefore, TACTIC_INFO.goalsBefore]
      : [TACTIC_INFO.mctxAfter, TACTIC_INFO.goalsAfter];
    const mvars = rt.listItems(rt.field(details, goals)).map((mvar) => ({ mvar }));
    const stateId = drafts.openState(unit, context, rt.field(details, mctx), mvars);
    return {
      stateId,
      tactic: text.slice(...range),
      kind,
      ...text.range(...range),
      ...engine.states.shown(stateId),
    };
  }

  return { openSorries, commands: { 'dojo.state_at': stateAt } };
}

module.exports = { createReplay };
