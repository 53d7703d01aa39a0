'use strict';
/** Environments: importing library modules once, and reading the header of a file. */

const fs = require('node:fs');
const path = require('node:path');
const { RequestError } = require('./errors.js');

/**
 * The level at which a file that is no `module` imports (`OLeanLevel.private`). The package holds the exported part of
 * each module alone (.olean, without .olean.server, .olean.private and .ir): proofs, bodies of definitions that are not
 * exposed, and the code of `meta` functions are in none of it.
 */
const OLEAN_LEVEL = 2;
/** Fields of Lean's structures, by position. */
const ENVIRONMENT = { base: 0, realizing: 5 };
const BASE = { private: 0 };
const KERNEL_ENVIRONMENT = { moduleOfConstant: 2 };
const MODULE_DATA = { imports: 0, extraNames: 3 };
const REALIZATION = { env: 0 };
const HASH_MAP = { size: 0, buckets: 1 };
const INSERT =
  'l_Std_DHashMap_Internal_Raw_u2080_insertIfNew___at___00Lean_finalizeImport_spec__4___redArg';
const FINALIZE = 'l___private_Lean_Environment_0__Lean_finalizePersistentExtensions';
/** Imported environments are never freed (their .olean files stay mapped), so there is a limit to different ones. */
const MAX_IMPORTED = 12;

/** @param {object} engine everything main.js has put together by then */
function createEnvironments({ rt, libraryFolder, constants, initializers }) {
  /** The modules asked for → their environment. */
  const imported = new Map();
  /** All the modules that an environment holds → that environment: other requests may come to the same. */
  const held = new Map();
  /** module → what it imports, of all modules that were imported so far */
  const graph = new Map();
  /** What was asked for with modules of a project among it → its environment. */
  const compiled = new Map();
  /** Modules that were looked for → whether the library has them. */
  const looked = new Map();
  /** How often Lean has imported. */
  let loads = 0;

  function exists(module) {
    if (!looked.has(module))
      looked.set(module, fs.existsSync(`${path.join(libraryFolder, ...module.split('.'))}.olean`));
    return looked.get(module);
  }

  /**
   * The environment of some library modules.
   * @param {string[]} modules
   * @returns {number} an environment that is kept for good
   */
  function importModules(modules) {
    const key = [...new Set(modules)].sort().join(' ');
    const known = imported.get(key) ?? held.get(reached(modules));
    if (known !== undefined) return known;
    const missing = modules.find((module) => !exists(module));
    if (missing !== undefined) throw unknownModule(missing);
    refuseTooMany();
    const environment = rt.scope(() => rt.keep(load(key.split(' ').filter(Boolean))));
    indexCompiledFunctions(environment);
    imported.set(key, environment);
    held.set(learned(environment), environment);
    return environment;
  }

  function refuseTooMany() {
    if (loads < MAX_IMPORTED) return;
    const problem = `this engine has imported ${MAX_IMPORTED} different sets of modules; start another`;
    throw new RequestError('memory', problem);
  }

  /**
   * The environment of modules some of which are a project's.
   * @param {object} wanted
   * @param {string[]} wanted.imports
   * @param {Map<string, string>} wanted.files the project's among them and below, and where they lie for Lean
   * @param {string[]} wanted.state what changes when one of the files does
   * @returns {number} an environment that is kept for good
   */
  function importCompiled({ imports, files, state }) {
    const key = JSON.stringify([imports, ...files, state]);
    if (!compiled.has(key)) {
      refuseTooMany();
      compiled.set(key, rt.scope(() => rt.keep(loadCompiled(imports, files))));
    }
    return compiled.get(key);
  }

  /** Initializers come first, for what an extension has imported may be a thing that they register. */
  function loadCompiled(modules, files) {
    const steps = [...files.keys()].map((module) => [module, initializers.of(module)]);
    let artifacts = rt.EMPTY_MAP;
    for (const [module, file] of files) {
      const parts = rt.array([rt.string(file)]);
      artifacts = rt.call('l_Lean_NameMap_insert___redArg', artifacts, rt.name(module), parts);
    }
    const bare = () => {
      const environment = rt.hold(load(modules, artifacts, false));
      indexCompiledFunctions(environment);
      return environment;
    };
    const first = bare();
    const data = dataOf(first);
    const registered = steps.map(([module, initialize]) => {
      const some = initialize?.(first, initializers.declared(first, data.get(module))) ?? false;
      initializers.finish(module);
      return some;
    });
    return withExtensions(registered.includes(true) ? bare() : first);
  }
  /** What the modules of an environment hold, by their names. */
  function dataOf(environment) {
    const names = constants.importedNames(environment).map(rt.moduleText);
    return new Map(constants.modulesOf(environment).map((data, i) => [names[i], data]));
  }

  /** The second half of Lean's own import: every extension reads its part of the modules. */
  function withExtensions(bare) {
    const environment = initializers.whileImporting(() =>
      rt.io(FINALIZE, bare, rt.array(constants.modulesOf(bare)), rt.constant('l_Lean_Options_empty')),
    );
    const realizing = rt.field(rt.field(environment, ENVIRONMENT.realizing), 0);
    const finished = rt.withFields(environment, {
      [ENVIRONMENT.realizing]: rt.some(rt.withFields(realizing, { [REALIZATION.env]: environment })),
    });
    rt.wasm.lean_mark_persistent(finished);
    return finished;
  }

  /** What modules import, directly or not, themselves included, as one text; undefined where that is not known yet. */
  function reached(modules) {
    const found = new Set();
    const pending = [...modules];
    while (pending.length > 0) {
      const module = pending.pop();
      if (found.has(module)) continue;
      if (!graph.has(module)) return undefined;
      found.add(module);
      pending.push(...graph.get(module));
    }
    return [...found].sort().join(' ');
  }
  /** Notes what the modules of an environment import, and gives them all as one text, as `reached` does. */
  function learned(environment) {
    return rt.scope(() => {
      const all = constants.moduleNames(environment);
      constants.modulesOf(environment).forEach((module, i) => {
        graph.set(all[i], constants.importNames(rt.field(module, MODULE_DATA.imports)));
      });
      return all.sort().join(' ');
    });
  }

  function load(modules, artifacts = rt.EMPTY_MAP, loadExtensions = true) {
    loads += 1;
    const flags = [0, 1, 0]; // of Lean's structure Import: importAll, isExported, isMeta
    const imports = rt.array(modules.map((module) => rt.constructor(0, [rt.name(module)], flags)));
    const options = rt.constant('l_Lean_Options_empty');
    const [trust, plugins, leakEnvironment] = [0, rt.array([]), 1];
    return rt.ioRaw(
      'l_Lean_importModules',
      rt.keep(imports),
      rt.keep(options),
      trust,
      rt.keep(plugins),
      leakEnvironment,
      loadExtensions ? 1 : 0,
      OLEAN_LEVEL,
      rt.keep(artifacts),
    );
  }

  /**
   * Tells Lean in which modules the functions are that its code generator made (`List.appendTR._redArg`, loops,
   * specialisations). Their signatures are in the .olean files and their code is in this program, but the import takes
   * these names from .ir files, which are not in the package; without them every definition that calls such a function
   * fails to compile. All parts of an environment share the one map, which is never freed, so it is changed in place.
   */
  function indexCompiledFunctions(environment) {
    const kernel = rt.field(rt.field(environment, ENVIRONMENT.base), BASE.private);
    const shared = rt.field(kernel, KERNEL_ENVIRONMENT.moduleOfConstant);
    let map = shared; // the first insertion copies it, for it is immortal; the others own the copy
    constants.modulesOf(environment).forEach((module, index) => {
      for (const name of rt.arrayItems(rt.field(module, MODULE_DATA.extraNames)))
        map = rt.wasm[INSERT](map, rt.keep(name), rt.box(index));
    });
    rt.wasm.lean_mark_persistent(map);
    for (const part of Object.values(HASH_MAP)) rt.setField(shared, part, rt.field(map, part));
  }

  return { importModules, importCompiled, exists };
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
