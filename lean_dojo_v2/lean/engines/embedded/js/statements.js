'use strict';
/** What a theorem states, as a digest. */

const { canonical } = require('./expressions.js');
const { sha256 } = require('./text.js');

/** Constants that stand for what they say: one of the same content is the same. */
const TRANSPARENT = new Set(['def', 'theorem']);

/** @param {object} engine everything main.js has put together by then */
function createStatements({ rt, constants }) {
  const { exactName, kind } = constants;

  /**
   * A digest of a statement with all the definitions it rests on, so that a redefined symbol is a different statement.
   * Definitions go by what they say, not by their names: Lean makes many by itself (matchers, parts of proofs), and takes
   * one that is there already, of whatever declaration. Types, axioms and opaque constants have their names as well.
   * @param {number} env
   * @param {number} library the environment of the library's modules that it is built on
   * @param {number} info the theorem
   */
  function digest(env, library, info) {
    const isLocal = constants.isBeyond(library);
    // How a theorem that is cited was proved says nothing.
    const said = (one) => [constants.type(one), kind(one) === 'theorem' ? null : constants.value(one)];
    const type = constants.type(info);
    const used = constants.closure(env, constants.usedIn(type), isLocal, exactName, said);
    const own = new Map([...used].filter(([, entry]) => entry.info !== null && isLocal(entry.name)));
    const isTransparent = (key) => own.has(key) && TRANSPARENT.has(kind(own.get(key).info));
    const labels = new Map();
    const label = (name) => {
      const key = exactName(name);
      if (!labels.has(key)) {
        labels.set(key, key); // for what mentions itself
        if (isTransparent(key)) labels.set(key, sha256(content(own.get(key).info)));
      }
      return labels.get(key);
    };
    const content = (one) => {
      const parameters = constants.levelParams(one).map(rt.nameText);
      const parts = kind(one) === 'def' ? [constants.type(one), constants.value(one)] : [constants.type(one)];
      return `${kind(one)}:${parts.map((e) => canonical(rt, e, parameters, label)).join(':')}`;
    };
    const named = [...own]
      .filter(([key]) => !isTransparent(key))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => `|${key}:${content(entry.info)}`);
    const universes = constants.levelParams(info).map(rt.nameText);
    return sha256(canonical(rt, type, universes, label) + named.join(''));
  }

  return { digest };
}

module.exports = { createStatements };
