'use strict';
/** `dojo.check`: elaborates a text and says what its declarations rest on. */

const { COMMAND_STATE } = require('./contexts.js');
const { sexp } = require('./expressions.js');
const { sha256 } = require('./text.js');

/** @param {object} engine everything main.js put together */
function checkCommands(engine) {
  const { rt, constants, frontend, kernel, exporter, statements, taint } = engine;
  /**
   * `dojo.check` {file, names?, all?, export?, prefix?, header?, fileName?, options?}; for `prefix` see warm.js. With
   * `all` every declaration that is written in the text is described, with its place, not those of `names` alone. With
   * `export`, and where a program of a text has run, the answer has what the theorems rest on, for another process to
   * judge: what this one says of them proves nothing then.
   */
  function check(request) {
    const { names = [], all = false } = request;
    return rt.scope(() => {
      const start = engine.warm.open(request);
      const messages = [...start.messages];
      const base = rt.field(start.state, COMMAND_STATE.env);
      const end = frontend.run(start, (unit) => void messages.push(...unit.messages));
      const env = rt.field(end, COMMAND_STATE.env);
      const added = constants.added(base, env);
      const asked = names.map((written) => ({ written, name: lookUp(env, written) }));
      const wanted = [...(all ? written(env, added) : []), ...asked];
      const exports = request.export === true && taint.is();
      return {
        messages,
        declarations: described({ ...start, env }, wanted, !exports),
        ...(exports ? { export: exporter.exported({ ...start, env }, theoremsOf(env, wanted)) } : {}),
        new_constants: added.map(([name, info]) => constantRecord(env, name, info)),
        sources: sourcesDigest(start.imports),
        warm: start.warm,
      };
    });
  }

  /** A digest of the project's own modules behind some imports. */
  const sourcesDigest = (imports) => sha256(JSON.stringify(engine.modules.fingerprint(imports)));

  /**
   * Those of the added constants that stand in the text, with their place: Lean makes others by itself (equation lemmas,
   * matchers, parts of proofs). Of two that a program gave one name, the second goes by its whole name.
   */
  function written(env, added) {
    const found = new Map();
    for (const [name] of added) {
      const place = constants.declarationRange(env, name);
      if (place === null) continue;
      const user = constants.userName(name);
      found.set(found.has(user) ? constants.exactName(name) : user, { name, place });
    }
    return [...found].map(([user, entry]) => ({ written: user, ...entry }));
  }

  /**
   * The Lean name of what a user calls `written`: the private name of this module, which hides a public constant of
   * the library as it does in the text, or else the name itself.
   */
  function lookUp(env, written) {
    const name = rt.name(written);
    const candidates = [rt.call('l_Lean_mkPrivateName', env, name), name];
    return candidates.find((candidate) => constants.find(env, candidate) !== null) ?? null;
  }

  /**
   * @param {{library: number, below: number, env: number}} text see kernel.js
   * @param {{written: string, name: number|null, place?: object}[]} wanted
   * @param {boolean} withKernel whether to ask the kernel; who gets an export asks another one
   */
  function described(text, wanted, withKernel) {
    const known = wanted.filter(({ name }) => name !== null);
    const theorems = known.filter(
      ({ name }) => constants.kind(constants.find(text.env, name)) === 'theorem',
    );
    const names = withKernel ? theorems.map(({ name }) => name) : [];
    const problems = new Map(kernel.problems(text, names).map((problem, i) => [names[i], problem]));
    return Object.fromEntries(
      wanted.map(({ written, name, place }) => [
        written,
        name === null
          ? { exists: false }
          : { ...describe(text, name), ...place, kernel: problems.get(name) ?? null },
      ]),
    );
  }

  const theoremsOf = (env, wanted) =>
    new Map(
      wanted
        .filter(({ name }) => name !== null)
        .filter(({ name }) => constants.kind(constants.find(env, name)) === 'theorem')
        .map(({ written, name }) => [written, name]),
    );

  function describe({ library, env }, name) {
    const info = constants.find(env, name);
    const universes = constants.levelParams(info).map(rt.nameText);
    return {
      exists: true,
      kind: constants.kind(info),
      lean_name: rt.nameText(name),
      module: constants.moduleOf(env, name),
      universes,
      type: sexp(rt, constants.type(info)),
      statement: statements.digest(env, library, info),
      ...constants.restsOn(env, [name], library),
    };
  }

  function constantRecord(env, name, info) {
    const implementedBy = rt.optional(rt.call('l_Lean_Compiler_getImplementedBy_x3f', env, name));
    return {
      name: constants.userName(name),
      kind: constants.kind(info),
      unsafe: constants.isUnsafe(info),
      ...(implementedBy === null ? {} : { implemented_by: rt.nameText(implementedBy) }),
      ...(rt.optional(rt.call('l_Lean_getExternAttrData_x3f', env, name)) === null
        ? {}
        : { extern: true }),
    };
  }

  return { 'dojo.check': check };
}

module.exports = { checkCommands };
