'use strict';
/**
 * What the `initialize` commands of a project's modules make: attributes, extensions of environments, references.
 *
 * Lean runs them when it imports a module, but this build has them run for Lean's own modules alone. What they register
 * belongs to this process for good, and Lean refuses to register it again: a module's are run once, whatever else it is
 * elaborated on.
 */

const { RequestError } = require('./errors.js');
const { LeanIOError } = require('./runtime.js');

/** An initializer that must not run. */
class Unsound extends Error {}

/** `Except.ok` */
const OK = 1;
const MODULE_DATA = { entries: 4 };
/** Lean's extension that keeps what is to be run. */
const ATTRIBUTE = 'Lean.regularInitAttr';

/** @param {object} engine everything main.js has put together by then */
function createInitializers({ rt, constants }) {
  /** The modules whose initializers have run → the error that they ended with, or null. */
  const ended = new Map();
  let registered = 0;

  /**
   * What runs a module's initializers, or null where they have run.
   * @returns {((env: number, names: number[]) => boolean)|null} takes constants of the module in the order of their
   *   declaration, and says whether one of them was to be run: `initialize`, and macros such as `register_option`
   */
  function of(module) {
    const failure = ended.get(module);
    if (failure) throw failure;
    return ended.has(module) ? null : (env, names) => attempt(module, () => run(env, names));
  }

  function attempt(module, body) {
    try {
      return body();
    } catch (error) {
      if (!(error instanceof LeanIOError || error instanceof Unsound)) throw error;
      const failure = `${module}: its initializers fail: ${error.message}`;
      ended.set(module, new RequestError('import', failure));
      throw ended.get(module);
    }
  }
  /** Says that a module's initializers have all run. */
  const finish = (module) => void ended.set(module, null);

  function run(env, names) {
    const actions = names.map((name) => actionOf(env, name)).filter((action) => action !== null);
    whileImporting(() => actions.forEach((action) => action()));
    registered += actions.length;
    return actions.length > 0;
  }

  /**
   * The constants of a compiled module that have an initializer, in the order of the text: one may read what another has
   * made, and Lean keeps them sorted by their names.
   */
  function declared(env, data) {
    const entries = rt
      .arrayItems(rt.field(data, MODULE_DATA.entries))
      .find((one) => rt.nameText(rt.field(one, 0)) === ATTRIBUTE);
    if (entries === undefined) return [];
    const place = (name) => constants.declarationRange(env, name)?.start ?? [Infinity, 0];
    return rt
      .arrayItems(rt.field(entries, 1))
      .map((pair) => rt.field(pair, 0))
      .map((name) => ({ name, start: place(name) }))
      .sort((a, b) => a.start[0] - b.start[0] || a.start[1] - b.start[1])
      .map(({ name }) => name);
  }

  /** Lean allows some things while it imports only: registering, for one. */
  function whileImporting(body) {
    const importing = rt.constant('l___private_Lean_ImportingFlag_0__Lean_importingRef');
    rt.wasm.lean_st_ref_set(importing, rt.box(1));
    try {
      return body();
    } finally {
      rt.wasm.lean_st_ref_set(importing, rt.box(0));
    }
  }

  /** What is to be run for a constant; mostly nothing. */
  function actionOf(env, name) {
    const options = rt.constant('l_Lean_Options_empty');
    const maker = rt.call('lean_get_regular_init_fn_name_for', env, name);
    if (!rt.isScalar(maker)) {
      refuseSorry(env, name, rt.field(maker, 0));
      return () => rt.io('l_Lean_runInit', env, options, name, rt.field(maker, 0));
    }
    if (!rt.holds('l_Lean_isIOUnitRegularInitFn', env, name)) return null;
    refuseSorry(env, name, name);
    const [anyType, unchecked] = [rt.box(0), rt.box(0)];
    const action = rt.call('l_Lean_Environment_evalConst', anyType, env, options, name, unchecked);
    return rt.tag(action) === OK ? () => rt.perform(rt.field(action, 0)) : null;
  }

  /** What Lean could not elaborate holds `sorry`, and running that ends the program. */
  function refuseSorry(env, name, program) {
    const value = constants.value(constants.find(env, program));
    if (value !== null && constants.usedIn(value).some((used) => rt.nameText(used) === 'sorryAx'))
      throw new Unsound(`${constants.userName(name)} has an error`);
  }

  /** An environment that has room for all that is registered by now. */
  function upToDate(env) {
    if (registered === 0) return env;
    const roomy = rt.io('l___private_Lean_Environment_0__Lean_ensureExtensionsArraySize', env);
    return rt.io('lean_update_env_attributes', roomy);
  }

  return { of, finish, declared, upToDate, whileImporting };
}

module.exports = { createInitializers };
