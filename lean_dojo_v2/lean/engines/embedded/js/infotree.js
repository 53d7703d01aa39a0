'use strict';
/** Lean's information trees: what elaboration recorded about tactics, terms and names. */

/** Constructors of `InfoTree` and of `Info`. */
const TREE = { context: 0, node: 1 };
const INFO = { tactic: 0, term: 1, partialTerm: 2, command: 3, macroExpansion: 4 };
/** Fields of `CommandContextInfo`, which a `ContextInfo` begins with. */
const CONTEXT = { env: 0, mctx: 3, options: 4, currNamespace: 5, openDecls: 6, ngen: 7 };
const TACTIC_INFO = { elab: 0, mctxBefore: 1, goalsBefore: 2, mctxAfter: 3, goalsAfter: 4 };
const TERM_INFO = { elab: 0, lctx: 1, expectedType: 2, expr: 3 };
const SYNTAX = { missing: 0, node: 1, atom: 2, ident: 3 };

const SEQUENCE = /^Lean\.Parser\.Tactic\.tacticSeq(1Indented|Bracketed)$/;

/** @param {object} engine everything main.js has put together by then */
function createInfoTrees({ rt }) {
  /**
   * Visits every node of some trees, parents first.
   * @param {number[]} trees
   * @param {(info: number, context: number, parents: number[]) => void} visit gets the node's `Info`, the merged
   *   `ContextInfo`, and the `Info`s above, outermost first
   */
  function walk(trees, visit) {
    trees.forEach((tree) => walkTree(tree, visit, null, []));
  }
  function walkTree(tree, visit, context, parents) {
    if (rt.tag(tree) === TREE.context) {
      const outer = context === null ? rt.none : rt.some(context);
      const merged = rt.call(
        'l_Lean_Elab_PartialContextInfo_mergeIntoOuter_x3f',
        rt.field(tree, 0),
        outer,
      );
      walkTree(rt.field(tree, 1), visit, rt.optional(merged), parents);
    } else if (rt.tag(tree) === TREE.node) {
      const info = rt.field(tree, 0);
      if (context !== null) visit(info, context, parents);
      parents.push(info);
      for (const child of rt.persistentArrayItems(rt.field(tree, 1)))
        walkTree(child, visit, context, parents);
      parents.pop();
    }
  }

  /** The byte range of syntax in Lean's text, or null for syntax that no source text stands for. */
  function syntaxRange(syntax) {
    if (rt.isScalar(syntax)) return null;
    const canonicalOnly = rt.YES;
    const at = (symbol) => rt.optional(rt.call(symbol, syntax, canonicalOnly));
    const start = at('l_Lean_Syntax_getPos_x3f');
    const end = start === null ? null : at('l_Lean_Syntax_getTailPos_x3f');
    return end === null ? null : [rt.unbox(start), rt.unbox(end)];
  }

  const syntaxOf = (info) => rt.field(rt.field(rt.field(info, 0), 0), 1);
  /** A syntax node's kind; '' for atoms, identifiers and missing syntax. */
  const kindOf = (syntax) =>
    !rt.isScalar(syntax) && rt.tag(syntax) === SYNTAX.node ? rt.nameText(rt.field(syntax, 1)) : '';

  const isSequence = (syntax) => SEQUENCE.test(kindOf(syntax));
  /** Whether a node with these `Info`s above is a member of a tactic sequence. */
  function isMember(parents) {
    const parent = parents.findLast((info) => rt.tag(info) === INFO.tactic);
    return parent !== undefined && isSequence(syntaxOf(parent));
  }

  /** Whether a `TermInfo` stands where its name is bound. */
  const isBinder = (info) => rt.scalarByte(rt.field(info, 0), 0) === 1;

  /** A part of a context by its name in `CONTEXT`. */
  const contextPart = (context, name) => rt.field(rt.field(context, 0), CONTEXT[name]);
  /** The declaration around, as Lean names it, or null. */
  const parentDeclaration = (context) => rt.optional(rt.field(context, 1));

  return {
    walk,
    syntaxRange,
    syntaxOf,
    kindOf,
    isSequence,
    isMember,
    isBinder,
    contextPart,
    parentDeclaration,
  };
}

module.exports = { createInfoTrees, INFO, TACTIC_INFO, TERM_INFO, SYNTAX };
