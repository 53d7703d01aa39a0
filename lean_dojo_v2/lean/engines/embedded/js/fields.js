'use strict';
/** The commands of the protocol: their fields, and what each field may be. A field that is not here is an error. */

const { RequestError } = require('./errors.js');
const { defaultSettings } = require('./session.js');

const isText = (value) => typeof value === 'string';
const isNatural = (value) => Number.isSafeInteger(value) && value >= 0;
/** What a field may be: in words, and whether a value is that. */
const KINDS = {
  text: ['a text', isText],
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  natural: ['a natural number', isNatural],
  texts: ['a list of texts', (value) => Array.isArray(value) && value.every(isText)],
  naturals: ['a list of natural numbers', (value) => Array.isArray(value) && value.every(isNatural)],
  object: ['an object', (value) => typeof value === 'object' && !Array.isArray(value)],
};

/** Pantograph's options: what they are by default is of their kind. */
const SETTINGS = Object.fromEntries(
  Object.entries(defaultSettings()).map(([name, value]) => [
    name,
    typeof value === 'boolean' ? 'boolean' : 'natural',
  ]),
);
/** A text of a request, see files.js and warm.js. */
const TEXT = {
  file: 'text!',
  fileName: 'text',
  header: 'boolean',
  prefix: 'natural',
  options: 'object',
  module: 'text',
};
const PACKED = { packed: 'text!' };

/** `!` marks what must be there. Commands and fields of our own: `dojo.*`, `options`, `axioms`, `packed`. */
const FIELDS = {
  reset: {},
  stat: {},
  'options.set': SETTINGS,
  'options.print': {},
  'expr.echo': { expr: 'text!', type: 'text', levels: 'texts' },
  'env.describe': {},
  'env.module_read': { module: 'text!' },
  'env.catalog': { modulePrefix: 'text', invertFilter: 'boolean' },
  'env.inspect': { name: 'text!', value: 'boolean', dependency: 'boolean', source: 'boolean' },
  'env.add': {
    name: 'text!',
    levels: 'texts',
    type: 'text',
    value: 'text!',
    isTheorem: 'boolean',
    typeErrorsAsGoals: 'boolean',
  },
  'env.save': {},
  'env.load': PACKED,
  'env.parse': { input: 'text!', category: 'text!' },
  'goal.start': { expr: 'text', copyFrom: 'text', levels: 'texts' },
  'goal.tactic': {
    stateId: 'natural!',
    goalId: 'natural',
    autoResume: 'boolean',
    tactic: 'text',
    mode: 'text',
    expr: 'text',
    have: 'text',
    let: 'text',
    draft: 'text',
    binderName: 'text',
    options: 'object',
    axioms: 'boolean',
  },
  'goal.continue': { target: 'natural!', branch: 'natural', goals: 'texts' },
  'goal.subsume': {
    stateId: 'natural!',
    goal: 'text!',
    candidates: 'texts!',
    srcStateId: 'natural',
  },
  'goal.delete': { stateIds: 'naturals!' },
  'goal.print': {
    stateId: 'natural!',
    rootExpr: 'boolean',
    parentExprs: 'boolean',
    goals: 'boolean',
    extraMVars: 'texts',
  },
  'goal.save': { id: 'natural!' },
  'goal.load': PACKED,
  'frontend.process': {
    file: 'text!',
    fileName: 'text',
    readHeader: 'boolean',
    inheritEnv: 'boolean',
    invocations: 'text',
    sorrys: 'boolean',
    typeErrorsAsGoals: 'boolean',
    newConstants: 'boolean',
    options: 'object',
  },
  'frontend.distil': { file: 'text!', binderName: 'text', ignoreValues: 'boolean' },
  'frontend.track': { src: 'text!', dst: 'text!' },
  'frontend.refactor': { file: 'text!', coreOptions: 'texts' },
  'dojo.memory': {},
  'dojo.parse_tactic': { tactic: 'text!', stateId: 'natural' },
  'dojo.digest': { stateId: 'natural!' },
  'dojo.trace': {
    ...TEXT,
    compiled: 'boolean',
    olean: 'boolean',
    ilean: 'boolean',
    infoTrees: 'boolean',
    sequenceOnly: 'boolean',
  },
  'dojo.compile': { ...TEXT, module: 'text!', compiled: 'boolean' },
  'dojo.check': { ...TEXT, names: 'texts', all: 'boolean', export: 'boolean' },
  'dojo.judge': { export: 'object!' },
  'dojo.state_at': { ...TEXT, position: 'natural!', stateBefore: 'boolean', clean: 'boolean', recursion: 'boolean' },
};

/**
 * A request's payload, checked; fields that are null count as absent.
 * @throws {RequestError} of kind `command`, in Pantograph's words
 */
function checked(command, payload) {
  const fields = FIELDS[command];
  const refuse = (what) => {
    throw new RequestError('command', `Unable to parse json: ${command}: ${what}`);
  };
  const given = Object.entries(payload).filter(([, value]) => value !== null);
  for (const [name, value] of given) {
    if (!Object.hasOwn(fields, name)) refuse(`there is no field ${name}`);
    const [words, isRight] = KINDS[fields[name].replace('!', '')];
    if (!isRight(value)) refuse(`${name} must be ${words}`);
  }
  const names = new Set(given.map(([name]) => name));
  const missing = Object.keys(fields).find((name) => fields[name].endsWith('!') && !names.has(name));
  if (missing !== undefined) refuse(`${missing} is missing`);
  return Object.fromEntries(given);
}

module.exports = { checked };
