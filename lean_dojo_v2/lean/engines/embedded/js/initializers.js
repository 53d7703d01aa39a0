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

/** `Except.ok` */
const OK = 1;

/** @param {object} rt the runtime */
function createInitializers(rt) {
  /** The modules whose initializers have run → the error that they ended with, or null. */
  const ended = new Map();

  /**
   * What runs a module's initializers; nothing, where they have run.
   * @returns {(env: number, names: number[]) => boolean} takes constants of the module, and says whether one of them was
   *   to be run: `initialize`, and macros such as `register_option`
   */
  function of(module) {
    const failure = ended.get(module);
    if (failure) throw failure;
    const first = !ended.has(module);
    ended.set(module, null);
    return (env, names) => first && attempt(module, () => run(env, names));
  }

  function attempt(module, body) {
    try {
      return body();
    } catch (error) {
      if (!(error instanceof LeanIOError)) throw error;
      const failure = `${module}: its initializers fail: ${error.message}`;
      ended.set(module, new RequestError('import', failure));
      throw ended.get(module);
    }
  }

  function run(env, names) {
    const actions = names.map((name) => actionOf(env, name)).filter((action) => action !== null);
    whileImporting(() => actions.forEach((action) => action()));
    return actions.length > 0;
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
    if (!rt.isScalar(maker))
      return () => rt.io('l_Lean_runInit', env, options, name, rt.field(maker, 0));
    if (rt.call('l_Lean_isIOUnitRegularInitFn', env, name) === rt.box(0)) return null;
    const [anyType, unchecked] = [rt.box(0), rt.box(0)];
    const action = rt.call('l_Lean_Environment_evalConst', anyType, env, options, name, unchecked);
    return rt.tag(action) === OK ? () => rt.perform(rt.field(action, 0)) : null;
  }

  /** An environment that has room for all that is registered by now. */
  function adapted(env) {
    const roomy = rt.io('l___private_Lean_Environment_0__Lean_ensureExtensionsArraySize', env);
    return rt.io('lean_update_env_attributes', roomy);
  }

  return { of, adapted, whileImporting };
}

module.exports = { createInitializers };
