'use strict';
/**
 * A limit of time for a request: Lean asks a token now and then whether to go on. JavaScript cannot set it while Lean
 * runs in the same thread, so another thread does, in the memory that both share.
 */

const { Worker } = require('node:worker_threads');

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

function createTimeout(rt) {
  let control = null;
  const threads = [];
  /** Kept while an order is out: the watching thread writes into it. */
  let token = null;

  function start() {
    const size = 4 * Object.keys(WORD).length;
    control = new Int32Array(new SharedArrayBuffer(size));
    const workerData = { memory: rt.module.wasmMemory_(), control };
    const watch = new Worker(WATCH, { eval: true, workerData });
    watch.unref();
    threads.push(watch);
  }
  function notify() {
    Atomics.add(control, WORD.count, 1);
    Atomics.notify(control, WORD.count);
  }

  /** Sets a token (an `IO.Ref Bool`) in so many milliseconds, unless it is disarmed before. */
  function arm(ref, milliseconds) {
    if (control === null) start();
    disarm();
    token = rt.keep(ref);
    Atomics.store(control, WORD.address, token + VALUE_OF_REF);
    Atomics.store(control, WORD.milliseconds, milliseconds);
    Atomics.store(control, WORD.state, STATE.armed);
    notify();
  }
  function disarm() {
    if (token === null) return;
    const before = Atomics.compareExchange(control, WORD.state, STATE.armed, STATE.idle);
    if (before !== STATE.armed) {
      while (Atomics.load(control, WORD.state) !== STATE.fired);
      Atomics.store(control, WORD.state, STATE.idle);
    }
    notify();
    rt.drop(token);
    token = null;
  }

  return { arm, disarm, threads };
}

module.exports = { createTimeout };
