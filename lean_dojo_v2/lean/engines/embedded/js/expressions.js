'use strict';
/** Lean's `Expr` and `Level` trees, read from JavaScript. */

/** Constructor numbers of `Expr` and `Level`. */
const EXPR = {
  bvar: 0,
  fvar: 1,
  mvar: 2,
  sort: 3,
  const: 4,
  app: 5,
  lam: 6,
  forallE: 7,
  letE: 8,
  lit: 9,
  mdata: 10,
  proj: 11,
};
/** The fields of an expression that are expressions. */
const SUBTERMS = {
  [EXPR.app]: [0, 1],
  [EXPR.lam]: [1, 2],
  [EXPR.forallE]: [1, 2],
  [EXPR.letE]: [1, 2, 3],
  [EXPR.mdata]: [1],
  [EXPR.proj]: [2],
};
const LEVEL = { zero: 0, succ: 1, max: 2, imax: 3, param: 4, mvar: 5 };
/** How `sexp` marks the four kinds of binder. */
const BINDER_MARKS = ['', ' :i', ' :si', ' :ii'];
/** Expressions share subterms; written out as trees they may explode. */
const MAX_SEXP = 4_000_000;

/** A universe level in Pantograph's form: `u`, `2`, `(+ u 2)`, `(:max u v)`. */
function levelSexp(rt, level) {
  let offset = 0;
  let base = level;
  while (rt.tag(base) === LEVEL.succ) {
    offset += 1;
    base = rt.field(base, 0);
  }
  const text = baseLevel(rt, base);
  if (offset === 0) return text;
  return rt.tag(base) === LEVEL.zero ? String(offset) : `(+ ${text} ${offset})`;
}
function baseLevel(rt, level) {
  const part = (i) => levelSexp(rt, rt.field(level, i));
  switch (rt.tag(level)) {
    case LEVEL.zero:
      return '0';
    case LEVEL.max:
      return `(:max ${part(0)} ${part(1)})`;
    case LEVEL.imax:
      return `(:imax ${part(0)} ${part(1)})`;
    case LEVEL.param:
      return rt.nameText(rt.field(level, 0));
    default:
      return `(:mv ${rt.nameText(rt.field(level, 0))})`;
  }
}

/** The head of an application, and its arguments in order. */
function application(rt, e) {
  const args = [];
  let head = e;
  for (; rt.tag(head) === EXPR.app; head = rt.field(head, 0)) args.push(rt.field(head, 1));
  return [head, args.reverse()];
}

/** A literal: natural number or string. Numbers beyond 31 bits are big-number objects, which Lean prints itself. */
function literal(rt, e) {
  const lit = rt.field(e, 0);
  const value = rt.field(lit, 0);
  if (rt.tag(lit) === 1) return JSON.stringify(rt.text(value));
  return rt.isScalar(value) ? String(rt.unbox(value)) : rt.text(rt.call('l_Nat_reprFast', value));
}

/** Where a binder's kind lies: after the 8 bytes of cached data. */
const binderInfo = (rt, e) => rt.scalarByte(e, 8);

/**
 * An expression in Pantograph's S-expression form.
 * @returns {string} '(:too-large)' where the text would exceed its bound
 */
function sexp(rt, e) {
  const memo = new Map();
  let size = 0;
  function write(term) {
    const known = memo.get(term);
    const text = known ?? forms[rt.tag(term)](term);
    if (known === undefined) memo.set(term, text);
    size += text.length;
    if (size > MAX_SEXP * 4 || text.length > MAX_SEXP) throw new RangeError('too large');
    return text;
  }
  const part = (e, i) => write(rt.field(e, i));
  const name = (e) => rt.nameText(rt.field(e, 0));
  const number = (e, i) => rt.unbox(rt.field(e, i));
  const binder = (word, e) =>
    `(${word} ${binderName(e)} ${part(e, 1)} ${part(e, 2)}${BINDER_MARKS[binderInfo(rt, e)]})`;
  const forms = {
    [EXPR.bvar]: (e) => String(number(e, 0)),
    [EXPR.fvar]: (e) => `(:fv ${name(e)})`,
    [EXPR.mvar]: (e) => `(:mv ${name(e)})`,
    [EXPR.sort]: (e) => `(:sort ${levelSexp(rt, rt.field(e, 0))})`,
    [EXPR.const]: (e) => `(:c ${name(e)})`,
    [EXPR.app]: (e) => `(${application(rt, e).flat().map(write).join(' ')})`,
    [EXPR.lam]: (e) => binder(':lambda', e),
    [EXPR.forallE]: (e) => binder(':forall', e),
    [EXPR.letE]: (e) => `(:let ${binderName(e)} ${part(e, 1)} ${part(e, 2)} ${part(e, 3)})`,
    [EXPR.lit]: (e) => `(:lit ${literal(rt, e)})`,
    [EXPR.mdata]: (e) => part(e, 1),
    [EXPR.proj]: (e) => `(:proj ${name(e)} ${number(e, 1)} ${part(e, 2)})`,
  };
  const binderName = (term) => rt.nameText(rt.call('lean_erase_macro_scopes', rt.field(term, 0)));
  try {
    return write(e);
  } catch (error) {
    if (error instanceof RangeError) return '(:too-large)';
    throw error;
  }
}

/** Every different subterm of an expression once, itself included. */
function subterms(rt, e, seen = new Set()) {
  const pending = [e];
  while (pending.length > 0) {
    const term = pending.pop();
    if (seen.has(term)) continue;
    seen.add(term);
    for (const i of SUBTERMS[rt.tag(term)] ?? []) pending.push(rt.field(term, i));
  }
  return seen;
}

/** The universe parameters that expressions mention, by name. */
function universeNames(rt, expressions) {
  const names = new Set();
  const ofLevel = (level) => {
    if (rt.tag(level) === LEVEL.param) names.add(rt.nameText(rt.field(level, 0)));
    else if (rt.tag(level) <= LEVEL.imax && !rt.isScalar(level)) {
      for (let i = 0; i < rt.fieldCount(level); i++) ofLevel(rt.field(level, i));
    }
  };
  const seen = new Set();
  for (const e of expressions) subterms(rt, e, seen);
  for (const term of seen) {
    if (rt.tag(term) === EXPR.sort) ofLevel(rt.field(term, 0));
    else if (rt.tag(term) === EXPR.const) rt.listItems(rt.field(term, 1)).forEach(ofLevel);
  }
  return [...names];
}

/**
 * A text that two expressions share exactly if they are the same term up to names of binders and of universes: a table
 * of their different subterms in order of first completion, so its length is that of the shared term, not of the tree.
 * @param {string[]} universes the universe parameters in order; they are written by position
 * @param {(name: number) => string} [nameOf] how constants are written
 */
function canonical(rt, e, universes, nameOf = rt.nameText) {
  const table = new Map();
  const known = new Map();
  const position = new Map(universes.map((name, i) => [name, `u${i}`]));
  const enter = (row) => {
    if (!table.has(row)) table.set(row, table.size);
    return table.get(row);
  };
  const text = (o) => rt.nameText(rt.field(o, 0));
  const part = (l, i) => level(rt.field(l, i));
  const levels = {
    [LEVEL.zero]: () => '0',
    [LEVEL.succ]: (l) => `S(${part(l, 0)})`,
    [LEVEL.max]: (l) => `max(${part(l, 0)},${part(l, 1)})`,
    [LEVEL.imax]: (l) => `imax(${part(l, 0)},${part(l, 1)})`,
    [LEVEL.param]: (l) => position.get(text(l)) ?? `?${text(l)}`,
    [LEVEL.mvar]: (l) => `?${text(l)}`,
  };
  const level = (l) => levels[rt.tag(l)](l);
  const constant = (e) =>
    `const ${nameOf(rt.field(e, 0))} ${rt.listItems(rt.field(e, 1)).map(level).join(' ')}`;
  const rows = {
    [EXPR.bvar]: (e) => `#${rt.unbox(rt.field(e, 0))}`,
    [EXPR.fvar]: (e) => `fvar ${text(e)}`,
    [EXPR.mvar]: (e) => `mvar ${text(e)}`,
    [EXPR.sort]: (e) => `sort ${level(rt.field(e, 0))}`,
    [EXPR.const]: constant,
    [EXPR.app]: (e) => `app ${visit(rt.field(e, 0))} ${visit(rt.field(e, 1))}`,
    [EXPR.lam]: (e) => `lam ${binder(e)}`,
    [EXPR.forallE]: (e) => `all ${binder(e)}`,
    [EXPR.letE]: (e) =>
      `let ${visit(rt.field(e, 1))} ${visit(rt.field(e, 2))} ${visit(rt.field(e, 3))}`,
    [EXPR.lit]: (e) => `lit ${literal(rt, e)}`,
    [EXPR.proj]: (e) => `proj ${text(e)} ${rt.unbox(rt.field(e, 1))} ${visit(rt.field(e, 2))}`,
  };
  const binder = (e) =>
    `${binderInfo(rt, e)} ${visit(rt.field(e, 1))} ${visit(rt.field(e, 2))}`;
  function visit(term) {
    const done = known.get(term);
    if (done !== undefined) return done;
    const isWrapper = rt.tag(term) === EXPR.mdata;
    const id = isWrapper ? visit(rt.field(term, 1)) : enter(rows[rt.tag(term)](term));
    known.set(term, id);
    return id;
  }
  visit(e);
  return [...table.keys()].join(';');
}

module.exports = {
  EXPR,
  LEVEL,
  application,
  binderInfo,
  canonical,
  literal,
  sexp,
  subterms,
  universeNames,
};
