'use strict';
/** The `goal.*` commands of Pantograph's protocol. */

const { RequestError } = require('./errors.js');
const { createSubsumption } = require('./subsume.js');

/** @param {object} engine everything main.js put together */
function goalCommands(engine) {
  const { rt, states, mvars, constants, pretty, proofs, contexts } = engine;
  const { mctxOf, envOf, goalsOf, outsideOf, shown } = states;
  const subsumption = createSubsumption(engine);

  function start({ expr = null, copyFrom = null, levels = [] }) {
    if ((expr === null) === (copyFrom === null)) {
      throw new RequestError('command', 'Exactly one of {expr, copyFrom} must be supplied');
    }
    return states.inTermElab(engine.commandState(), (monad, origin) => {
      const inScope = monad.levelNames(); // of `universe u` in what was loaded
      monad.setLevelNames(rt.list([...levels.map(rt.name), ...rt.listItems(inScope)]));
      const type =
        expr === null
          ? typeOfConstant(monad.environment(), copyFrom)
          : states.elaborateType(monad, expr);
      const root = states.newGoal(monad, type);
      monad.clearMessages();
      const stateId = states.store(origin, monad, rt.list([root]), root);
      return { stateId, root: rt.nameText(root), ...shown(stateId) };
    });
  }
  function typeOfConstant(env, name) {
    const info = constants.find(env, rt.name(name));
    if (info === null) throw new RequestError('index', `Symbol not found: ${name}`);
    return constants.type(info);
  }

  function resume({ target, branch = null, goals = null }) {
    if ((branch === null) === (goals === null)) {
      throw new RequestError('command', 'Exactly one of {branch, goals} must be supplied');
    }
    const state = states.get(target);
    return rt.scope(() => {
      const wanted =
        branch === null ? goals.map(rt.name) : goalsOfBranch(state, states.get(branch));
      const open = wanted.filter((mvar) => !isSolved(state, mvar));
      const fragments = [...state.fragments, ...(branch === null ? [] : states.get(branch).fragments)];
      const nextStateId = states.derive(state, {
        goals: open,
        outside: rt.list([...outsideOf(state), ...goalsOf(state)]),
        fragments,
      });
      return { nextStateId, ...shown(nextStateId) };
    });
  }
  function goalsOfBranch(target, branch) {
    if (goalsOf(target).length > 0)
      throw new RequestError('structure', 'Target state has unresolved goals');
    if (rt.nameText(target.root) !== rt.nameText(branch.root)) {
      throw new RequestError('structure', 'Roots of two continued goal states do not match');
    }
    return goalsOf(branch);
  }
  function isSolved(state, mvar) {
    if (declarationIn(state, mvar) === null)
      throw new RequestError('structure', `Goal ${rt.nameText(mvar)} is not in scope`);
    return mvars.isAssigned(mctxOf(state), mvar);
  }
  const declarationIn = (state, mvar) => mvars.declaration(mctxOf(state), mvar);

  function subsume({ stateId, goal, candidates, srcStateId }) {
    const state = states.get(stateId);
    const source = srcStateId === undefined ? null : states.get(srcStateId);
    return rt.scope(() => {
      const target = rt.name(goal);
      const wanted = candidates.map(rt.name);
      const missing = [[target, state], ...wanted.map((one) => [one, source ?? state])].find(
        ([mvar, where]) => declarationIn(where, mvar) === null,
      );
      if (missing !== undefined)
        throw new RequestError('index', `there is no goal ${rt.nameText(missing[0])}`);
      const monad = contexts.monad(state.contexts, state.states);
      const { result, by } = subsumption.find(monad, target, wanted, source);
      const answer = by === null ? { result } : { result, subsumptor: rt.nameText(by) };
      if (result !== 'subsumed') return answer;
      const left = goalsOf(state).filter((mvar) => rt.nameText(mvar) !== goal);
      const next = states.derive(state, { goals: left, monad, outside: rt.list(outsideOf(state)) });
      return { ...answer, stateId: next };
    });
  }

  function print({ stateId, rootExpr = false, parentExprs = false, goals = false, extraMVars = [] }) {
    const state = states.get(stateId);
    return rt.scope(() => {
      const mctx = mctxOf(state);
      const context = states.printContext(state);
      /** What fills a metavariable, as it is written in that one's own context; null while nothing does. */
      const filling = (mvar) => {
        const decl = declarationIn(state, mvar);
        if (decl === null || mvars.assigned(mctx, mvar) === null) return null;
        const whole = mvars.instantiate(mctx, mvars.term(mvar));
        return pretty.expressionRecord(pretty.inside(context, decl), whole, engine.settings);
      };
      const { terms, open } = proofs.of(mctx, [state.root]);
      const root = rootExpr ? filling(state.root) : null;
      return {
        ...(root === null ? {} : { root }),
        ...(parentExprs ? { parentExprs: rt.listItems(state.parents).map(filling) } : {}),
        ...(goals ? shown(stateId) : { goals: [] }),
        extraMVars: extraMVars.map((name) => filling(rt.name(name)) ?? {}),
        rootHasSorry: terms.some((e) => rt.holds('l_Lean_Expr_hasSorry', e)),
        rootHasUnsafe: terms.some((e) => rt.holds('l_Lean_Environment_hasUnsafe', envOf(state), e)),
        rootHasMVar: open.size > 0,
      };
    });
  }

  function remove({ stateIds }) {
    states.remove(stateIds);
    return {};
  }

  return {
    'goal.start': start,
    'goal.continue': resume,
    'goal.subsume': subsume,
    'goal.print': print,
    'goal.delete': remove,
  };
}

module.exports = { goalCommands };
