'use strict';
/** Lean options: from JSON values, and the limits that every request runs under. */

const { RequestError } = require('./errors.js');

/** As in Lean's own default, in thousands of small allocations; never 0, which would mean no limit at all. */
const DEFAULT_HEARTBEATS = 200000;
const DEFAULT_RECURSION = 512;

/**
 * @param {object} rt the runtime
 * @param {object} values option names to booleans, numbers or texts
 * @returns {number} a Lean `Options`
 */
function leanOptions(rt, values) {
  let options = rt.constant('l_Lean_Options_empty');
  for (const [key, value] of Object.entries(values)) {
    const name = rt.name(key);
    if (typeof value === 'boolean')
      options = rt.call('l_Lean_KVMap_setBool', options, name, rt.box(value ? 1 : 0));
    else if (Number.isSafeInteger(value) && value >= 0 && value < 2 ** 31) {
      options = rt.call('l_Lean_KVMap_setNat', options, name, rt.box(value));
    } else if (typeof value === 'string')
      options = rt.call('l_Lean_KVMap_setString', options, name, rt.string(value));
    else
      throw new RequestError(
        'operation',
        `Lean option ${key}: expected a boolean, a natural number or a text`,
      );
  }
  return options;
}

/** What a Lean command line writes: `key=value`, with the type read off the value. */
function parseAssignment(text) {
  const [, key, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (key === undefined) return null;
  if (value === 'true' || value === 'false') return [key, value === 'true'];
  return [key, /^\d+$/.test(value) ? Number(value) : value];
}

/** The options of a request over those of the command line over the defaults; a limit of 0 is refused. */
function withLimits(base, request) {
  const values = {
    maxHeartbeats: DEFAULT_HEARTBEATS,
    maxRecDepth: DEFAULT_RECURSION,
    ...base,
    ...request,
  };
  for (const limit of ['maxHeartbeats', 'maxRecDepth']) {
    if (!(values[limit] > 0))
      throw new RequestError('operation', `Lean option ${limit} must be a positive number`);
  }
  return values;
}

module.exports = { leanOptions, parseAssignment, withLimits };
