'use strict';
/**
 * Whether this process has run a program of a text. It tells so with every answer, and whoever uses it gives nobody
 * else's text to it then: a program may change tables of the whole process, or its memory as it likes.
 *
 * interpreter.js says how a program leaves a mark. What tactics evaluate of their settings (`simp +arith`,
 * `omega (config := {splitNatSub := false})`, and such settings in the library's own macros) is no program: a constant
 * is interpreted, but nothing is called, and what was written is data alone.
 */

const crypto = require('node:crypto');
const { COMMAND_STATE } = require('./contexts.js');
const { SYNTAX } = require('./infotree.js');
const { MARKS } = require('./interpreter.js');

const BYTES_OF_WORD = 4;
const DECLARATION = 'Lean.Parser.Command.declaration';
const ATTRIBUTE = 'Lean.Parser.Term.attrInstance';
const SETTING = new Set(['Lean.Parser.Tactic.valConfigItem', 'Lean.Parser.Tactic.config']);
/** What the value of a setting may be made of. */
const DATA = new Set([
  'null',
  'num',
  'str',
  'Lean.Parser.Tactic.valConfigItem',
  'Lean.Parser.Tactic.config',
  'Lean.Parser.Term.structInst',
  'Lean.Parser.Term.structInstFields',
  'Lean.Parser.Term.structInstField',
  'Lean.Parser.Term.structInstFieldDef',
  'Lean.Parser.Term.structInstLVal',
  'Lean.Parser.Term.optEllipsis',
  'Lean.Parser.Term.dotIdent',
]);
/** Where an identifier names a field or a constructor of the setting's own type. */
const NAMES = new Set(['Lean.Parser.Term.structInstLVal', 'Lean.Parser.Term.dotIdent', ...SETTING]);
const TRUTH = new Set(['true', 'false']);
/** Attributes that evaluate nothing of what they are given to. */
const PLAIN_ATTRIBUTES = new Set(['Lean.Parser.Attr.simp', 'Lean.Parser.Attr.grind', 'Lean.Parser.Attr.ext']);
const PLAIN_WORDS = new Set(['simp', 'ext', 'inline', 'reducible', 'irreducible', 'grind', 'refl', 'symm']);

/** @param {object} engine everything main.js has put together by then */
function createTaint({ rt, constants, trees }) {
  let tainted = false;
  const secrets = {};
  const word = (mark) => MARKS[mark] / BYTES_OF_WORD;
  const memory = () => new Int32Array(rt.module.wasmMemory_().buffer, 0, 256);
  function arm(mark) {
    secrets[mark] = crypto.randomInt(1, 2 ** 31 - 1);
    memory()[word(mark)] = secrets[mark];
  }
  Object.keys(MARKS).forEach(arm);
  const isIntact = (mark) => memory()[word(mark)] === secrets[mark];

  /**
   * Takes note of what ran since the last time.
   * @param {() => boolean} isData whether it was nothing but settings, in case that nothing was called
   */
  function settle(isData = () => false) {
    if (tainted || (isIntact('called') && isIntact('evaluated'))) return;
    if (isIntact('called') && isData()) arm('evaluated');
    else tainted = true;
  }

  /**
   * Whether a command can have evaluated nothing but settings. Its own syntax tells, for no macro of a text has run.
   * @param {{syntax: number, kind: string, after: number}} unit
   * @param {number} below the environment that its text began in
   */
  const isDataOfCommand = ({ syntax, kind, after }, below) =>
    kind === DECLARATION && isDataOf(syntax, below, rt.field(after, COMMAND_STATE.env));

  /**
   * The same of a piece of syntax, in an environment that goes on from another one. What Lean's code looks up by its
   * name must be Lean's: a text that does not import it could have a type of that name with other fields.
   */
  function isDataOf(syntax, below, env) {
    const pretends = ([name]) => rt.nameText(root(name)) === 'Lean';
    return isPlain(syntax) && !constants.added(below, env).some(pretends);
  }
  function root(name) {
    const prefix = rt.isScalar(name) ? name : rt.field(name, 0);
    return rt.isScalar(prefix) ? name : root(prefix);
  }

  function isPlain(syntax, inSetting = false, parent = '') {
    if (rt.isScalar(syntax) || rt.tag(syntax) === SYNTAX.atom) return true;
    if (rt.tag(syntax) === SYNTAX.ident)
      return !inSetting || NAMES.has(parent) || TRUTH.has(rt.nameText(rt.field(syntax, 2)));
    const kind = trees.kindOf(syntax);
    const within = inSetting || SETTING.has(kind);
    if (within && !DATA.has(kind)) return false;
    const parts = rt.arrayItems(rt.field(syntax, 2));
    if (kind === ATTRIBUTE && !isPlainAttribute(parts.at(-1))) return false;
    return parts.every((part) => isPlain(part, within, kind === 'null' ? parent : kind));
  }
  function isPlainAttribute(syntax) {
    if (trees.kindOf(syntax) !== 'Lean.Parser.Attr.simple') return PLAIN_ATTRIBUTES.has(trees.kindOf(syntax));
    const word = rt.arrayItems(rt.field(syntax, 2))[0];
    return rt.tag(word) === SYNTAX.ident && PLAIN_WORDS.has(rt.nameText(rt.field(word, 2)));
  }

  return {
    settle,
    /** Whether the settings in a piece of syntax are data, and its attributes evaluate nothing. */
    isPlain: (syntax) => isPlain(syntax),
    isDataOfCommand,
    isDataOf,
    /** Something that may change the process, though it is not interpreted, was let in. */
    note: () => void (tainted = true),
    is() {
      settle();
      return tainted;
    },
  };
}

module.exports = { createTaint };
