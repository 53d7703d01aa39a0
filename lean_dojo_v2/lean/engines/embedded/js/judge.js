'use strict';
/**
 * `dojo.judge`: what Lean's kernel says of theorems that another process has elaborated.
 *
 * This process has only the library, and runs nothing of theirs: it gets finished declarations as data (importing.js),
 * and the kernel adds each to the library's environment. Axioms and statements are read from what the kernel took.
 */

const { RequestError } = require('./errors.js');
const { checkedExport, leanObjects, partsOf } = require('./importing.js');

/** @param {object} engine everything main.js put together */
function judgeCommands(engine) {
  const { rt, constants, environments, kernel, statements, taint } = engine;

  function judge({ export: data }) {
    if (taint.is())
      throw new RequestError('tainted', 'this engine has run a program of a text; ask another one');
    checkedExport(data);
    const library = environments.importModules(data.imports);
    return rt.scope(() => {
      const { names, declaration } = leanObjects(rt, data);
      const problems = problemsOf(data, names);
      const adder = kernel.adder(constants.kernelOf(library));
      for (const row of data.declarations) {
        const error = adder.add(declaration(row));
        if (error !== null) problems.note(row, error);
      }
      const env = { kernel: adder.kernel() };
      const judged = Object.entries(data.theorems).map(([word, i]) => [
        word,
        described(env, library, names[i], problems.of(i)),
      ]);
      return { declarations: Object.fromEntries(judged) };
    });
  }

  /** Which constants rest on something that the kernel has refused. */
  function problemsOf(data, names) {
    const rowOf = new Map();
    data.declarations.forEach((row) => partsOf(row).adds.forEach((i) => rowOf.set(i, row)));
    const refused = new Map();
    const answers = new Map();
    /** The rows that a row mentions. */
    function uses(row) {
      const [seen, found, pending] = [new Set(), new Set(), [...partsOf(row).holds]];
      while (pending.length > 0) {
        const i = pending.pop();
        if (seen.has(i)) continue;
        seen.add(i);
        const [kind, first, second, third, fourth] = data.exprs[i];
        if (kind === 'const') found.add(rowOf.get(first));
        else if (kind === 'app') pending.push(first, second);
        else if (kind === 'lam' || kind === 'pi') pending.push(second, third);
        else if (kind === 'let') pending.push(second, third, fourth);
        else if (kind === 'proj') pending.push(third);
      }
      found.delete(undefined);
      return found;
    }
    function ofRow(row) {
      if (answers.has(row)) return answers.get(row);
      answers.set(row, null);
      let answer = null;
      for (const used of uses(row)) answer ??= used === row ? null : ofRow(used);
      answer ??= refused.get(row) ?? null;
      answers.set(row, answer);
      return answer;
    }
    return {
      note(row, message) {
        const [first] = partsOf(row).adds;
        refused.set(row, { constant: constants.userName(names[first]), message });
      },
      of: (i) => (rowOf.has(i) ? ofRow(rowOf.get(i)) : null),
    };
  }

  function described(env, library, name, problem) {
    const info = constants.find(env, name);
    if (info === null || !constants.isBeyond(library)(name))
      return { exists: false, kernel: problem };
    return {
      exists: true,
      kind: constants.kind(info),
      lean_name: rt.nameText(name),
      statement: statements.digest(env, library, info),
      ...constants.restsOn(env, [name], library),
      kernel: problem,
    };
  }

  return { 'dojo.judge': judge };
}

module.exports = { judgeCommands };
