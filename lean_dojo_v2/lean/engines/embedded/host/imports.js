'use strict';
/** Importing modules, and the constants in them. */

const { indexed, whileImporting } = require('./environments.js');

/** `Except.ok` */
const OK = 1;
/** `OLeanLevel.private`, as a file that is no `module` imports. */
const OLEAN_LEVEL = 2;
/** Of Lean's structure `Import`: importAll, isExported, isMeta. */
const IMPORT_FLAGS = [0, 1, 0];

/** Fields of Lean's structures, by position. */
const IMPORT_STATE = { modules: 0, names: 1 };
const HASH_MAP = { buckets: 1 };
const ENTRY = { name: 0, module: 1, next: 2 };
const IMPORTED_MODULE = { parts: 1 };
const PAIR = { first: 0 };
const MODULE_DATA = { imports: 0 };
const IMPORT = { module: 0 };

/**
 * Lean's import in its two halves: it reads modules, and makes an environment of them. What was read of the library stays
 * in memory for good, since this Lean cannot map files, so it is read once for all environments.
 * @param {object} rt the runtime
 */
function createImporter(rt) {
  const library = rt.keep(rt.newRef(rt.constant('l_Lean_instInhabitedImportState_default')));

  /** Reads what is not in a state of Lean's import yet. */
  function read(state, imports, artifacts) {
    const level = rt.box(OLEAN_LEVEL);
    rt.io('l_Lean_importModulesCore', imports, level, artifacts, rt.NO, state);
  }

  /**
   * @param {number} imports an array of Lean's `Import`
   * @param {number} fromLibrary those imports that stay the same as long as this process lives, of these or of theirs
   * @param {number} [artifacts] where modules lie, if not in Lean's search path
   * @returns {number} an environment that is kept for good, without what extensions read (see environments.js)
   */
  return function importModules(imports, fromLibrary, artifacts = rt.EMPTY_MAP) {
    return whileImporting(rt, () => {
      read(library, fromLibrary, rt.EMPTY_MAP);
      const own = rt.newRef(rt.readRef(library));
      read(own, imports, artifacts);
      const state = rt.readRef(own);
      const needed = rt.withFields(state, { [IMPORT_STATE.names]: rt.array(closure(rt, state, imports)) });
      return indexed(rt, finalized(rt, needed, imports));
    });
  };
}

/** The names of some modules and of all that they import, in the order in which Lean reads them. */
function closure(rt, state, imports) {
  const modules = new Map();
  for (const bucket of rt.arrayItems(rt.field(rt.field(state, IMPORT_STATE.modules), HASH_MAP.buckets)))
    for (let entry = bucket; rt.tag(entry) !== 0; entry = rt.field(entry, ENTRY.next))
      modules.set(rt.moduleText(rt.field(entry, ENTRY.name)), rt.field(entry, ENTRY.module));
  const [seen, names] = [new Set(), []];
  function visit(array) {
    for (const one of rt.arrayItems(array)) {
      const name = rt.field(one, IMPORT.module);
      const text = rt.moduleText(name);
      if (seen.has(text)) continue;
      seen.add(text);
      const [part] = rt.arrayItems(rt.field(modules.get(text), IMPORTED_MODULE.parts));
      visit(rt.field(rt.field(part, PAIR.first), MODULE_DATA.imports));
      names.push(name);
    }
  }
  visit(imports);
  return names;
}

/** The environment of the modules that were read; the function has a 32-bit number, so it owns its arguments. */
function finalized(rt, state, imports) {
  const [trust, leakEnvironment, loadExtensions, isModule] = [0, 1, 0, 0];
  const environment = rt.ioRaw(
    'l_Lean_finalizeImport',
    rt.keep(state),
    rt.keep(imports),
    rt.keep(rt.constant('l_Lean_Options_empty')),
    trust,
    leakEnvironment,
    loadExtensions,
    OLEAN_LEVEL,
    isModule,
  );
  return rt.keep(environment);
}

/** An array of Lean's `Import`. */
const importsOf = (rt, modules) =>
  rt.array(modules.map((module) => rt.constructor(0, [rt.name(module)], IMPORT_FLAGS)));

/** A `NameMap` that says where a module lies. */
function artifactOf(rt, module, file) {
  const parts = rt.array([rt.string(file)]);
  return rt.call('l_Lean_NameMap_insert___redArg', rt.EMPTY_MAP, rt.name(module), parts);
}

/** The value of a constant of the program, kept for good. */
function constantOf(rt, env, name) {
  const [anyType, unchecked] = [rt.box(0), rt.box(0)];
  const options = rt.constant('l_Lean_Options_empty');
  const found = rt.call('l_Lean_Environment_evalConst', anyType, env, options, rt.name(name), unchecked);
  if (rt.tag(found) !== OK) throw new Error(`${name}: ${rt.text(rt.field(found, 0))}`);
  return rt.keep(rt.field(found, 0));
}

module.exports = { createImporter, importsOf, artifactOf, constantOf };
