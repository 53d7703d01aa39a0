'use strict';
/**
 * Pantograph's option `timeout`: Lean asks a token now and then whether to go on. JavaScript cannot set it while Lean
 * runs in the same thread, so another thread does, in the memory that both share.
 */

const { Worker } = require('node:worker_threads');
const { RequestError } = require('./errors.js');

const VALUE_OF_REF = 8;
const TRUE = 3; // box(1)
/** Words of the block that the threads share. */
const WORD = { count: 0, address: 1, milliseconds: 2, state: 3 };
/** An order is idle, waits for its time, is being carried out, or is done: so no late one hits another request. */
const STATE = { idle: 0, armed: 1, firing: 2, fired: 3 };

const WATCH = `
const { workerData: { memory, control } } = require('node:worker_threads');
for (let seen = 0; ; seen = Atomics.load(control, ${WORD.count})) {
  Atomics.wait(control, ${WORD.count}, seen);
  const order = Atomics.load(control, ${WORD.count});
  if (Atomics.load(control, ${WORD.state}) !== ${STATE.armed}) continue;
  const limit = Atomics.load(control, ${WORD.milliseconds});
  if (Atomics.wait(control, ${WORD.count}, order, limit) !== 'timed-out') continue;
  if (Atomics.compareExchange(control, ${WORD.state}, ${STATE.armed}, ${STATE.firing}) !== ${STATE.armed}) continue;
  Atomics.store(new Int32Array(memory.buffer), Atomics.load(control, ${WORD.address}) >>> 2, ${TRUE});
  Atomics.store(control, ${WORD.state}, ${STATE.fired});
}
`;

/** @param {object} engine everything main.js has put together by then */
function createTimeout({ rt, settings }) {
  let control = null;
  let token = null;

  function start() {
    const size = 4 * Object.keys(WORD).length;
    control = new Int32Array(new SharedArrayBuffer(size));
    const workerData = { memory: rt.module.wasmMemory_(), control };
    new Worker(WATCH, { eval: true, workerData }).unref();
  }
  function notify() {
    Atomics.add(control, WORD.count, 1);
    Atomics.notify(control, WORD.count);
  }
  function arm(address, milliseconds) {
    Atomics.store(control, WORD.address, address);
    Atomics.store(control, WORD.milliseconds, milliseconds);
    Atomics.store(control, WORD.state, STATE.armed);
    notify();
  }
  function disarm() {
    const before = Atomics.compareExchange(control, WORD.state, STATE.armed, STATE.idle);
    if (before !== STATE.armed) {
      while (Atomics.load(control, WORD.state) !== STATE.fired);
      Atomics.store(control, WORD.state, STATE.idle);
    }
    notify();
  }

  /**
   * Runs a request under the session's limit of time.
   * @template T
   * @param {() => T} body
   * @returns {T}
   */
  function limited(body) {
    if (settings.timeout === 0) return body();
    if (control === null) start();
    return rt.scope(() => {
      token = rt.newRef(rt.box(0));
      arm(token + VALUE_OF_REF, settings.timeout);
      try {
        const answer = body();
        // what Lean's front end was doing is only cut short; half an answer would pass for a whole one
        if (isOver()) throw overdue();
        return answer;
      } catch (error) {
        throw isOver() ? overdue() : error;
      } finally {
        disarm();
        token = null;
      }
    });
  }
  const isOver = () => rt.readRef(token) === TRUE;
  const overdue = () =>
    new RequestError('internal', `interrupt: it took longer than ${settings.timeout} ms`);

  /** An `Option IO.CancelToken` for Lean's contexts. */
  const cancelToken = () => (token === null ? rt.none : rt.some(token));

  return { limited, cancelToken };
}

module.exports = { createTimeout };
