'use strict';
/**
 * Reads an export (exporting.js), which may come from a process that a hostile program runs: every row must have exactly
 * the form of its kind, and mention only rows before it.
 */

const { FORMAT } = require('./exporting.js');
const { RequestError } = require('./errors.js');

const FIELDS = ['format', 'imports', 'names', 'levels', 'exprs', 'declarations', 'theorems'];
const MAX_SMALL = 2 ** 20;
const MAX_HEIGHT = 2 ** 32 - 1;
const MODULE = /^[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*$/;

const refuse = (what) => {
  throw new RequestError('export', `export: ${what}`);
};
const isText = (value) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
const isNatural = (limit) => (value) => Number.isSafeInteger(value) && value >= 0 && value < limit;
const isSmall = isNatural(MAX_SMALL);
const isListOf = (check) => (value) => Array.isArray(value) && value.every(check);

/**
 * Whether an export has the right form.
 * @returns {object} the export itself
 * @throws {RequestError} of kind `export`, which says what is wrong
 */
function checkedExport(data) {
  const given = Object.keys(data);
  if (given.length !== FIELDS.length || !FIELDS.every((name) => given.includes(name)))
    refuse(`it must have the fields ${FIELDS.join(', ')}`);
  if (data.format !== FORMAT) refuse(`its format is ${data.format}, not ${FORMAT}`);
  if (!isListOf((module) => isText(module) && MODULE.test(module))(data.imports))
    refuse('imports must be a list of modules');
  const { names, levels, exprs, declarations, theorems } = data;
  for (const [word, rows] of Object.entries({ names, levels, exprs, declarations }))
    if (!isListOf(Array.isArray)(rows)) refuse(`${word} must be a list of rows`);
  const isName = isNatural(names.length + 1);
  const isLevel = isNatural(levels.length + 1);
  const isExpr = isNatural(exprs.length);
  checkRows('names', names, (row, i) => isRow(row, [isNatural(i + 1), (p) => isText(p) || isNatural(Infinity)(p)]));
  checkRows('levels', levels, (row, i) => {
    const earlier = isNatural(i + 1);
    return isKind(row, { succ: [earlier], max: [earlier, earlier], imax: [earlier, earlier], param: [isName] });
  });
  checkRows('exprs', exprs, (row, i) => isExpression(row, isNatural(i), isName, isLevel));
  checkRows('declarations', declarations, (row) => isDeclaration(row, isName, isExpr));
  if (theorems === null || typeof theorems !== 'object' || Array.isArray(theorems))
    refuse('theorems must be an object');
  if (!Object.values(theorems).every(isName)) refuse('theorems must be names');
  return data;
}

function checkRows(word, rows, isRight) {
  const wrong = rows.findIndex((row, i) => !isRight(row, i));
  if (wrong >= 0) refuse(`${word}: row ${wrong} is ${JSON.stringify(rows[wrong]).slice(0, 80)}`);
}
const isRow = (row, checks) =>
  row.length === checks.length && checks.every((check, i) => check(row[i]));
/** Whether a row begins with one of some words, and goes on as that word demands. */
const isKind = ([kind, ...rest], kinds) =>
  typeof kind === 'string' && Object.hasOwn(kinds, kind) && isRow(rest, kinds[kind]);

function isExpression(row, isEarlier, isName, isLevel) {
  const binder = [isName, isEarlier, isEarlier, isNatural(4)];
  return isKind(row, {
    bvar: [isSmall],
    sort: [isLevel],
    const: [isName, isListOf(isLevel)],
    app: [isEarlier, isEarlier],
    lam: binder,
    pi: binder,
    let: [isName, isEarlier, isEarlier, isEarlier, (value) => typeof value === 'boolean'],
    nat: [(value) => isText(value) && /^(0|[1-9]\d*)$/.test(value)],
    str: [isText],
    proj: [isName, isSmall, isEarlier],
  });
}

function isDeclaration(row, isName, isExpr) {
  const start = [isName, isListOf(isName), isExpr];
  const typed = (value) => Array.isArray(value) && isRow(value, [isName, isExpr]);
  const inductive = (value) => Array.isArray(value) && isRow(value, [isName, isExpr, isListOf(typed)]);
  const isHints = (value) => ['opaque', 'abbrev'].includes(value) || isNatural(MAX_HEIGHT)(value);
  return isKind(row, {
    axiom: start,
    def: [...start, isExpr, isHints],
    theorem: [...start, isExpr],
    opaque: [...start, isExpr],
    inductive: [isListOf(isName), isSmall, (value) => isListOf(inductive)(value) && value.length > 0],
    quot: [],
  });
}

/** `DefinitionSafety.safe`; `isUnsafe` of the others is false. */
const SAFE_DEFINITION = 1;
const SAFE = 0;
const DECLARATION = { axiom: 0, def: 1, theorem: 2, opaque: 3, quot: 4, inductive: 6 };
const HINTS = { opaque: 0, abbrev: 1 };
const REGULAR = 2;

/**
 * The declarations of an export as Lean's.
 * @param {object} rt the runtime
 * @param {object} data an export that has been checked
 */
function leanObjects(rt, data) {
  const natural = (text) => rt.optional(rt.call('l_String_toNat_x3f', rt.string(text)));
  const names = [rt.UNIT];
  for (const [prefix, part] of data.names) {
    const isText = typeof part === 'string';
    const make = isText ? 'l_Lean_Name_str___override' : 'l_Lean_Name_num___override';
    names.push(rt.call(make, names[prefix], isText ? rt.string(part) : natural(String(part))));
  }
  const levels = [rt.constant('l_Lean_Level_zero___override')];
  for (const [kind, ...parts] of data.levels) {
    const args = parts.map((part) => (kind === 'param' ? names[part] : levels[part]));
    levels.push(rt.call(`l_Lean_Level_${kind}___override`, ...args));
  }
  const exprs = [];
  const make = (kind, ...args) => rt.call(`l_Lean_Expr_${kind}___override`, ...args);
  const binder = (kind) => (name, type, body, info) =>
    make(kind, names[name], exprs[type], exprs[body], rt.box(info));
  const forms = {
    bvar: (index) => make('bvar', rt.box(index)),
    sort: (level) => make('sort', levels[level]),
    const: (name, args) => make('const', names[name], rt.list(args.map((i) => levels[i]))),
    app: (f, a) => make('app', exprs[f], exprs[a]),
    lam: binder('lam'),
    pi: binder('forallE'),
    let: (name, type, value, body, nondep) =>
      make('letE', names[name], exprs[type], exprs[value], exprs[body], rt.box(nondep ? 1 : 0)),
    nat: (text) => make('lit', rt.constructor(0, [natural(text)])),
    str: (text) => make('lit', rt.constructor(1, [rt.string(text)])),
    proj: (name, index, e) => make('proj', names[name], rt.box(index), exprs[e]),
  };
  for (const [kind, ...rest] of data.exprs) exprs.push(forms[kind](...rest));

  const listOfNames = (indices) => rt.list(indices.map((i) => names[i]));
  const constant = (name, params, type) =>
    rt.constructor(0, [names[name], listOfNames(params), exprs[type]]);
  const hintsOf = (hints) =>
    typeof hints === 'string'
      ? rt.box(HINTS[hints])
      : rt.constructor(REGULAR, [], [0, 8, 16, 24].map((shift) => (hints >>> shift) & 0xff));
  const typed = ([name, type, ...more]) => rt.constructor(0, [names[name], exprs[type], ...more]);
  const values = {
    axiom: (...start) => rt.constructor(0, [constant(...start)], [SAFE]),
    def: (name, params, type, value, hints) =>
      rt.constructor(
        0,
        [constant(name, params, type), exprs[value], hintsOf(hints), listOfNames([name])],
        [SAFE_DEFINITION],
      ),
    theorem: (name, params, type, value) =>
      rt.constructor(0, [constant(name, params, type), exprs[value], listOfNames([name])]),
    opaque: (name, params, type, value) =>
      rt.constructor(0, [constant(name, params, type), exprs[value], listOfNames([name])], [SAFE]),
  };
  /** The `Declaration` of a row. */
  function declaration([kind, ...rest]) {
    if (kind === 'quot') return rt.box(DECLARATION.quot);
    if (kind !== 'inductive') return rt.constructor(DECLARATION[kind], [values[kind](...rest)]);
    const [params, parameters, types] = rest;
    const made = types.map(([name, type, made]) => typed([name, type, rt.list(made.map(typed))]));
    const fields = [listOfNames(params), rt.box(parameters), rt.list(made)];
    return rt.constructor(DECLARATION.inductive, fields, [SAFE]);
  }
  return { names, declaration };
}

/** The names that a row adds, by number, and the expressions in it. */
function partsOf([kind, ...rest]) {
  if (kind === 'quot') return { adds: [], holds: [] };
  if (kind !== 'inductive') {
    const [name, , type, value] = rest;
    return { adds: [name], holds: value === undefined ? [type] : [type, value] };
  }
  const members = rest[2].flatMap(([name, type, made]) => [[name, type], ...made]);
  return { adds: members.map(([name]) => name), holds: members.map(([, type]) => type) };
}

module.exports = { checkedExport, leanObjects, partsOf };
