'use strict';
/** `frontend.track`: whether a text proves and defines what another one states. */

const { COMMAND_STATE } = require('./contexts.js');
const { isError } = require('./messages.js');

/** @param {object} engine everything main.js put together */
function trackCommands(engine) {
  const { rt, constants, frontend, kernel } = engine;

  function elaborated(file) {
    const session = engine.files.open({ file, header: false, scoped: true });
    const messages = [...session.messages];
    const end = frontend.run(session, (unit) => void messages.push(...unit.messages));
    const env = rt.field(end, COMMAND_STATE.env);
    const base = rt.field(session.state, COMMAND_STATE.env);
    const line = (name) => constants.declarationRange(env, name)?.start[0] ?? Infinity;
    const added = constants
      .added(base, env)
      .map(([name, info]) => ({ line: line(name), entry: [rt.nameText(name), info] }))
      .sort((a, b) => a.line - b.line || (a.entry[0] < b.entry[0] ? -1 : 1));
    return { messages, session, env, added: new Map(added.map(({ entry }) => entry)) };
  }

  const hasSorry = (e) => e !== null && rt.holds('l_Lean_Expr_hasSorry', e);
  const isSame = (a, b) => rt.holds('l_Lean_Expr_eqv', a, b);
  const levels = (info) => constants.levelParams(info).map(rt.nameText).join(' ');
  /** What Lean makes beside a declaration differs with its value, and states nothing. */
  const isInternal = (name) =>
    rt.holds('l_Lean_Name_isInternalDetail', rt.name(name)) || /\._\w+$/.test(name);

  function track({ src, dst }) {
    return rt.scope(() => {
      const [source, target] = [elaborated(src), elaborated(dst)];
      const failed = [source, target].some(({ messages }) => messages.some(isError));
      const failure = failed ? null : (difference(source, target) ?? unchecked(target));
      return {
        srcMessages: source.messages,
        dstMessages: target.messages,
        ...(failure === null ? {} : { failure }),
      };
    });
  }

  function difference(source, target) {
    for (const [name, info] of target.added) {
      if (hasSorry(constants.type(info))) return `the type of ${name} has a sorry`;
      if (hasSorry(constants.value(info))) return `the value of ${name} has a sorry`;
      const kind = constants.kind(info);
      const stated = source.added.get(name);
      if (stated === undefined) {
        if (kind === 'axiom') return `${name} is a new axiom`;
        continue;
      }
      if (!isSame(constants.type(stated), constants.type(info))) return `${name} has another type`;
      if (levels(stated) !== levels(info)) return `${name} has other universe parameters`;
      if (!fits(stated, info)) return `${name} is defined in another way`;
    }
    const missing = [...source.added.keys()].find(
      (name) => !target.added.has(name) && !isInternal(name),
    );
    return missing === undefined ? null : `${missing} is missing`;
  }

  /** What a program put there past the kernel. */
  function unchecked({ session: { library, below }, env, added }) {
    const theorems = [...added].filter(([, info]) => constants.kind(info) === 'theorem');
    const names = theorems.map(([, info]) => constants.nameOf(info));
    const problem = kernel.problems({ library, below, env }, names).find((one) => one !== null);
    return problem === undefined ? null : `the kernel refuses ${problem.constant}: ${problem.message}`;
  }

  /** Whether a constant is the one that was stated: only a value with a `sorry` may be another one. */
  function fits(stated, given) {
    if (constants.kind(stated) !== constants.kind(given)) return false;
    if (constants.isUnsafe(stated) !== constants.isUnsafe(given)) return false;
    const [was, is] = [stated, given].map(constants.value);
    return was === null || hasSorry(was) || isSame(was, is);
  }

  return { 'frontend.track': track };
}

module.exports = { trackCommands };
