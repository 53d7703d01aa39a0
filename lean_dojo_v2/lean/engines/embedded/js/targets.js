'use strict';
/**
 * `frontend.distil` and `frontend.refactor`: what is left to be found in a text.
 *
 * A *search target* is a command that declares something with a `sorry` in its value. Later commands that mention it
 * are coupled with it: a function to be found, and theorems that it has to fulfil, are one target.
 */

const { RequestError } = require('./errors.js');
const { createActions } = require('./actions.js');
const { COMMAND_STATE } = require('./contexts.js');
const { isError } = require('./messages.js');
const { parseAssignment } = require('./options.js');

const EXPLICIT = 0; // `BinderInfo.default`, a byte
const ALL_OCCURRENCES = 1; // box(0): `Occurrences.all`
const END_OF_INPUT = 'Lean.Parser.Command.eoi';

/** @param {object} engine everything main.js put together */
function targetCommands(engine) {
  const { rt, states, constants, pretty, frontend } = engine;
  const actions = createActions(engine);

  /**
   * The commands of a text, without errors in them.
   * @param {string} kind of the error where there are some
   * @returns {{commands: object[], env: number}} what each declares, and the environment behind them all
   */
  function read(file, kind) {
    const session = engine.files.open({ file, header: false, scoped: true });
    const commands = [];
    const problems = [];
    const end = frontend.run(session, (unit) => {
      problems.push(...unit.messages.filter(isError));
      if (unit.kind === END_OF_INPUT) return;
      const after = rt.field(unit.after, COMMAND_STATE.env);
      const added = constants.addedBy(unit);
      const uses = added.flatMap(([, info]) => constants.uses(info).map(rt.nameText));
      const written = added.filter(([name]) => constants.declarationRange(after, name) !== null);
      commands.push({
        text: session.text.slice(unit.start, unit.end).trim(),
        names: added.map(([name]) => rt.nameText(name)),
        name: written.length === 0 ? null : rt.nameText(written[0][0]),
        uses: new Set(uses),
        isTarget: written.length > 0 && hasSorry(constants.value(written[0][1])),
      });
    });
    if (problems.length > 0) {
      const said = problems.map(({ pos, data }) => `${pos.line}:${pos.column}: ${data}`);
      throw new RequestError(kind, `the text has errors:\n${said.join('\n')}`);
    }
    return { commands, env: rt.field(end, COMMAND_STATE.env) };
  }
  const hasSorry = (e) => e !== null && rt.holds('l_Lean_Expr_hasSorry', e);

  /** The commands in order, each target with those that are coupled with it. */
  function grouped(commands) {
    const groups = [];
    const taken = new Set();
    for (const head of commands) {
      if (taken.has(head)) continue;
      const known = new Set(head.names);
      const companions = [];
      if (head.isTarget) {
        for (const other of commands.slice(commands.indexOf(head) + 1)) {
          if (other.name === null || !other.names.length || ![...other.uses].some((n) => known.has(n)))
            continue;
          const isFlat = [...other.uses].every((n) => !known.has(n) || head.names.includes(n));
          companions.push({ ...other, isFlat });
          taken.add(other);
          other.names.forEach((n) => known.add(n));
        }
      }
      groups.push({ head, companions });
    }
    return groups;
  }

  const infoOf = (env, name) => constants.find(env, rt.name(name));
  /** The type of a constant; a `sorry` in it is a hole as well. */
  const statement = (monad, env, name) =>
    actions.withoutSorry(monad, constants.type(infoOf(env, name))).term;
  const binderOf = (head, wanted) => wanted ?? head.name.split('.').at(-1);

  /** What companions say of the thing that is to be found: a conjunction in which it is the variable 0. */
  function condition(monad, env, head, companions) {
    const headInfo = infoOf(env, head.name);
    const levels = constants.levelParams(headInfo).map((n) => rt.call('l_Lean_Level_param___override', n));
    const constant = rt.call('lean_expr_mk_const', rt.name(head.name), rt.list(levels));
    const claims = companions.map(({ name }) =>
      monad.meta('l_Lean_Meta_kabstract', statement(monad, env, name), constant, ALL_OCCURRENCES),
    );
    return { constant, claim: claims.reduceRight((rest, claim) => and(claim, rest)) };
  }
  const and = (a, b) => {
    const conjunction = rt.call('lean_expr_mk_const', rt.name('And'), rt.UNIT);
    return rt.call('lean_expr_mk_app', rt.call('lean_expr_mk_app', conjunction, a), b);
  };
  const apply = (monad, name, args) =>
    monad.meta('l_Lean_Meta_mkAppOptM', rt.name(name), rt.array(args.map(rt.some)));

  /** `{ f : T // what its companions say of it }`, and the predicate in it. */
  function composite(monad, env, head, companions, binder) {
    const witness = statement(monad, env, head.name);
    const { constant, claim } = condition(monad, env, head, companions);
    const predicate = rt.call('lean_expr_mk_lambda', rt.name(binder), witness, claim, EXPLICIT);
    return { constant, witness, predicate, type: apply(monad, 'Subtype', [witness, predicate]) };
  }

  function distil({ file, binderName, ignoreValues = true }) {
    return rt.scope(() => {
      const { commands, env } = read(file, 'io');
      const found = grouped(commands).filter(({ head }) => head.isTarget);
      const targets = found.map(({ head, companions }) => {
        const binder = binderOf(head, binderName);
        const stateId = open(env, head, companions, binder, ignoreValues);
        return { stateId, ...states.shown(stateId) };
      });
      return { targets };
    });
  }

  function open(env, head, companions, binder, ignoreValues) {
    const session = engine.commandState();
    const start = rt.withFields(session, { [COMMAND_STATE.env]: env });
    return states.inTermElab(start, (monad, origin) => {
      const info = infoOf(env, head.name);
      monad.setLevelNames(rt.list(constants.levelParams(info)));
      const { root, goals } =
        companions.length === 0
          ? single(monad, env, head, ignoreValues)
          : coupled(monad, env, { head, companions, binder }, ignoreValues);
      monad.clearMessages();
      // the environment knows what is to be found, for its auxiliaries; citing it is no proof
      const own = [head, ...companions].flatMap(({ names }) => names);
      const needed = neededBy(env, own, monad, root);
      const forbidden = new Set(own.filter((name) => !needed.has(name)));
      return states.store({ ...origin, forbidden }, monad, rt.list(goals), root);
    });
  }

  /** A goal of a target's own type; with values, each `sorry` in its value is a goal instead. */
  function single(monad, env, head, ignoreValues) {
    const root = states.newGoal(monad, statement(monad, env, head.name));
    if (ignoreValues) return { root, goals: [root] };
    const { term, goals } = actions.withoutSorry(monad, constants.value(infoOf(env, head.name)));
    monad.assign(root, term);
    return { root, goals };
  }

  /** The same for a target with companions. */
  function coupled(monad, env, { head, companions, binder }, ignoreValues) {
    const whole = composite(monad, env, head, companions, binder);
    if (ignoreValues) {
      const root = states.newGoal(monad, whole.type);
      return { root, goals: [root] };
    }
    const value = constants.value(infoOf(env, head.name));
    const first = actions.withoutSorry(monad, value, rt.name(binder));
    const root = states.newGoal(monad, whole.type);
    const goals = [...first.goals];
    const proofs = companions.map(({ name }) => {
      const about = constants.value(infoOf(env, name));
      const open = monad.meta('l_Lean_Meta_kabstract', about, whole.constant, ALL_OCCURRENCES);
      const proof = rt.call('lean_expr_instantiate1', open, first.term);
      const { term, goals: more } = actions.withoutSorry(monad, proof);
      goals.push(...more);
      return term;
    });
    const proof = proofs.reduceRight((rest, one) =>
      monad.meta('l_Lean_Meta_mkAppM', rt.name('And.intro'), rt.array([one, rest])),
    );
    const { witness, predicate } = whole;
    monad.assign(root, apply(monad, 'Subtype.mk', [witness, predicate, first.term, proof]));
    return { root, goals };
  }

  /** Which of a target's own constants its goals cannot do without: matchers and the like. */
  function neededBy(env, own, monad, root) {
    const { terms } = engine.proofs.of(monad.mctx(), [root]);
    const mentioned = terms.flatMap(constants.usedIn);
    const mine = new Set(own);
    return new Set(constants.closure(env, mentioned, (name) => mine.has(rt.nameText(name))).keys());
  }

  /** Writes a text again with each target and its companions as one definition. */
  function refactor({ file, coreOptions = [] }) {
    const options = Object.fromEntries(coreOptions.map(parseAssignment));
    return rt.scope(() => {
      const { commands, env } = read(file, 'frontend');
      const pieces = grouped(commands).map(({ head, companions }) =>
        companions.length === 0 ? head.text : fold(env, head, companions, options),
      );
      return { file: pieces.map((piece) => `\n${piece}`).join('') };
    });
  }

  function fold(env, head, companions, options) {
    if (companions.some(({ isFlat }) => !isFlat))
      throw new RequestError('frontend', `what rests on ${head.name} is not flat: it cannot be folded`);
    const start = frontend.stateFor(env, { ...engine.options, 'pp.analyze': true, ...options });
    return states.inTermElab(start, (monad, origin) => {
      monad.setLevelNames(rt.list(constants.levelParams(infoOf(env, head.name))));
      const binder = binderOf(head);
      const { type } = composite(monad, env, head, companions, binder);
      const context = states.printContext(origin, monad);
      return `def ${binder}_composite : ${pretty.expression(context, type)} :=\n  sorry`;
    });
  }

  return { 'frontend.distil': distil, 'frontend.refactor': refactor };
}

module.exports = { targetCommands };
