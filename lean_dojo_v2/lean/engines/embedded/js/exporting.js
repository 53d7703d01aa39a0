'use strict';
/**
 * What theorems rest on beyond the library, as plain data: for a process that judges them without having seen their text.
 * The format is in docs/engines.md#protocol; imported.js reads it.
 */

const { EXPR, LEVEL, binderInfo, literal } = require('./expressions.js');

const FORMAT = 1;
const NAME_STRING = 1;
const STRING_LITERAL = 1;
/** `ReducibilityHints`: opaque, abbrev, regular; the last has a height. */
const HINTS = ['opaque', 'abbrev'];
const DEFINITION_INFO = { hints: 2 };

/** A constant mentions what a finished one can't: it is left out, and the judge finds it missing. */
class Unfinished extends Error {}

/** @param {object} engine everything main.js has put together by then */
function createExporter({ rt, constants, kernel }) {
  /**
   * @param {{library: number, env: number}} text see kernel.js
   * @param {Map<string, number>} theorems what they are called in the answer → their names
   * @returns {object} the export
   */
  function exported({ library, env }, theorems) {
    const tables = createTables();
    const isOwn = constants.isBeyond(library);
    const declarations = [];
    const done = new Set();

    function add(name) {
      const key = constants.exactName(name);
      if (done.has(key) || !isOwn(name)) return;
      done.add(key);
      const info = constants.find(env, name);
      if (info === null || constants.isUnsafe(info)) return;
      kernel.planOf(env, name, info).uses.forEach(add);
      try {
        const row = rowOf(name, info);
        if (row !== null) declarations.push(row);
      } catch (error) {
        if (!(error instanceof Unfinished)) throw error;
      }
    }

    function rowOf(name, info) {
      const kind = constants.kind(info);
      const levels = constants.levelParams(info).map(tables.name);
      const start = () => [kind, tables.name(name), levels, tables.expr(constants.type(info))];
      switch (kind) {
        case 'constructor':
        case 'recursor':
          return null;
        case 'quot':
          return [kind];
        case 'inductive':
          return inductiveRow(name, info, levels);
        case 'axiom':
          return start();
        case 'def':
          return [...start(), tables.expr(constants.value(info)), hints(info)];
        default:
          return [...start(), tables.expr(constants.value(info))];
      }
    }
    /** A mutual group of inductive types stands with the first of them. */
    function inductiveRow(name, info, levels) {
      const group = kernel.groupOf(env, info);
      if (group.length === 0 || constants.exactName(group[0].name) !== constants.exactName(name))
        return null;
      const typed = (one) => [tables.name(one.name), tables.expr(constants.type(one.info))];
      const types = group.map((one) => [...typed(one), one.constructors.map(typed)]);
      return ['inductive', levels, kernel.parametersOf(info), types];
    }

    for (const name of theorems.values()) add(name);
    return {
      format: FORMAT,
      imports: constants.imports(library),
      ...tables.content(),
      declarations,
      theorems: Object.fromEntries([...theorems].map(([word, name]) => [word, tables.name(name)])),
    };
  }

  function hints(info) {
    const value = rt.field(constants.details(info), DEFINITION_INFO.hints);
    if (rt.isScalar(value)) return HINTS[rt.unbox(value)];
    return [0, 1, 2, 3].reduce((sum, i) => sum + rt.scalarByte(value, i) * 256 ** i, 0);
  }

  /** Names, levels and expressions, each once. */
  function createTables() {
    const [names, levels, exprs] = [table(1), table(1), table(0)];
    function name(o) {
      if (rt.isScalar(o)) return 0;
      const known = names.known.get(o);
      if (known !== undefined) return known;
      const part = rt.field(o, 1);
      const isText = rt.tag(o) === NAME_STRING;
      return names.enter(o, [name(rt.field(o, 0)), isText ? rt.text(part) : small(part)]);
    }
    function level(o) {
      const part = (i) => level(rt.field(o, i));
      switch (rt.tag(o)) {
        case LEVEL.zero:
          return 0;
        case LEVEL.succ:
          return levels.enter(o, ['succ', part(0)]);
        case LEVEL.max:
        case LEVEL.imax:
          return levels.enter(o, [rt.tag(o) === LEVEL.max ? 'max' : 'imax', part(0), part(1)]);
        case LEVEL.param:
          return levels.enter(o, ['param', name(rt.field(o, 0))]);
        default:
          throw new Unfinished();
      }
    }
    function expr(e) {
      const known = exprs.known.get(e);
      if (known !== undefined) return known;
      if (rt.tag(e) === EXPR.mdata) {
        const inner = expr(rt.field(e, 1));
        exprs.known.set(e, inner);
        return inner;
      }
      const write = forms[rt.tag(e)];
      if (write === undefined) throw new Unfinished();
      return exprs.enter(e, write(e));
    }
    const part = (e, i) => expr(rt.field(e, i));
    const label = (e) => name(rt.field(e, 0));
    const forms = {
      [EXPR.bvar]: (e) => ['bvar', small(rt.field(e, 0))],
      [EXPR.sort]: (e) => ['sort', level(rt.field(e, 0))],
      [EXPR.const]: (e) => ['const', label(e), rt.listItems(rt.field(e, 1)).map(level)],
      [EXPR.app]: (e) => ['app', part(e, 0), part(e, 1)],
      [EXPR.lam]: (e) => ['lam', label(e), part(e, 1), part(e, 2), binderInfo(rt, e)],
      [EXPR.forallE]: (e) => ['pi', label(e), part(e, 1), part(e, 2), binderInfo(rt, e)],
      [EXPR.letE]: (e) =>
        ['let', label(e), part(e, 1), part(e, 2), part(e, 3), binderInfo(rt, e) === 1],
      [EXPR.lit]: (e) =>
        rt.tag(rt.field(e, 0)) === STRING_LITERAL
          ? ['str', rt.text(rt.field(rt.field(e, 0), 0))]
          : ['nat', literal(rt, e)],
      [EXPR.proj]: (e) => ['proj', label(e), small(rt.field(e, 1)), part(e, 2)],
    };
    const content = () => ({ names: names.rows, levels: levels.rows, exprs: exprs.rows });
    return { name, level, expr, content };
  }
  function small(natural) {
    const number = rt.isScalar(natural)
      ? rt.unbox(natural)
      : Number(rt.text(rt.call('l_Nat_reprFast', natural)));
    if (!Number.isSafeInteger(number)) throw new Unfinished();
    return number;
  }

  return { exported };
}

/** Rows by what they say; objects that are known need not be looked into again. */
function table(first) {
  const [rows, byText, known] = [[], new Map(), new Map()];
  function enter(object, row) {
    const text = JSON.stringify(row);
    if (!byText.has(text)) {
      byText.set(text, rows.length + first);
      rows.push(row);
    }
    known.set(object, byText.get(text));
    return byText.get(text);
  }
  return { rows, known, enter };
}

module.exports = { createExporter, FORMAT };
