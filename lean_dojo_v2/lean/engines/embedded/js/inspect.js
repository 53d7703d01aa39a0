'use strict';
/** `env.*` and `expr.echo`: what an environment holds, and what a term is. */

const { RequestError } = require('./errors.js');
const { COMMAND_STATE } = require('./contexts.js');

const SAFE_DEFINITION = 1; // `DefinitionSafety.safe`

/** @param {object} engine everything main.js put together */
function inspectionCommands(engine) {
  const { rt, states, pretty, constants } = engine;

  const environment = () => rt.field(engine.commandState(), COMMAND_STATE.env);
  /** How a term is shown without hypotheses, in the session's scope. */
  const shownIn = (origin, monad) => (e) =>
    pretty.expressionRecord(states.printContext(origin, monad), e, engine.settings);

  function inspect({ name, value = null, dependency = false, source = false }) {
    return states.inTermElab(engine.commandState(), (monad, origin) => {
      const env = monad.environment();
      const leanName = rt.name(name);
      const info = constants.find(env, leanName);
      if (info === null) throw new RequestError('index', `Symbol not found ${name}`);
      const shownValue =
        value === true || (value === null && constants.kind(info) === 'def')
          ? constants.value(info)
          : null;
      const show = shownIn(origin, monad);
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
        ...structure(info, show),
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
  /** Pantograph's inductInfo, constructorInfo and recursorInfo. */
  function structure(info, show) {
    const details = constants.details(info);
    const number = (i) => rt.unbox(rt.field(details, i));
    const flag = (i) => rt.scalarByte(details, i) === 1;
    const names = (i) => rt.listItems(rt.field(details, i)).map(rt.nameText);
    switch (constants.kind(info)) {
      case 'inductive':
        return {
          inductInfo: {
            numParams: number(1),
            numIndices: number(2),
            all: names(3),
            ctors: names(4),
            isRec: flag(0),
            isReflexive: flag(2),
            isNested: number(5) > 0,
          },
        };
      case 'constructor':
        return {
          constructorInfo: {
            induct: rt.nameText(rt.field(details, 1)),
            cidx: number(2),
            numParams: number(3),
            numFields: number(4),
          },
        };
      case 'recursor':
        return {
          recursorInfo: {
            all: names(1),
            numParams: number(2),
            numIndices: number(3),
            numMotives: number(4),
            numMinors: number(5),
            rules: rt.listItems(rt.field(details, 6)).map((rule) => ({
              ctor: rt.nameText(rt.field(rule, 0)),
              nFields: rt.unbox(rt.field(rule, 1)),
              rhs: show(rt.field(rule, 2)),
            })),
            k: flag(0),
          },
        };
      default:
        return {};
    }
  }

  function describe() {
    const env = environment();
    return { imports: constants.imports(env), modules: constants.moduleNames(env) };
  }

  /** What one module declares. */
  function readModule({ module }) {
    const data = constants.moduleData(environment(), module);
    if (data === null) throw new RequestError('exception', `Module not found ${module}`);
    return data;
  }

  /** Every safe name but Lean's own auxiliaries, each behind the first letter of its kind, as in `dNat.add`. */
  function catalog({ modulePrefix = null, invertFilter = false }) {
    const env = environment();
    const wanted = (module) =>
      (modulePrefix === null || (module !== null && module.startsWith(modulePrefix))) !== invertFilter;
    const symbols = [];
    for (const { module, entries } of constants.byModule(env)) {
      if (!wanted(module)) continue;
      for (const [name, info] of entries()) {
        if (isHidden(name) || constants.isUnsafe(info)) continue;
        const kind = constants.declaredKind(env, name, info);
        symbols.push(`${kind[0]}${rt.nameText(name)}`);
      }
    }
    return { symbols };
  }
  const isHidden = (name) =>
    /(^|\.)_(proof|simp)_[^.]*$/.test(rt.nameText(name)) ||
    rt.holds('l_Lean_Name_hasMacroScopes', name);

  function echo({ expr, type = null, levels = [] }) {
    return states.inTermElab(engine.commandState(), (monad, origin) => {
      monad.setLevelNames(rt.list(levels.map(rt.name)));
      const expected = type === null ? null : states.elaborateType(monad, type);
      const e = states.elaborateTerm(monad, expr, expected);
      const inferred = states.orError('typing', () =>
        monad.instantiate(monad.meta('l_Lean_Meta_inferType', e)),
      );
      const show = shownIn(origin, monad);
      return { expr: show(e), type: show(inferred) };
    });
  }

  /** Adds a definition or theorem to the session's environment. */
  function add({ name, levels = [], type = null, value, isTheorem = false, typeErrorsAsGoals = false }) {
    if (typeErrorsAsGoals)
      throw new RequestError('command', 'env.add: typeErrorsAsGoals can only be false');
    return states.inTermElab(engine.commandState(), (monad) => {
      const parameters = rt.list(levels.map(rt.name));
      monad.setLevelNames(parameters);
      const expected = type === null ? null : states.elaborateType(monad, type);
      const e = states.elaborateTerm(monad, value, expected);
      const t = monad.instantiate(expected ?? monad.meta('l_Lean_Meta_inferType', e));
      if ([t, e].some((part) => rt.holds('l_Lean_Expr_hasExprMVar', part)))
        throw new RequestError('expr', `${name}: something is left open`);
      const added = declaration(rt.name(name), parameters, t, e, isTheorem);
      monad.core('l_Lean_addDecl', added, rt.box(0));
      const env = monad.environment();
      engine.setCommandState(rt.withFields(engine.commandState(), { [COMMAND_STATE.env]: env }));
      return {};
    });
  }
  /** Lean's `Declaration`: `defnDecl` or `thmDecl`. */
  function declaration(name, parameters, type, value, isTheorem) {
    const shared = rt.constructor(0, [name, parameters, type]);
    const all = rt.list([name]);
    if (isTheorem) return rt.constructor(2, [rt.constructor(0, [shared, value, all])]);
    const abbreviation = rt.box(1); // ReducibilityHints.abbrev
    const definition = rt.constructor(0, [shared, value, abbreviation, all], [SAFE_DEFINITION]);
    return rt.constructor(1, [definition]);
  }

  return {
    'env.inspect': inspect,
    'env.describe': describe,
    'env.module_read': readModule,
    'env.catalog': catalog,
    'expr.echo': echo,
    'env.add': add,
  };
}

module.exports = { inspectionCommands };
