'use strict';
/**
 * The tactic sequences of a text, read off its syntax tree as it was parsed, before any macro.
 *
 * A *member* is a tactic of such a sequence. A member may run several times (`all_goals`, an alternative of `first`):
 * what counts is the first run that changed the goals, or else the first one.
 */

const { INFO, SYNTAX, TACTIC_INFO } = require('./infotree.js');

const INDENTED = 'Lean.Parser.Tactic.tacticSeq1Indented';
const BRACKETED = 'Lean.Parser.Tactic.tacticSeqBracketed';
/** What holds tactics, and has the range of its only one where it holds one. */
const HOLDERS = new Set(['', 'null', 'Lean.Parser.Term.byTactic', 'Lean.Parser.Tactic.tacticSeq', INDENTED]);

/** @param {object} engine everything main.js has put together by then */
function createSequences({ rt, trees }) {
  const children = (syntax) => rt.arrayItems(rt.field(syntax, 2));

  /**
   * @param {import('./frontend.js').Unit} unit
   * @returns {number[][][]} for each sequence the byte ranges of its members; outer ones first, in the order of the text
   */
  function of(unit) {
    const found = [];
    const pending = [unit.syntax];
    while (pending.length > 0) {
      const node = pending.pop();
      if (rt.isScalar(node) || rt.tag(node) !== SYNTAX.node) continue;
      const kind = trees.kindOf(node);
      const parts = children(node);
      if (kind === INDENTED) add(found, parts[0]);
      else if (kind === BRACKETED) add(found, parts[1]);
      pending.push(...parts.reverse());
    }
    return found.length > 0 ? found : takenAsTheyAre(unit);
  }
  /** Tactics that a command of the project's own takes as they are: `mkthm foo decide`, each a sequence of itself. */
  function takenAsTheyAre(unit) {
    const found = new Map();
    trees.walk(unit.trees, (info, _, parents) => {
      if (rt.tag(info) !== INFO.tactic || HOLDERS.has(trees.kindOf(trees.syntaxOf(info)))) return;
      const range = trees.syntaxRange(trees.syntaxOf(info));
      if (range !== null && trees.isMember(parents)) found.set(key(range), [range]);
    });
    return [...found.values()];
  }
  /** Members stand at the even places of a list, separators at the odd ones. */
  function add(found, list) {
    const members = children(list)
      .filter((_, i) => i % 2 === 0)
      .map((member) => trees.syntaxRange(member))
      .filter((range) => range !== null);
    if (members.length > 0) found.push(members);
  }

  const key = ([start, end]) => `${start} ${end}`;

  /**
   * The run of each member that counts.
   * @returns {Map<string, {info: number, context: number, parents: number[], changed: boolean}>} by `key`; in the order
   *   of the information trees. Members that never ran are not there
   */
  function runs(unit, sequences) {
    const members = new Set(sequences.flat().map(key));
    const found = new Map();
    trees.walk(unit.trees, (info, context, parents) => {
      if (rt.tag(info) !== INFO.tactic || HOLDERS.has(trees.kindOf(trees.syntaxOf(info)))) return;
      const range = trees.syntaxRange(trees.syntaxOf(info));
      if (range === null || !members.has(key(range))) return;
      const known = found.get(key(range));
      if (known?.changed) return;
      const changed = changes(rt.field(info, 0));
      if (known === undefined || changed)
        found.set(key(range), { info, context, parents: [...parents], changed });
    });
    return found;
  }
  function changes(details) {
    const names = (goals) => rt.listItems(rt.field(details, goals)).map((mvar) => rt.nameText(mvar));
    const [before, after] = [names(TACTIC_INFO.goalsBefore), names(TACTIC_INFO.goalsAfter)];
    return before.length !== after.length || before.some((name, i) => name !== after[i]);
  }

  /**
   * The sequence that has a member at a range, from that member on.
   * @returns {{members: number[][], first: number}|null} its members from there on, and where its first one begins
   */
  function from(sequences, [start, end]) {
    for (const members of sequences) {
      const index = members.findIndex((member) => member[0] === start && member[1] === end);
      if (index >= 0) return { members: members.slice(index), first: members[0][0] };
    }
    return null;
  }
  /** The outermost sequences inside a range. */
  function inside(sequences, [start, end]) {
    const found = [];
    let last = start;
    const nested = sequences.filter(
      (members) =>
        members[0][0] >= start && members.at(-1)[1] <= end && !(members[0][0] === start && members[0][1] === end),
    );
    nested.sort((a, b) => a[0][0] - b[0][0] || b.at(-1)[1] - a.at(-1)[1]);
    for (const members of nested) {
      if (members[0][0] < last) continue;
      found.push(members);
      last = members.at(-1)[1];
    }
    return found;
  }
  /** The outermost member that begins at a byte, or null. */
  const memberAt = (sequences, offset) =>
    sequences
      .flat()
      .filter(([start]) => start === offset)
      .sort((a, b) => b[1] - a[1])
      .at(0) ?? null;

  return { of, runs, from, inside, memberAt, key };
}

module.exports = { createSequences };
