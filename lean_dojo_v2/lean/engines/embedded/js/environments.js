'use strict';
/** Environments: importing library modules once, and reading the header of a file. */

const fs = require('node:fs');
const path = require('node:path');
const { RequestError } = require('./errors.js');

/** Proofs and private declarations are read too (`OLeanLevel.private`). */
const OLEAN_LEVEL = 2;
/** Imported environments are never freed (their .olean files stay mapped), so there is a limit to different ones. */
const MAX_IMPORTED = 12;

/**
 * @param {object} rt the runtime
 * @param {string} library the folder of .olean files on the host
 */
function createEnvironments(rt, library) {
  const imported = new Map();

  const exists = (module) => fs.existsSync(`${path.join(library, ...module.split('.'))}.olean`);

  /**
   * The environment of some library modules.
   * @param {string[]} modules
   * @returns {number} an environment that is kept for good
   */
  function importModules(modules) {
    const key = [...new Set(modules)].sort().join(' ');
    const known = imported.get(key);
    if (known !== undefined) return known;
    const missing = modules.find((module) => !exists(module));
    if (missing !== undefined) throw unknownModule(missing);
    if (imported.size >= MAX_IMPORTED) {
      throw new RequestError(
        'memory',
        `this engine has imported ${MAX_IMPORTED} different sets of modules; start another`,
      );
    }
    const environment = rt.scope(() => rt.keep(load(key.split(' ').filter(Boolean))));
    imported.set(key, environment);
    return environment;
  }

  function load(modules) {
    // Lean's structure Import: module, and the flags importAll, isExported, isMeta
    const imports = rt.array(
      modules.map((module) => rt.constructor(0, [rt.name(module)], [0, 1, 0])),
    );
    const options = rt.constant('l_Lean_Options_empty');
    const [trust, plugins, leakEnvironment, loadExtensions, artifacts] = [
      0,
      rt.array([]),
      1,
      1,
      rt.EMPTY_MAP,
    ];
    return rt.ioRaw(
      'l_Lean_importModules',
      rt.keep(imports),
      rt.keep(options),
      trust,
      rt.keep(plugins),
      leakEnvironment,
      loadExtensions,
      OLEAN_LEVEL,
      artifacts,
    );
  }

  return { importModules, exists };
}

function unknownModule(module, importer) {
  const wayOut = /^Mathlib\b|^Batteries\b|^Aesop\b/.test(module)
    ? '; the embedded engine has Init, Std and Lean only: use the native engine for a project that needs it'
    : '';
  return new RequestError(
    'import',
    `unknown module ${module}${importer === undefined ? '' : ` (imported by ${importer})`}: neither in Lean's library nor in the project${wayOut}`,
  );
}

module.exports = { createEnvironments, unknownModule };
