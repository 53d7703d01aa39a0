'use strict';
/** The declarations of a command: kind, name, and where statement and proof lie, read off its syntax. */

const { EXPR } = require('./expressions.js');
const { INFO, TERM_INFO } = require('./infotree.js');

/** Syntax kinds of `Lean.Parser.Command.*` that we do not call as Lean does. */
const KINDS = { definition: 'def', classInductive: 'class inductive' };
const PREFIX = 'Lean.Parser.Command.';
/** Where a proof or value begins; it may be wrapped in an optional node. */
const VALUE = new Set(
  ['declValSimple', 'declValEqns', 'whereStructInst'].map((kind) => PREFIX + kind),
);

/** @param {object} engine everything main.js has put together by then */
function createDeclarations({ rt, trees, constants }) {
  const children = (syntax) =>
    !rt.isScalar(syntax) && rt.tag(syntax) === 1 ? rt.arrayItems(rt.field(syntax, 2)) : [];

  /** The declaration nodes in a command, those inside `mutual … end` and `open … in …` too. */
  function nodes(syntax, found = [], mutual = false) {
    const kind = trees.kindOf(syntax);
    if (kind === `${PREFIX}declaration`) found.push({ syntax, mutual });
    else if (!kind.startsWith('Lean.Parser.Term.') && !kind.startsWith('Lean.Parser.Tactic.')) {
      for (const child of children(syntax))
        nodes(child, found, mutual || kind === `${PREFIX}mutual`);
    }
    return found;
  }

  const isValue = (syntax) =>
    VALUE.has(trees.kindOf(syntax)) ||
    (trees.kindOf(syntax) === 'null' &&
      children(syntax).some((child) => VALUE.has(trees.kindOf(child))));

  /** The end of the last part before the value: the statement without `:=`, `by`, `|` or `where`. */
  function statementEnd(body, range) {
    const parts = children(body);
    const value = parts.findIndex(isValue);
    if (value < 0) return range[1];
    const ends = parts
      .slice(0, value)
      .map((part) => trees.syntaxRange(part))
      .filter((r) => r !== null);
    return ends.length === 0 ? range[0] : ends[ends.length - 1][1];
  }

  /** Where the name stands (the first token of `declId`), or null. */
  function nameRange(body) {
    for (const part of children(body)) {
      const id = trees.kindOf(part) === 'null' ? children(part)[0] : part;
      if (id !== undefined && trees.kindOf(id) === `${PREFIX}declId`)
        return trees.syntaxRange(children(id)[0]);
    }
    return null;
  }

  /** Names that the command binds: byte offset → name, from its information trees. */
  function boundNames(unit) {
    const names = new Map();
    trees.walk(unit.trees, (info) => {
      if (rt.tag(info) !== INFO.term) return;
      const e = rt.field(rt.field(info, 0), TERM_INFO.expr);
      if (rt.tag(e) !== EXPR.const || !trees.isBinder(info)) return;
      const range = trees.syntaxRange(trees.syntaxOf(info));
      if (range !== null && !names.has(range[0])) names.set(range[0], rt.field(e, 0));
    });
    return names;
  }

  /**
   * @param {import('./frontend.js').Unit} unit
   * @returns {object[]} {kind, name (a Lean name or null), range, statement, mutual}: byte ranges in Lean's text
   */
  function ofUnit(unit) {
    const found = nodes(unit.syntax);
    if (found.length === 0) return [];
    const names = boundNames(unit);
    return found.map(({ syntax, mutual }) => {
      const body = children(syntax)[1];
      const range = trees.syntaxRange(syntax);
      const bodyRange = trees.syntaxRange(body) ?? range;
      const id = nameRange(body);
      const kind = trees.kindOf(body).slice(PREFIX.length);
      return {
        kind: KINDS[kind] ?? kind,
        name: names.get(id === null ? bodyRange[0] : id[0]) ?? null,
        range,
        statement: [range[0], statementEnd(body, range)],
        mutual,
      };
    });
  }

  /**
   * What a declaration rests on, itself and what the same command added for it: whether `sorry` is there, and the
   * constants (not the library's) that it uses, as Lean names them.
   */
  function dependencies(env, name, added) {
    const own = new Set(added.map(([n]) => rt.nameText(n)));
    own.add(rt.nameText(name));
    const reached = constants.closure(env, [name], (n) => own.has(rt.nameText(n)));
    const uses = [...reached].filter(
      ([key, entry]) => !own.has(key) && !constants.isLibrary(env, entry.name),
    );
    return { has_sorry: reached.has('sorryAx'), uses: uses.map(([key]) => key) };
  }

  return { ofUnit, dependencies };
}

module.exports = { createDeclarations };
