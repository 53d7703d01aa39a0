'use strict';
/**
 * What the `initialize` commands of a project's modules make: attributes, extensions of environments, references.
 *
 * Lean runs them when it imports the module. Modules of a project are never imported here but elaborated in memory, so
 * each is run as soon as it is elaborated. What they register belongs to this process for good, and Lean refuses
 * to register it again: a module's are run once, whatever else it is elaborated on.
 */

const { COMMAND_STATE } = require('./contexts.js');

/** `Except.ok` */
const OK = 1;

/**
 * @param {object} rt the runtime
 * @param {object} constants see constants.js
 */
function createInitializers(rt, constants) {
  /** Runs what a command of a module has declared to be run: `initialize`, and macros such as `register_option`. */
  function run(unit) {
    const [before, env] = [unit.before, unit.after].map((s) => rt.field(s, COMMAND_STATE.env));
    const actions = constants.added(before, env).map(([name]) => actionOf(env, name));
    const importing = rt.constant('l___private_Lean_ImportingFlag_0__Lean_importingRef');
    rt.wasm.lean_st_ref_set(importing, rt.box(1));
    try {
      actions.forEach((action) => action());
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
    if (rt.call('l_Lean_isIOUnitRegularInitFn', env, name) === rt.box(0)) return () => {};
    const [anyType, unchecked] = [rt.box(0), rt.box(0)];
    const action = rt.call('l_Lean_Environment_evalConst', anyType, env, options, name, unchecked);
    return rt.tag(action) === OK ? () => rt.perform(rt.field(action, 0)) : () => {};
  }

  /** An environment that has room for all that is registered by now. */
  function adapted(env) {
    const roomy = rt.io('l___private_Lean_Environment_0__Lean_ensureExtensionsArraySize', env);
    return rt.io('lean_update_env_attributes', roomy);
  }

  return { run, adapted };
}

module.exports = { createInitializers };
