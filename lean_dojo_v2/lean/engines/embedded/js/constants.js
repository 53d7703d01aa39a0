'use strict';
/** Constants of an environment: what they are, where they come from, and which are new. */

const { COMMAND_STATE } = require('./contexts.js');

/** Constructors of `ConstantInfo`, as words. */
const KINDS = ['axiom', 'def', 'theorem', 'opaque', 'quot', 'inductive', 'constructor', 'recursor'];
/** Lean's `ConstantKind`: what a constant was where it was declared. */
const ORIGINALLY = { definition: 0, theorem: 1, axiom: 2 };
const HAS_VALUE = new Set(['def', 'theorem', 'opaque']);
const NAME_STRING = 1;
/** Entries of a `PersistentHashMap` node: a pair, a child node, or nothing. */
const ENTRY = { pair: 0, child: 1 };
const MODULE_DATA = { imports: 0, names: 1, constants: 2, extraNames: 3 };
const DECLARATION_RANGES = { range: 0, selectionRange: 1 };
/** `AsyncMode.local`, `OLeanLevel.server`: read what is there, without waiting for tasks. */
const [LOCAL_MODE, SERVER_LEVEL] = [3, 3];

/** @param {object} engine everything main.js put together */
function createConstants(engine) {
  const { rt } = engine;
  /**
   * The ConstantInfo of a name, or null; Lean shall not make what is not there. Here and below, an environment is an
   * object of Lean's, or `{kernel}`: one that only its kernel has made.
   */
  const find = (env, name) =>
    typeof env === 'object'
      ? findInKernel(env.kernel, name)
      : rt.optional(rt.call('l_Lean_Environment_find_x3f', env, name, rt.NO));
  const kind = (info) => KINDS[rt.tag(info)];
  const details = (info) => rt.field(info, 0);
  const shared = (info) => rt.field(details(info), 0);
  const nameOf = (info) => rt.field(shared(info), 0);
  const type = (info) => rt.field(shared(info), 2);
  const levelParams = (info) => rt.listItems(rt.field(shared(info), 1));
  const value = (info) => (HAS_VALUE.has(kind(info)) ? rt.field(details(info), 1) : null);
  const termsOf = (info) => [type(info), value(info)];
  /** The constants in a term. */
  const usedIn = (e) => rt.arrayItems(rt.call('l_Lean_Expr_getUsedConstants', e));

  /** The constants in the type and the value of one; of those in both, each twice. */
  const uses = (info) => termsOf(info).filter((e) => e !== null).flatMap(usedIn);

  /** A text that no other name has: programs can make names that Lean prints alike. */
  function exactName(name) {
    const parts = [];
    for (let rest = name; !rt.isScalar(rest); rest = rt.field(rest, 0)) {
      const part = rt.field(rest, 1);
      if (rt.tag(rest) === NAME_STRING) parts.push(JSON.stringify(rt.text(part)));
      else parts.push(rt.isScalar(part) ? rt.unbox(part) : rt.text(rt.call('l_Nat_reprFast', part)));
    }
    return parts.join('.');
  }

  /** A name as its author writes it: without the prefix that makes private names unique. */
  const userName = (name) => rt.nameText(rt.call('l_Lean_privateToUserName', name));
  const isPrivate = (name) => rt.holds('l_Lean_isPrivateName', name);

  /** The module that a name was imported from, or null for what this session elaborated. */
  function moduleOf(env, name) {
    const index = rt.optional(rt.call('l_Lean_Environment_getModuleIdxFor_x3f', env, name));
    if (index === null) return null;
    const modules = rt.call('l_Lean_Environment_allImportedModuleNames', env);
    return rt.moduleText(rt.arrayItem(modules, rt.unbox(index)));
  }

  /** Whether a constant was imported from Lean's library. */
  function isLibrary(env, name) {
    const module = moduleOf(env, name);
    return module !== null && engine.environments.exists(module);
  }

  /** Where a constant is declared: {start, end} with lines and columns from 1, or null where nobody recorded it. */
  const declarationRange = (env, name) => recordedRange(env, name, DECLARATION_RANGES.range);
  /** Where its name stands in that declaration. */
  const nameRange = (env, name) => recordedRange(env, name, DECLARATION_RANGES.selectionRange);

  function recordedRange(env, name, which) {
    const inhabited = rt.constant('l_Lean_instInhabitedDeclarationRanges');
    const args = [inhabited, rt.constant('l_Lean_declRangeExt'), env, name, LOCAL_MODE, SERVER_LEVEL];
    const found = rt.call('l_Lean_MapDeclarationExtension_find_x3f___redArg', ...args);
    const ranges = rt.optional(found);
    if (ranges === null) return null;
    const range = rt.field(ranges, which);
    const position = (p) => [rt.unbox(rt.field(p, 0)), rt.unbox(rt.field(p, 1)) + 1];
    return { start: position(rt.field(range, 0)), end: position(rt.field(range, 2)) };
  }

  /**
   * The constants of `after` that `before` has not, as [name, info] pairs. Both share most of one persistent tree, and
   * shared nodes are the same object, so this takes time by the difference alone.
   */
  function added(before, after) {
    const found = [];
    compare(root(before), root(after), found);
    return found.filter(([name]) => find(before, name) === null);
  }
  /** The constants that a command of a text has added. */
  const addedBy = ({ before, after }) =>
    added(rt.field(before, COMMAND_STATE.env), rt.field(after, COMMAND_STATE.env));
  /** The second stage of `Environment.constants`, which holds what was not imported. */
  const root = (env) => rt.field(rt.call('l_Lean_Environment_constants', env), 1);
  function compare(old, fresh, found) {
    if (old === fresh) return;
    if (rt.tag(fresh) === 1) {
      // a node of colliding keys: arrays of keys and of values
      const [keys, values] = [rt.arrayItems(rt.field(fresh, 0)), rt.arrayItems(rt.field(fresh, 1))];
      keys.forEach((key, i) => found.push([key, values[i]]));
      return;
    }
    const known = old !== null && rt.tag(old) === 0 ? rt.arrayItems(rt.field(old, 0)) : [];
    rt.arrayItems(rt.field(fresh, 0)).forEach((entry, i) => {
      if (rt.isScalar(entry) || entry === known[i]) return;
      if (rt.tag(entry) === ENTRY.pair) found.push([rt.field(entry, 0), rt.field(entry, 1)]);
      else compare(childNode(known[i]), rt.field(entry, 0), found);
    });
  }
  const importedNames = (env) =>
    rt.arrayItems(rt.call('l_Lean_Environment_allImportedModuleNames', env));
  const moduleNames = (env) => importedNames(env).map(rt.nameText);
  /** The names in a list of Lean's `Import`s. */
  const importNames = (list) => rt.arrayItems(list).map((one) => rt.nameText(rt.field(one, 0)));
  /** What the modules of an environment hold, in the order of their names: Lean's `ModuleData`. */
  const modulesOf = (env) => rt.arrayItems(rt.field(rt.call('l_Lean_Environment_header', env), 5));
  /** The modules that an environment was asked to import. */
  const imports = (env) => importNames(rt.call('l_Lean_Environment_imports', env));

  /** What a module's file holds, by names; null for one that is not imported. */
  function moduleData(env, module) {
    const data = modulesOf(env)[moduleNames(env).indexOf(module)];
    if (data === undefined) return null;
    const names = (i) => rt.arrayItems(rt.field(data, i)).map(rt.nameText);
    return {
      imports: importNames(rt.field(data, MODULE_DATA.imports)),
      constNames: names(MODULE_DATA.names),
      extraConstNames: names(MODULE_DATA.extraNames),
    };
  }

  /** All constants by module, as {module, entries: () => [name, info] pairs}; those of the session come last. */
  function byModule(env) {
    const names = moduleNames(env);
    const imported = modulesOf(env).map((data, i) => ({
      module: names[i],
      entries: () => {
        const infos = rt.arrayItems(rt.field(data, MODULE_DATA.constants));
        return rt.arrayItems(rt.field(data, MODULE_DATA.names)).map((name, k) => [name, infos[k]]);
      },
    }));
    const session = [];
    compare(null, root(env), session);
    return [...imported, { module: null, entries: () => session }];
  }
  const childNode = (entry) =>
    entry !== undefined && !rt.isScalar(entry) && rt.tag(entry) === ENTRY.child
      ? rt.field(entry, 0)
      : null;

  const isUnsafe = (info) => rt.holds('l_Lean_ConstantInfo_isUnsafe', info);

  /**
   * Everything that `roots` mention in types and values, transitively, as far as `follow` says so, themselves included.
   * @param {(info: number) => (number|null)[]} [parts] the terms of a constant that are looked into
   * @returns {Map<string, {name: number, info: number|null}>} by their names, as `keyOf` writes them
   */
  function closure(env, roots, follow, keyOf = rt.nameText, parts = termsOf) {
    const seen = new Map();
    const pending = [...roots];
    while (pending.length > 0) {
      const name = pending.pop();
      const key = keyOf(name);
      if (seen.has(key)) continue;
      const info = find(env, name);
      seen.set(key, { name, info });
      if (info === null || !follow(name, info)) continue;
      for (const e of parts(info)) if (e !== null) pending.push(...usedIn(e));
      if (kind(info) === 'inductive') pending.push(...rt.listItems(rt.field(details(info), 4)));
    }
    return seen;
  }

  /**
   * What a constant of the library was where it was declared. A theorem without its proof, and a definition without its
   * body, are axioms to Lean here; each module says what they were.
   */
  const wasOriginally = (env, name, what) => {
    const original = rt.optional(rt.call('l_Lean_getOriginalConstKind_x3f', env, name));
    return original !== null && rt.unbox(original) === what;
  };

  /** The kind that a constant was declared as. */
  function declaredKind(env, name, info) {
    if (kind(info) !== 'axiom') return kind(info);
    if (wasOriginally(env, name, ORIGINALLY.theorem)) return 'theorem';
    return wasOriginally(env, name, ORIGINALLY.definition) ? 'def' : 'axiom';
  }

  const kernelOf = (env) =>
    typeof env === 'object' ? env.kernel : rt.call('lean_elab_environment_to_kernel_env', env);
  const findInKernel = (kernel, name) => rt.optional(rt.call('lean_environment_find', kernel, name));
  const isInKernel = (kernel, name) => findInKernel(kernel, name) !== null;
  /** Whether a name is not one of the library's. */
  function isBeyond(library) {
    const kernel = kernelOf(library);
    return (name) => !isInKernel(kernel, name);
  }

  /** Whether the kernel has taken a theorem as one: where it refused the proof, the rest of a text may still cite it. */
  function isProved(kernel, name, info) {
    if (kind(info) !== 'theorem') return true;
    const checked = findInKernel(kernel, name);
    return checked !== null && kind(checked) === 'theorem';
  }

  /**
   * What constants rest on: their axioms ([{name, library}]), with theorems that the kernel refused among them,
   * everything unsafe among what they use, and how many theorems of the library, which come without proofs.
   * @param {number} env
   * @param {number[]} names
   * @param {number} [library] the environment of the library's modules that it is built on, where no text can change what
   *   is there, and what it was where it was declared; without it, `env` is believed
   */
  function restsOn(env, names, library = null) {
    const axioms = [];
    const unsafe = [];
    let theorems = 0;
    const origin = library ?? env;
    const kernel = kernelOf(env);
    const isLocal = library === null ? (n) => !isLibrary(env, n) : isBeyond(library);
    for (const { name: used, info } of closure(env, names, isLocal, exactName).values()) {
      const local = isLocal(used);
      const known = local ? info : find(origin, used);
      if (known === null) continue;
      if (kind(known) === 'axiom' || (local && !isProved(kernel, used, known))) {
        if (local || wasOriginally(origin, used, ORIGINALLY.axiom))
          axioms.push({ name: userName(used), library: !local });
        else if (wasOriginally(origin, used, ORIGINALLY.theorem)) theorems += 1;
      }
      if (local && isUnsafe(known)) unsafe.push(userName(used));
    }
    return { axioms, unsafe, library_theorems: theorems };
  }

  return {
    find,
    kind,
    details,
    isUnsafe,
    nameOf,
    type,
    levelParams,
    value,
    usedIn,
    uses,
    userName,
    isPrivate,
    isLibrary,
    exactName,
    kernelOf,
    isInKernel,
    isBeyond,
    moduleOf,
    declarationRange,
    nameRange,
    declaredKind,
    added,
    addedBy,
    imports,
    importedNames,
    importNames,
    moduleNames,
    modulesOf,
    moduleData,
    byModule,
    closure,
    restsOn,
  };
}

module.exports = { createConstants };
