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

  /** The member of a sequence that begins exactly at a byte, or else the smallest tactic that holds it. */
  function tacticAt(unit, offset) {
    const sequences = engine.sequences.of(unit);
    const member = engine.sequences.memberAt(sequences, offset);
    const run = member && engine.sequences.runs(unit, [[member]]).get(engine.sequences.key(member));
    if (run) {
      const { info, context } = run;
      const kind = trees.kindOf(trees.syntaxOf(info));
      return { info, context, range: member, kind, sequences };
    }
    let best = null;
    trees.walk(unit.trees, (info, context, parents) => {
      if (rt.tag(info) !== INFO.tactic) return;
      const kind = trees.kindOf(trees.syntaxOf(info));
      const range = trees.syntaxRange(trees.syntaxOf(info));
      if (range === null || kind === '' || kind === 'null' || SEQUENCE.test(kind)) return;
      if (kind === BRACES && !trees.isMember(parents)) return;
      if (offset < range[0] || offset >= range[1]) return;
      const size = range[0] === offset ? 0 : range[1] - range[0];
      if (best === null || size < best.size) best = { info, context, range, kind, sequences, size };
    });
    return best;
  }

  /**
   * `dojo.state_at` {file, position (bytes), stateBefore?: true, prefix?, clean?, recursion?}; for `prefix` see warm.js.
   * With `clean`, an error before the position is an error: Lean goes on after it, with other goals. For `recursion`
   * see drafts.js.
   */
  function stateAt(request) {
    const { position, stateBefore = true, clean = false, recursion = false } = request;
    return rt.scope(() => {
      const session = engine.warm.open(request);
      const offset = session.text.fromFile(position);
      let answer = null;
      engine.frontend.run(session, (unit) => {
        if (unit.end <= offset) return false;
        if (clean) refuseErrors(unit, session.text.position(offset));
        const found = tacticAt(unit, offset);
        if (found !== null) answer = open(unit, found, session.text, { stateBefore, recursion });
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
  function open(unit, { info, context, range, kind, sequences }, text, { stateBefore, recursion }) {
    const details = rt.field(info, 0);
    const [mctx, goals] = stateBefore
      ? [TACTIC_INFO.mctxBefore, TACTIC_INFO.goalsBefore]
      : [TACTIC_INFO.mctxAfter, TACTIC_INFO.goalsAfter];
    const mvars = rt.listItems(rt.field(details, goals)).map((mvar) => ({ mvar }));
    const stateId = drafts.openState(unit, context, rt.field(details, mctx), mvars, recursion);
    return {
      stateId,
      tactic: text.slice(...range),
      kind,
      ...text.range(...range),
      ...around(unit, sequences, range, text),
      after: digests(details, TACTIC_INFO.mctxAfter, TACTIC_INFO.goalsAfter),
      ...engine.states.shown(stateId),
    };
  }

  /**
   * The sequence that a tactic stands in, by the syntax tree: `members`, byte ranges of its tactics from this one on;
   * `column`, from 0, where a further one has to begin on a line of its own; `blocks`, the outermost sequences inside
   * the tactic, each with its `members` and the digest of the `goal` that it begins at (null where it never ran).
   */
  function around(unit, sequences, range, text) {
    const { members, first } = engine.sequences.from(sequences, range) ?? { members: [range], first: range[0] };
    const inner = engine.sequences.inside(sequences, range);
    const runs = engine.sequences.runs(
      unit,
      inner.map((block) => [block[0]]),
    );
    const inFile = (list) => list.map((member) => text.range(...member).bytes);
    return {
      members: inFile(members),
      column: text.position(first)[1] - 1,
      blocks: inner.map((block) => ({
        members: inFile(block),
        goal: firstGoal(runs.get(engine.sequences.key(block[0]))),
      })),
    };
  }
  function firstGoal(run) {
    if (run === undefined) return null;
    const found = digests(rt.field(run.info, 0), TACTIC_INFO.mctxBefore, TACTIC_INFO.goalsBefore);
    return found[0] ?? null;
  }
  const digests = (details, mctx, goals) =>
    rt
      .listItems(rt.field(details, goals))
      .map((mvar) => engine.digests.ofGoal(rt.field(details, mctx), mvar));

  return { openSorries, commands: { 'dojo.state_at': stateAt } };
}

module.exports = { createReplay };
