'use strict';
/**
 * What `#print axioms` says. Theorems of the library have no proofs in the package, so Lean itself would list each of
 * them as an axiom.
 */

const { INFO, TERM_INFO } = require('./infotree.js');
const { EXPR } = require('./expressions.js');

const PRINT_AXIOMS = 'Lean.Parser.Command.printAxioms';

/** @param {object} engine everything main.js has put together by then */
function createAxiomPrinter({ rt, trees, constants }) {
  /**
   * The messages of a command, with what `#print axioms` says put right.
   * @param {string} kind the command's syntax kind
   * @param {object[]} messages Lean's own
   * @param {number[]} infoTrees what it asked about
   * @param {number} env
   */
  function corrected(kind, messages, infoTrees, env) {
    if (kind !== PRINT_AXIOMS) return messages;
    const asked = constantsIn(infoTrees);
    const answers = messages.filter((message) => message.severity === 'information');
    if (asked.length !== answers.length) return messages;
    answers.forEach((message, i) => {
      message.data = sentence(env, asked[i]);
    });
    return messages;
  }

  function constantsIn(infoTrees) {
    const found = [];
    trees.walk(infoTrees, (info) => {
      if (rt.tag(info) !== INFO.term) return;
      const e = rt.field(rt.field(info, 0), TERM_INFO.expr);
      if (rt.tag(e) === EXPR.const) found.push(rt.field(e, 0));
    });
    return found;
  }

  function sentence(env, name) {
    const { axioms, library_theorems: unseen } = constants.restsOn(env, [name]);
    const names = axioms.map((axiom) => axiom.name).sort();
    const known =
      names.length === 0
        ? `'${constants.userName(name)}' does not depend on any axioms`
        : `'${constants.userName(name)}' depends on axioms: [${names.join(', ')}]`;
    if (unseen === 0) return known;
    const theorems = unseen === 1 ? "a theorem of Lean's library" : `${unseen} theorems of Lean's library`;
    return `${known}, besides those of ${theorems}: the embedded engine has no proofs of these`;
  }

  return { corrected };
}

module.exports = { createAxiomPrinter };
