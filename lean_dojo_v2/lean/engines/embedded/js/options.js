'use strict';
/** Lean options: from JSON values, and the limits that every request runs under. */

const { RequestError } = require('./errors.js');

/** As in Lean's own default, in thousands of small allocations; never 0, which would mean no limit at all. */
const DEFAULTS = { maxHeartbeats: 200000, maxRecDepth: 512 };

/**
 * @param {object} rt the runtime
 * @param {object} values option names to booleans, numbers or texts
 * @returns {number} a Lean `Options`
 */
function leanOptions(rt, values) {
  let options = rt.constant('l_Lean_Options_empty');
  for (const [key, value] of Object.entries(values)) {
    const [kind, object] = optionValue(rt, key, value);
    options = rt.call(`l_Lean_KVMap_set${kind}`, options, rt.name(key), object);
  }
  return options;
}
function optionValue(rt, key, value) {
  if (typeof value === 'boolean') return ['Bool', rt.box(value ? 1 : 0)];
  if (typeof value === 'string') return ['String', rt.string(value)];
  if (Number.isSafeInteger(value) && value >= 0 && value < 2 ** 31) return ['Nat', rt.box(value)];
  const problem = `Lean option ${key}: expected a boolean, a natural number or a text`;
  throw new RequestError('operation', problem);
}

/** What a Lean command line writes: `key=value`, with the type read off the value. */
function parseAssignment(text) {
  const [, key, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (key === undefined) throw new RequestError('parse', `${text} is not of the form name=value`);
  if (value === 'true' || value === 'false') return [key.trim(), value === 'true'];
  return [key.trim(), /^\d+$/.test(value) ? Number(value) : value];
}

/** The options of a request over those of the command line over the defaults; a limit of 0 is refused. */
function withLimits(base, request) {
  const values = { ...DEFAULTS, ...base, ...request };
  for (const limit of Object.keys(DEFAULTS)) {
    if (!(values[limit] > 0))
      throw new RequestError('operation', `Lean option ${limit} must be a positive number`);
  }
  return values;
}

module.exports = { leanOptions, parseAssignment, withLimits };
