'use strict';
/**
 * `goal.save`, `goal.load`, `env.save`, `env.load`: what a session holds as bytes, by Lean's own compactor, which also
 * writes .olean files. The bytes travel as base64 text in the field `packed`; who speaks to us keeps the file.
 *
 * Constants that came with a saved state or environment are checked by the kernel again when it is loaded. The rest of
 * a packed state is taken as it is: load only what this engine saved.
 */

const crypto = require('node:crypto');
const { RequestError } = require('./errors.js');
const { COMMAND_STATE, CORE_STATE, META_STATE, TERM_STATE } = require('./contexts.js');

const FILE = '/packed';
const DIGEST_BYTES = 32;
/** What an array of a packed state holds, in order. */
const STATE = ['names', 'infos', 'ngen', 'mctx', 'levels', 'goals', 'root', 'outside', 'owed', 'parents'];
const ENVIRONMENT = ['names', 'infos', 'imports'];

/** @param {object} engine everything main.js put together */
function pickleCommands(engine) {
  const { rt, states, constants, kernel } = engine;
  const { FS } = rt.module;

  function pack(words, parts) {
    const content = rt.array(words.map((word) => parts[word]));
    const files = rt.array([rt.constructor(0, [rt.string(FILE), content])]);
    rt.io('l_Lean_saveModuleDataParts', rt.name('packed'), files);
    const data = Buffer.from(FS.readFile(FILE));
    FS.unlink(FILE);
    const digest = crypto.createHash('sha256').update(data).digest();
    return { packed: Buffer.concat([digest, data]).toString('base64') };
  }

  /** What was packed; it stays in memory for good, as the content of an .olean file does. */
  function unpack(words, packed) {
    const bytes = Buffer.from(packed, 'base64');
    const [digest, data] = [bytes.subarray(0, DIGEST_BYTES), bytes.subarray(DIGEST_BYTES)];
    if (!crypto.createHash('sha256').update(data).digest().equals(digest))
      throw new RequestError('io', 'the file is damaged');
    FS.writeFile(FILE, data);
    const read = rt.io('l_Lean_readModuleDataParts', rt.array([rt.string(FILE)]));
    FS.unlink(FILE);
    const content = rt.arrayItems(rt.field(rt.arrayItems(read)[0], 0));
    if (content.length !== words.length)
      throw new RequestError('io', 'the file holds something else than what is asked for');
    return Object.fromEntries(words.map((word, i) => [word, content[i]]));
  }

  /** The constants that an environment has beyond another one, as two arrays. */
  function addedTo(base, env) {
    const added = constants.added(base, env);
    return {
      names: rt.array(added.map(([name]) => name)),
      infos: rt.array(added.map(([, info]) => info)),
    };
  }

  /** Adds constants through the kernel, each after those that it mentions. */
  function addAll(monad, { names, infos }) {
    const waiting = new Map();
    const list = rt.arrayItems(infos);
    rt.arrayItems(names).forEach((name, i) => waiting.set(rt.nameText(name), list[i]));
    const add = (text, info) => {
      waiting.delete(text);
      if (constants.find(monad.environment(), rt.name(text)) !== null) return;
      if (constants.isUnsafe(info) || isRecursive(text, info)) return; // for the code generator alone
      for (const used of constants.uses(info).map(rt.nameText))
        if (waiting.has(used)) add(used, waiting.get(used));
      const declaration = kernel.declarationOf(info);
      if (declaration === null)
        throw new RequestError('operation', `${text} is of a kind that cannot be loaded; load its text`);
      monad.core('l_Lean_addDecl', declaration, rt.box(0));
    };
    for (const [text, info] of [...waiting]) if (waiting.has(text)) add(text, info);
  }

  /** Whether a definition mentions itself, which no definition for the kernel does. */
  const isRecursive = (text, info) =>
    constants.kind(info) === 'def' && constants.usedIn(constants.value(info)).map(rt.nameText).includes(text);

  const sessionEnvironment = () => rt.field(engine.commandState(), COMMAND_STATE.env);

  function save({ id }) {
    const state = states.get(id);
    if (state.fragments.length > 0)
      throw new RequestError('operation', 'a state in conv or calc mode cannot be saved');
    if (state.forbidden !== undefined)
      throw new RequestError('operation', 'a state inside the proof of a file cannot be saved');
    return rt.scope(() => {
      const [term, meta, core] = state.states;
      return pack(STATE, {
        ...addedTo(sessionEnvironment(), rt.field(core, CORE_STATE.env)),
        ngen: rt.field(core, CORE_STATE.ngen),
        mctx: rt.field(meta, META_STATE.mctx),
        levels: rt.field(term, TERM_STATE.levelNames),
        goals: state.goals,
        root: state.root,
        outside: state.outside === null ? rt.none : rt.some(state.outside),
        owed: state.owed,
        parents: state.parents,
      });
    });
  }

  function load({ packed }) {
    return states.inTermElab(engine.commandState(), (monad, origin) => {
      const saved = unpack(STATE, packed);
      addAll(monad, saved);
      monad.setLevelNames(saved.levels);
      monad.setNameGenerator(saved.ngen);
      monad.setMctx(saved.mctx);
      monad.clearMessages();
      const id = states.store(origin, monad, saved.goals, saved.root, {
        outside: rt.optional(saved.outside),
        owed: saved.owed,
        parents: rt.listItems(saved.parents),
      });
      return { id };
    });
  }

  function saveEnvironment() {
    return rt.scope(() => {
      const env = sessionEnvironment();
      const imports = constants.imports(env);
      const unknown = imports.find((module) => !engine.environments.exists(module));
      if (unknown !== undefined)
        throw new RequestError('operation', `${unknown} was read from its source; import it again`);
      const base = engine.environments.importModules(imports);
      return pack(ENVIRONMENT, { ...addedTo(base, env), imports: rt.array(imports.map(rt.string)) });
    });
  }

  function loadEnvironment({ packed }) {
    return rt.scope(() => {
      const saved = unpack(ENVIRONMENT, packed);
      const base = engine.environments.importModules(rt.arrayItems(saved.imports).map(rt.text));
      const start = engine.frontend.stateFor(base, engine.options);
      states.inTermElab(start, (monad) => {
        addAll(monad, saved);
        const env = monad.environment();
        engine.setCommandState(rt.withFields(start, { [COMMAND_STATE.env]: env }), base);
      });
      return {};
    });
  }

  return {
    'goal.save': save,
    'goal.load': load,
    'env.save': saveEnvironment,
    'env.load': loadEnvironment,
  };
}

module.exports = { pickleCommands };
