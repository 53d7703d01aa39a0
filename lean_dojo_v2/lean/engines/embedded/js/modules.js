'use strict';
/**
 * Modules of a project. A text that imports one is elaborated on top of it, in memory: dependencies first, each once for
 * as long as its text stays the same. Only who asks for it gets modules that were compiled (see compiled.js).
 */

const fs = require('node:fs');
const path = require('node:path');
const { RequestError } = require('./errors.js');
const { COMMAND_STATE } = require('./contexts.js');
const { SourceText, sha256 } = require('./text.js');
const { withLimits } = require('./options.js');
const { SCOPE } = require('./frontend.js');
const { unknownModule } = require('./environments.js');
const { createSources } = require('./sources.js');

/** Fields of Lean's `Environment`. */
const ENVIRONMENT = { asyncConstants: 3 };
const ASYNC_CONSTANTS = { normalizedTrie: 3 };
/** `OpenDecl.explicit`: a name that stands for a constant. */
const EXPLICIT = 1;
/** So many elaborated chains of modules are kept; the least recently used goes first. */
const MAX_CHAINS = 64;

/** @param {object} engine everything main.js put together */
function createModules(engine) {
  const { rt, frontend, environments, constants, initializers, project } = engine;
  /** chain key → environment, kept */
  const chains = new Map();
  const sources = project === undefined ? null : createSources(project);

  function read(module) {
    if (project === undefined || environments.exists(module) || /[/\\]/.test(module)) return null;
    const file = sources.find(module);
    if (file === null) return null;
    try {
      return { file, text: fs.readFileSync(path.join(project, file), 'utf8') };
    } catch (error) {
      throw new RequestError('io', `cannot read module ${module}: ${error.message}`);
    }
  }

  /** The module that a file of the project is, or null. */
  function nameOfFile(fileName) {
    if (!fileName.endsWith('.lean')) return null;
    const relative =
      project === undefined ? fileName : path.relative(project, path.resolve(project, fileName));
    if (relative.startsWith('..') || path.isAbsolute(relative)) return null;
    return relative.slice(0, -'.lean'.length).split(path.sep).join('.');
  }

  /**
   * What some imports stand for: the library modules among them, and the project's own in the order to elaborate.
   * @returns {{library: string[], own: {module: string, file: string, text: string}[]}}
   */
  function plan(imports) {
    const library = new Set();
    const own = new Map();
    const visit = (module, trail) => {
      if (own.has(module) || library.has(module)) return;
      if (trail.includes(module)) {
        const cycle = [...trail.slice(trail.indexOf(module)), module];
        throw new RequestError('import', `import cycle: ${cycle.join(' → ')}`);
      }
      const found = read(module);
      if (found === null) {
        if (!environments.exists(module)) throw unknownModule(module, trail.at(-1));
        library.add(module);
        return;
      }
      const needed = rt.scope(
        () =>
          frontend.parseHeader(frontend.openText(new SourceText(found.text).lean, module)).imports,
      );
      needed.forEach((next) => visit(next, [...trail, module]));
      own.set(module, { module, ...found });
    };
    imports.forEach((module) => visit(module, []));
    return { library: [...library].sort(), own: [...own.values()] };
  }

  /**
   * The environment of some imports.
   * @param {string[]} imports
   * @param {boolean} [compiled] whether to import the project's modules from their compiled files, where all are there
   * @returns {{env: number, library: number|null, moduleOf: (name: number) => string|null, isImported: boolean}}
   *   `library`: that of the library's modules alone, null where compiled ones are imported; `moduleOf`: the module that
   *   elaborated a constant, for those that were elaborated in memory; `isImported`: whether none was
   */
  function environment(imports, compiled = false) {
    const planned = plan(imports);
    const own = planned.own.map(({ module }) => module);
    const whole = compiled && own.length > 0 ? engine.compiled.environment(imports, own) : null;
    if (whole !== null) return { env: whole, library: null, moduleOf: () => null, isImported: true };
    const library = environments.importModules(planned.library);
    let env = library;
    const owners = [];
    let key = String(env); // what is imported is kept for good
    for (const { module, file, text } of planned.own) {
      key += `\n${module} ${sha256(text)}`;
      env = chain(key, { module, file, text }, env);
      owners.push({ module, env });
    }
    return {
      env,
      library,
      isImported: own.length === 0,
      moduleOf: (name) =>
        owners.find((owner) => constants.find(owner.env, name) !== null)?.module ?? null,
    };
  }

  function chain(key, source, below) {
    const known = chains.get(key);
    chains.delete(key);
    const env = known ?? rt.scope(() => rt.keep(elaborate(source, below)));
    chains.set(key, env);
    rt.hold(env);
    if (chains.size > MAX_CHAINS) {
      const [oldest, dropped] = chains.entries().next().value;
      chains.delete(oldest);
      rt.drop(dropped);
    }
    return env;
  }

  /**
   * What a module adds to an environment. Its errors are its own affair: they are reported when it is traced itself.
   * The text runs inside a section, so that what is local to a module ends with it.
   */
  function elaborate({ module, file, text }, below) {
    const source = frontend.openText(new SourceText(text).lean, `./${file}`);
    const { parserState, whole } = frontend.parseHeader(source);
    const fresh = frontend.stateFor(below, withLimits(engine.options, {}), module);
    const start = seeing(fresh, whole, text);
    let state = then(start, 'section');
    const initialize = initializers.of(module);
    const visit = (unit) => {
      if (initialize === null) return;
      const added = constants.addedBy(unit).map(([name]) => name);
      initialize(rt.field(unit.after, COMMAND_STATE.env), added);
    };
    state = frontend.run({ source, parserState, state }, visit);
    initializers.finish(module);
    for (let scopes = openScopes(state); scopes.length > 1; scopes = openScopes(state)) {
      state = then(state, `end ${rt.text(rt.field(scopes[0], SCOPE.header))}`);
      if (openScopes(state).length === scopes.length)
        throw new RequestError('import', `${module}: cannot close its scopes`);
    }
    return initializers.upToDate(asImported(rt.field(state, COMMAND_STATE.env)));
  }
  /**
   * The state in which a text may call the private names of some modules as their source does, as after `import all`:
   * each is opened by its name, and by its ends, unless the text declares something of that name itself. To Lean such a
   * text is no `module` here, so that it would not look for them.
   */
  function seeing(state, whole, text) {
    if (whole.length === 0) return state;
    const env = rt.field(state, COMMAND_STATE.env);
    const opened = whole.flatMap((module) =>
      privateNames(env, module).flatMap(({ name, known }) =>
        ends(known)
          .filter((end) => !declares(text, end))
          .map((end) => rt.constructor(EXPLICIT, [rt.name(end), name])),
      ),
    );
    const scope = rt.field(rt.field(state, COMMAND_STATE.scopes), 0);
    const open = rt.list([...rt.listItems(rt.field(scope, SCOPE.openDecls)), ...opened]);
    const scopes = rt.list([rt.withFields(scope, { [SCOPE.openDecls]: open })]);
    return rt.withFields(state, { [COMMAND_STATE.scopes]: scopes });
  }
  function privateNames(env, module) {
    const prefix = `_private.${module}.0.`;
    return constants
      .byModule(env)
      .filter((part) => part.module === module || part.module === null)
      .flatMap((part) => part.entries())
      .map(([name]) => ({ name, text: rt.nameText(name) }))
      .filter(({ text }) => text.startsWith(prefix))
      .map(({ name, text }) => ({ name, known: text.slice(prefix.length) }))
      .filter(({ known }) => !isInternal(rt.name(known)));
  }
  const isInternal = (name) => rt.holds('l_Lean_Name_isInternalDetail', name);
  /** `A.b.c` → `A.b.c`, `b.c`, `c`; a part in guillemets may hold dots. */
  function ends(name) {
    const parts = name.match(/«[^»]*»|[^.]+/g);
    return parts.map((_, i) => parts.slice(i).join('.'));
  }
  const declares = (text, name) =>
    [...text.matchAll(/\b(?:theorem|lemma|def|abbrev|instance|opaque|axiom)\s+(\S+)/g)].some(
      ([, declared]) => declared === name || declared.endsWith(`.${name}`),
    );

  /**
   * Lean refuses a second name that differs from a known one in the prefix of private names alone, for within one
   * module that is an error. So what it knows by names without that prefix is forgotten between modules.
   */
  function asImported(env) {
    const fresh = rt.call('lean_elab_environment_of_kernel_env', constants.kernelOf(env));
    const [known, unknown] = [env, fresh].map((e) => rt.field(e, ENVIRONMENT.asyncConstants));
    const forget = (visibility) => {
      const trie = rt.field(rt.field(unknown, visibility), ASYNC_CONSTANTS.normalizedTrie);
      return rt.withFields(rt.field(known, visibility), { [ASYNC_CONSTANTS.normalizedTrie]: trie });
    };
    return rt.withFields(env, {
      [ENVIRONMENT.asyncConstants]: rt.withFields(known, { 0: forget(0), 1: forget(1) }),
    });
  }
  const openScopes = (state) => rt.listItems(rt.field(state, COMMAND_STATE.scopes));
  function then(state, command) {
    const source = frontend.openText(command, '<engine>');
    return frontend.run({ source, parserState: frontend.startOfText(), state }, () => {});
  }

  /** The texts behind some imports, as far as they are the project's: they change while the engine runs. */
  const fingerprint = (imports) => plan(imports).own.map(({ module, text }) => [module, text]);

  return { environment, nameOfFile, fingerprint, seeing };
}

module.exports = { createModules };
