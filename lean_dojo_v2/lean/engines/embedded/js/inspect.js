'use strict';
/** `env.*` and `expr.echo`: what an environment holds, and what a term is. */

const { RequestError } = require('./errors.js');
const { COMMAND_STATE, CORE_STATE } = require('./contexts.js');

const SAFE_DEFINITION = 1; // `DefinitionSafety.safe`
const TRUE = 3; // box(1)

/** @param {object} engine everything main.js put together */
function inspectionCommands(engine) {
  const { rt, states, pretty, constants } = engine;

  const environment = () => rt.field(engine.commandState(), COMMAND_STATE.env);
  /** A printing context without hypotheses, over the session's scope. */
  function topLevel(body) {
    return states.inTermElab(engine.commandState(), (monad, origin) =>
      body(
        pretty.contextOfState(origin.contexts[2], monad.environment(), monad.mctx()),
        monad,
        origin,
      ),
    );
  }

  function inspect({ name, value = null, dependency = false, source = false }) {
    if (typeof name !== 'string') throw new RequestError('arguments', 'name must be a text');
    return topLevel((context, monad) => {
      const env = monad.environment();
      const leanName = rt.name(name);
      const info = constants.find(env, leanName);
      if (info === null) throw new RequestError('index', `Symbol not found ${name}`);
      const shownValue =
        value === true || (value === null && constants.kind(info) === 'def')
          ? constants.value(info)
          : null;
      const show = (e) => pretty.expressionRecord(context, e, engine.settings);
      const module = constants.moduleOf(env, leanName);
      return {
        type: show(constants.type(info)),
        isUnsafe: constants.isUnsafe(info),
        kind: constants.kind(info),
        levels: constants.levelParams(info).map(rt.nameText),
        ...(shownValue === null ? {} : { value: show(shownValue) }),
        ...(module === null ? {} : { module }),
        ...(constants.isPrivate(leanName) ? { publicName: constants.userName(leanName) } : {}),
        ...(dependency ? dependencies(info, shownValue) : {}),
        ...structure(info),
        ...(source ? location(env, leanName) : {}),
      };
    });
  }
  function dependencies(info, value) {
    const names = (e) => constants.usedIn(e).map(rt.nameText);
    return {
      typeDependency: names(constants.type(info)),
      ...(value === null ? {} : { valueDependency: names(value) }),
    };
  }
  function location(env, name) {
    const range = constants.declarationRange(env, name);
    if (range === null) return {};
    const position = ([line, column]) => ({ line, column: column - 1 });
    return { sourceStart: position(range.start), sourceEnd: position(range.end) };
  }
  /** Pantograph's inductInfo and constructorInfo. */
  function structure(info) {
    const details = constants.details(info);
    const number = (i) => rt.unbox(rt.field(details, i));
    const names = (i) => rt.listItems(rt.field(details, i)).map(rt.nameText);
    if (constants.kind(info) === 'inductive') {
      return {
        inductInfo: { numParams: number(1), numIndices: number(2), all: names(3), ctors: names(4) },
      };
    }
    if (constants.kind(info) === 'constructor') {
      return {
        constructorInfo: {
          induct: rt.nameText(rt.field(details, 1)),
          cidx: number(2),
          numParams: number(3),
          numFields: number(4),
        },
      };
    }
    return {};
  }

  function describe() {
    return {
      imports: [],
      modules: rt
        .arrayItems(rt.call('l_Lean_Environment_allImportedModuleNames', environment()))
        .map(rt.nameText),
    };
  }

  /** Every name that users may cite: no internal ones. */
  function catalog() {
    const env = environment();
    const internal = (name) =>
      rt.call('l_Lean_Name_isInternal', name) === TRUE || constants.isPrivate(name);
    return {
      symbols: constants
        .all(env)
        .filter((name) => !internal(name))
        .map(rt.nameText),
    };
  }

  function echo({ expr, type = null, levels = [] }) {
    return topLevel((_, monad, origin) => {
      monad.setLevelNames(rt.list(levels.map(rt.name)));
      const e = states.elaborateTerm(
        monad,
        expr,
        type === null ? null : states.elaborateType(monad, type),
      );
      const inferred = pretty.instantiate(monad.mctx(), monad.meta('l_Lean_Meta_inferType', e));
      const context = pretty.contextOfState(origin.contexts[2], monad.environment(), monad.mctx());
      return {
        expr: pretty.expressionRecord(context, e, engine.settings),
        type: pretty.expressionRecord(context, inferred, engine.settings),
      };
    });
  }

  /** Adds a definition or theorem to the session's environment. */
  function add({ name, levels = [], type = null, value, isTheorem = false }) {
    if (typeof name !== 'string' || typeof value !== 'string')
      throw new RequestError('arguments', 'name and value must be texts');
    topLevel((_, monad) => {
      const parameters = rt.list(levels.map(rt.name));
      monad.setLevelNames(parameters);
      const expected = type === null ? null : states.elaborateType(monad, type);
      const e = states.elaborateTerm(monad, value, expected);
      const t = pretty.instantiate(
        monad.mctx(),
        expected ?? monad.meta('l_Lean_Meta_inferType', e),
      );
      for (const part of [t, e]) {
        if (rt.call('l_Lean_Expr_hasExprMVar', part) === TRUE)
          throw new RequestError('expr', `${name}: something is left open`);
      }
      monad.core(
        'l_Lean_addDecl',
        declaration(rt.name(name), parameters, t, e, isTheorem),
        rt.box(0),
      );
      const env = rt.field(monad.states()[2], CORE_STATE.env);
      engine.setCommandState(rt.withFields(engine.commandState(), { [COMMAND_STATE.env]: env }));
    });
    return {};
  }
  /** Lean's `Declaration`: `defnDecl` or `thmDecl`. */
  function declaration(name, parameters, type, value, isTheorem) {
    const shared = rt.constructor(0, [name, parameters, type]);
    const all = rt.list([name]);
    if (isTheorem) return rt.constructor(2, [rt.constructor(0, [shared, value, all])]);
    const abbreviation = rt.box(1); // ReducibilityHints.abbrev
    return rt.constructor(1, [
      rt.constructor(0, [shared, value, abbreviation, all], [SAFE_DEFINITION]),
    ]);
  }

  return {
    'env.inspect': inspect,
    'env.describe': describe,
    'env.catalog': catalog,
    'expr.echo': echo,
    'env.add': add,
  };
}

module.exports = { inspectionCommands };
