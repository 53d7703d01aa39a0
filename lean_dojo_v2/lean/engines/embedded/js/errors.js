'use strict';
/** An error of one request, answered as Pantograph does: {"error": kind, "desc": …}. Lean itself is unharmed. */
class RequestError extends Error {
  /**
   * @param {string} kind Pantograph's: command, index, operation, expr, parse, io, exception …
   * @param {string} desc one clear sentence
   */
  constructor(kind, desc) {
    super(desc);
    this.kind = kind;
  }
}

module.exports = { RequestError };
