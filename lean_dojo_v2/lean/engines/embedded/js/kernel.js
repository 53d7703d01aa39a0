'use strict';
/**
 * Lean's kernel once more, over what a theorem rests on.
 *
 * A program in a text (`run_cmd`, `elab`, `initialize`) may put into the environment what the kernel never saw, or
 * replace what it saw. So a theorem is taken for proved only after all constants that it rests on were added again, each
 * behind those that it mentions, to the environment of the library alone, which no text has touched. What the kernel
 * makes by itself (constructors, recursors) is its own there, whatever the text's environment says of them.
 */

const { messageText } = require('./messages.js');

/** `Declaration`s that hold just what a `ConstantInfo` of that kind holds. */
const DECLARATION = { axiom: 0, def: 1, theorem: 2, opaque: 3 };
const QUOTIENTS = 4;
const INDUCTIVE = 6;
const INDUCTIVE_INFO = { parameters: 1, all: 3, constructors: 4 };
const CONSTRUCTOR_INFO = { inductive: 1 };
const RECURSOR_INFO = { all: 1 };
const SAFE = 0;
/** Heartbeats, as a `USize`: a text may raise its own limit, so that of the request's time is the only one here. */
const NO_LIMIT = [0, 0, 0, 0];
/** A kernel's message may hold whole terms. */
const MAX_MESSAGE = 200;
/** Environments that texts begin in, of which it is known what the kernel takes; the least recently used goes first. */
const MAX_GROUNDS = 64;
/** Thrown where a text has another constant in the place of one that was there when it began. */
const REPLACED = new Error('a constant was replaced');

/**
 * @typedef {{constant: string, message: string}|null} Problem the constant that the kernel does not take, and why; null
 *   where it takes all
 */

/** @param {object} engine everything main.js has put together by then */
function createKernel({ rt, constants, timeout }) {
  const { exactName, isInKernel, kernelOf } = constants;
  /** environment → its ground, see `groundOf` */
  const grounds = new Map();

  /**
   * What the kernel says of constants of an environment.
   * @param {{library: number, below: number, env: number}} text `library`: the environment of the library's modules;
   *   `below`: the one that the text began in, as others may; `env`: the one at its end
   * @param {number[]} names
   * @returns {Problem[]} for each name, with all that it rests on
   */
  function problems({ library, below, env }, names) {
    const base = kernelOf(library);
    const ground = groundOf(base, below);
    const isOwn = (name) => !isInKernel(base, name) && constants.find(below, name) === null;
    try {
      for (const { name } of constants.closure(env, names, isOwn, exactName).values())
        if (!isOwn(name)) ground.problemOf(name);
    } finally {
      ground.settle();
    }
    try {
      return names.map(checker(base, env, ground).problemOf);
    } catch (error) {
      if (error !== REPLACED) throw error;
      return names.map(checker(base, env).problemOf);
    }
  }

  /** What is known of the constants of an environment that texts begin in. It lives as long as it is used. */
  function groundOf(base, env) {
    const ground = grounds.get(env) ?? newGround(base, env);
    grounds.delete(env);
    grounds.set(env, ground);
    if (grounds.size > MAX_GROUNDS) {
      const [oldest, { forget }] = grounds.entries().next().value;
      grounds.delete(oldest);
      forget();
    }
    return ground;
  }
  function newGround(base, env) {
    [base, env].forEach(rt.keep);
    const ground = checker(base, env);
    let kept = rt.keep(ground.kernel());
    return {
      ...ground,
      /** Keeps what was added since. */
      settle() {
        const old = kept;
        kept = rt.keep(ground.kernel());
        rt.drop(old);
      },
      forget: () => [base, env, kept].forEach(rt.drop),
    };
  }

  /**
   * Adds constants of an environment to the kernel's own, as they are asked for.
   * @param {number} base the kernel's environment of the library
   * @param {number} env
   * @param {object} [ground] a checker of an environment that `env` goes on from: what it has added is not added again
   */
  function checker(base, env, ground = null) {
    const { add, kernel } = adder(ground === null ? base : ground.kernel());
    const answers = new Map();

    /** @returns {Problem} */
    function problemOf(name) {
      const key = exactName(name);
      const known = ground?.answer(key) ?? answers.get(key);
      if (known !== undefined) {
        if (known.info !== null && known.info !== constants.find(env, name)) throw REPLACED;
        return known.problem;
      }
      const info = isInKernel(base, name) ? null : constants.find(env, name);
      const answer = { info, problem: refused(name, 'it rests on itself') };
      answers.set(key, answer);
      answer.problem = isInKernel(base, name) ? null : problemOfOwn(name, info);
      return answer.problem;
    }
    const refused = (name, message) => ({ constant: constants.userName(name), message });

    function problemOfOwn(name, info) {
      if (info === null) return refused(name, 'it is not there');
      const { uses, declare } = planOf(env, name, info);
      for (const used of uses) {
        const problem = problemOf(used);
        if (problem !== null) return problem;
      }
      const error = declare === null ? null : add(declare());
      if (error !== null) return refused(name, error);
      return isInKernel(kernel(), name) ? null : refused(name, 'the kernel makes no such constant');
    }

    return { problemOf, answer: (key) => answers.get(key), kernel };
  }

  /** A kernel's environment that grows. */
  function adder(base) {
    let kernel = base;
    /** Adds a declaration; what the kernel has against it, on one line, or null. */
    function add(declaration) {
      const args = [kernel, rt.constructor(0, [], NO_LIMIT), declaration, timeout.cancelToken()];
      const answer = rt.call('l_Lean_Kernel_Environment_addDeclCore', ...args);
      const outcome = rt.field(answer, 0);
      if (rt.tag(answer) === 1) {
        kernel = outcome;
        return null;
      }
      const options = rt.constant('l_Lean_Options_empty');
      const message = rt.call('l_Lean_Kernel_Exception_toMessageData', outcome, options);
      return messageText(rt, message).replace(/\s+/g, ' ').slice(0, MAX_MESSAGE);
    }

    return { add, kernel: () => kernel };
  }

  /**
   * What must be there before a constant, and what makes its declaration: null where that of something else adds it.
   * @returns {{uses: number[], declare: (() => number)|null}}
   */
  function planOf(env, name, info) {
    const details = constants.details(info);
    switch (constants.kind(info)) {
      case 'quot':
        return { uses: [rt.name('Eq')], declare: () => rt.box(QUOTIENTS) };
      case 'constructor':
        return { uses: [rt.field(details, CONSTRUCTOR_INFO.inductive)], declare: null };
      case 'recursor':
        return { uses: rt.listItems(rt.field(details, RECURSOR_INFO.all)), declare: null };
      case 'inductive':
        return planOfInductive(env, name, info);
      default:
        return { uses: constants.uses(info), declare: () => declarationOf(info) };
    }
  }

  /** A mutual group of inductive types is added as a whole, with the first of them. */
  function planOfInductive(env, name, info) {
    const names = rt.listItems(rt.field(constants.details(info), INDUCTIVE_INFO.all));
    if (names.length === 0 || exactName(names[0]) !== exactName(name))
      return { uses: names.slice(0, 1), declare: null };
    const types = groupOf(env, info);
    const members = types.flatMap((one) => [one, ...one.constructors]);
    const own = new Set(members.map((one) => exactName(one.name)));
    const uses = members
      .flatMap((one) => constants.usedIn(constants.type(one.info)))
      .filter((used) => !own.has(exactName(used)));
    return { uses, declare: () => inductiveDeclaration(info, types) };
  }
  /** The types of a mutual group, each with its constructors. */
  function groupOf(env, info) {
    const names = rt.listItems(rt.field(constants.details(info), INDUCTIVE_INFO.all));
    const constructorsOf = (one) =>
      rt.listItems(rt.field(constants.details(one), INDUCTIVE_INFO.constructors));
    return described(env, names)
      .filter((one) => constants.kind(one.info) === 'inductive')
      .map((one) => ({ ...one, constructors: described(env, constructorsOf(one.info)) }));
  }
  /** How many parameters a type has. */
  const parametersOf = (info) =>
    rt.unbox(rt.field(constants.details(info), INDUCTIVE_INFO.parameters));
  const described = (env, names) =>
    names
      .map((name) => ({ name, info: constants.find(env, name) }))
      .filter(({ info }) => info !== null);

  function inductiveDeclaration(info, types) {
    const typed = (one, ...more) => rt.constructor(0, [one.name, constants.type(one.info), ...more]);
    const made = types.map((one) => typed(one, rt.list(one.constructors.map((c) => typed(c)))));
    const parameters = rt.field(constants.details(info), INDUCTIVE_INFO.parameters);
    const levels = rt.list(constants.levelParams(info));
    return rt.constructor(INDUCTIVE, [levels, parameters, rt.list(made)], [SAFE]);
  }

  /** The `Declaration` that adds an axiom, a definition, a theorem or an opaque constant; null for other kinds. */
  function declarationOf(info) {
    const which = DECLARATION[constants.kind(info)];
    return which === undefined ? null : rt.constructor(which, [constants.details(info)]);
  }

  return { problems, declarationOf, planOf, groupOf, parametersOf, adder };
}

module.exports = { createKernel };
