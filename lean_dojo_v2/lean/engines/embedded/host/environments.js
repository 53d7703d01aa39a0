'use strict';
/** What Lean's import does for itself in an ordinary Lean, and what it keeps private: steps on environments. */

/** Fields of Lean's structures, by position. */
const ENVIRONMENT = { base: 0, asyncConstants: 3, realizing: 5 };
const BASE = { private: 0, public: 1 };
const KERNEL_ENVIRONMENT = { moduleOfConstant: 2 };
const HEADER = { modules: 5 };
const MODULE_DATA = { extraNames: 3 };
const HASH_MAP = { size: 0, buckets: 1 };
const REALIZATION = { env: 0 };
const ASYNC_CONSTANTS = { normalizedTrie: 3 };
const INSERT =
  'l_Std_DHashMap_Internal_Raw_u2080_insertIfNew___at___00Lean_finalizeImport_spec__4___redArg';
const PRIVATE = 'l___private_Lean_Environment_0__Lean';

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

module.exports = { indexed, whileImporting, extended, grown, asImported };
