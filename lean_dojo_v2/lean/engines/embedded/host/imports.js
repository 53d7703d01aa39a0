'use strict';
/** Importing modules, and the constants in them. */

/** `Except.ok` */
const OK = 1;
/** `OLeanLevel.private`, as a file that is no `module` imports. */
const OLEAN_LEVEL = 2;
/** Of Lean's structure `Import`: importAll, isExported, isMeta. */
const IMPORT_FLAGS = [0, 1, 0];

/**
 * Imports modules, without what their extensions read from them (see environments.js).
 * @param {object} rt
 * @param {string[]} modules
 * @param {Object<string, string>} [files] modules that are not the library's → where they lie in Lean's file system
 * @returns {number} an environment that is kept for good
 */
function importModules(rt, modules, files = {}) {
  let artifacts = rt.EMPTY_MAP;
  for (const [module, file] of Object.entries(files)) {
    const parts = rt.array([rt.string(file)]);
    artifacts = rt.call('l_Lean_NameMap_insert___redArg', artifacts, rt.name(module), parts);
  }
  const imports = modules.map((module) => rt.constructor(0, [rt.name(module)], IMPORT_FLAGS));
  const [trust, leakEnvironment, loadExtensions] = [0, 1, 0];
  const environment = rt.ioRaw(
    'l_Lean_importModules',
    rt.keep(rt.array(imports)),
    rt.keep(rt.constant('l_Lean_Options_empty')),
    trust,
    rt.keep(rt.array([])),
    leakEnvironment,
    loadExtensions,
    OLEAN_LEVEL,
    rt.keep(artifacts),
  );
  return rt.keep(environment);
}

/** The value of a constant of the program, kept for good. */
function constantOf(rt, env, name) {
  const [anyType, unchecked] = [rt.box(0), rt.box(0)];
  const options = rt.constant('l_Lean_Options_empty');
  const found = rt.call('l_Lean_Environment_evalConst', anyType, env, options, rt.name(name), unchecked);
  if (rt.tag(found) !== OK) throw new Error(`${name}: ${rt.text(rt.field(found, 0))}`);
  return rt.keep(rt.field(found, 0));
}

module.exports = { importModules, constantOf };
