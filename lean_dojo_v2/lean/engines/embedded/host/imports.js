'use strict';
/**
 * Importing modules, the constants in them, and what Lean's import does for itself in an ordinary Lean, or keeps
 * private: steps on environments.
 */

/** `Except.ok` */
const OK = 1;
/** `OLeanLevel.private`, as a file that is no `module` imports. */
const OLEAN_LEVEL = 2;
/** Of Lean's structure `Import`: importAll, isExported, isMeta. */
const IMPORT_FLAGS = [0, 1, 0];

/** Fields of Lean's structures, by position. */
const IMPORT_STATE = { modules: 0, names: 1 };
const ENTRY = { name: 0, module: 1, next: 2 };
const IMPORTED_MODULE = { parts: 1 };
const PAIR = { first: 0 };
const MODULE_DATA = { imports: 0, extraNames: 3 };
const IMPORT = { module: 0 };
const ENVIRONMENT = { base: 0, asyncConstants: 3, realizing: 5 };
const BASE = { private: 0, public: 1 };
const KERNEL_ENVIRONMENT = { moduleOfConstant: 2 };
const HEADER = { modules: 5 };
const HASH_MAP = { size: 0, buckets: 1 };
const REALIZATION = { env: 0 };
const ASYNC_CONSTANTS = { normalizedTrie: 3 };
const INSERT =
  'l_Std_DHashMap_Internal_Raw_u2080_insertIfNew___at___00Lean_finalizeImport_spec__4___redArg';
const PRIVATE = 'l___private_Lean_Environment_0__Lean';

/** What was read of the library: nothing yet. */
const newLibrary = (rt) => rt.keep(rt.newRef(rt.constant('l_Lean_instInhabitedImportState_default')));

/**
 * Lean's import in its two halves: it reads modules, and makes an environment of them, which is kept for good, without what
 * extensions read (see `extended`). What was read of the library stays in memory, since this Lean cannot map files, so it
 * is read once for all environments. `fromLibrary` are those imports that stay the same as long as this process lives, of
 * these or of theirs; `artifacts` lie outside Lean's search path.
 */
function importModules(rt, library, imports, fromLibrary, artifacts = rt.EMPTY_MAP) {
  return whileImporting(rt, () => {
    read(rt, library, fromLibrary, rt.EMPTY_MAP);
    const own = rt.newRef(rt.readRef(library));
    read(rt, own, imports, artifacts);
    const state = rt.readRef(own);
    const needed = rt.withFields(state, { [IMPORT_STATE.names]: rt.array(closure(rt, state, imports)) });
    return indexed(rt, finalized(rt, needed, imports));
  });
}

/** Reads what is not in a state of Lean's import yet. */
function read(rt, state, imports, artifacts) {
  rt.io('l_Lean_importModulesCore', imports, rt.box(OLEAN_LEVEL), artifacts, rt.NO, state);
}

/** The names of some modules and of all that they import, in the order in which Lean reads them. */
function closure(rt, state, imports) {
  const modules = new Map();
  for (const bucket of rt.arrayItems(rt.field(rt.field(state, IMPORT_STATE.modules), HASH_MAP.buckets)))
    for (let entry = bucket; rt.tag(entry) !== 0; entry = rt.field(entry, ENTRY.next))
      modules.set(rt.nameText(rt.field(entry, ENTRY.name)), rt.field(entry, ENTRY.module));
  const [seen, names] = [new Set(), []];
  function visit(array) {
    for (const one of rt.arrayItems(array)) {
      const name = rt.field(one, IMPORT.module);
      const text = rt.nameText(name);
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

const modulesOf = (rt, env) =>
  rt.field(rt.call('l_Lean_Environment_header', env), HEADER.modules);

/**
 * Tells Lean in which modules the functions are that its code generator made (`List.appendTR._redArg`, loops,
 * specialisations, closed terms). Lean's import takes these names from .ir files, which are not in the package; without
 * them every definition that calls such a function fails to compile, and a compiled module cannot be interpreted. All
 * parts of an environment share the one map, which is never freed, so it is changed in place.
 */
function indexed(rt, env) {
  const kernel = rt.field(rt.field(env, ENVIRONMENT.base), BASE.private);
  const shared = rt.field(kernel, KERNEL_ENVIRONMENT.moduleOfConstant);
  let map = shared; // the first insertion copies it, for it is immortal; the others own the copy
  rt.arrayItems(modulesOf(rt, env)).forEach((module, index) => {
    for (const name of rt.arrayItems(rt.field(module, MODULE_DATA.extraNames)))
      map = rt.wasm[INSERT](map, rt.keep(name), rt.box(index));
  });
  rt.wasm.lean_mark_persistent(map);
  for (const part of Object.values(HASH_MAP)) rt.setField(shared, part, rt.field(map, part));
  return env;
}

/** The second half of Lean's own import: every extension reads its part of the modules. */
function extended(rt, env) {
  const options = rt.constant('l_Lean_Options_empty');
  const full = whileImporting(rt, () =>
    rt.io(`${PRIVATE}_finalizePersistentExtensions`, env, modulesOf(rt, env), options),
  );
  const realizing = rt.field(rt.field(full, ENVIRONMENT.realizing), 0);
  const finished = rt.withFields(full, {
    [ENVIRONMENT.realizing]: rt.some(rt.withFields(realizing, { [REALIZATION.env]: full })),
  });
  rt.wasm.lean_mark_persistent(rt.keep(finished));
  return finished;
}

/** Lean allows some things while it imports only: registering, for one. */
function whileImporting(rt, body) {
  const importing = rt.constant('l___private_Lean_ImportingFlag_0__Lean_importingRef');
  rt.wasm.lean_st_ref_set(importing, rt.YES);
  try {
    return body();
  } finally {
    rt.wasm.lean_st_ref_set(importing, rt.NO);
  }
}

/** An environment that has room for all extensions that were registered since it was made. */
function grown(rt, env) {
  return rt.io('lean_update_env_attributes', rt.io(`${PRIVATE}_ensureExtensionsArraySize`, env));
}

/**
 * The environment behind an elaborated module, as one that imports it would see it: what Lean knows by names without the
 * prefix of private ones is forgotten, for within one module alone two such names clash.
 */
function asImported(rt, env) {
  const kernel = rt.call('lean_elab_environment_to_kernel_env', env);
  const fresh = rt.call('lean_elab_environment_of_kernel_env', kernel);
  const [known, unknown] = [env, fresh].map((one) => rt.field(one, ENVIRONMENT.asyncConstants));
  const forget = (visibility) => {
    const trie = rt.field(rt.field(unknown, visibility), ASYNC_CONSTANTS.normalizedTrie);
    return rt.withFields(rt.field(known, visibility), { [ASYNC_CONSTANTS.normalizedTrie]: trie });
  };
  const parts = Object.fromEntries(Object.values(BASE).map((i) => [i, forget(i)]));
  return rt.withFields(env, { [ENVIRONMENT.asyncConstants]: rt.withFields(known, parts) });
}

module.exports = { newLibrary, importModules, importsOf, artifactOf, constantOf, extended, grown, asImported };
