'use strict';
/**
 * A limit of time for a request: Lean asks a token now and then whether to go on. JavaScript cannot set it while Lean
 * runs in the same thread, so another thread does, in the memory that both share.
 */

const { Worker } = require('node:worker_threads');

const VALUE_OF_REF = 8;
const TRUE = 3; // box(1)
/**
 * Words that the threads share: a count, odd while an order is out; the order's limit, and where its token's value is;
 * the last order that was carried out. (The token cannot say it: Lean may put back what it read before.)
 */
const [COUNT, MILLISECONDS, PLACE, DONE] = [0, 1, 2, 3];

/** Whoever counts an order out ends it: so no late one hits another request. */
const WATCH = `
const { workerData: { memory, control } } = require('node:worker_threads');
for (;;) {
  const order = Atomics.load(control, ${COUNT});
  const limit = order % 2 === 0 ? Infinity : Atomics.load(control, ${MILLISECONDS});
  if (Atomics.wait(control, ${COUNT}, order, limit) !== 'timed-out') continue;
  const place = Atomics.load(control, ${PLACE});
  if (Atomics.compareExchange(control, ${COUNT}, order, order + 1) !== order) continue;
  Atomics.store(new Int32Array(memory.buffer), place, ${TRUE});
  Atomics.store(control, ${DONE}, order);
}
`;

function createTimeout(rt) {
  const control = new Int32Array(new SharedArrayBuffer(16));
  const threads = [];
  let order = 0;
  /** Kept while an order is out: the watching thread writes into it. */
  let token = null;

  /** Sets a token (an `IO.Ref Bool`) in so many milliseconds, unless it is disarmed before. */
  function arm(ref, milliseconds) {
    if (threads.length === 0) {
      const workerData = { memory: rt.module.wasmMemory_(), control };
      threads.push(new Worker(WATCH, { eval: true, workerData }));
      threads[0].unref();
    }
    token = rt.keep(ref);
    Atomics.store(control, MILLISECONDS, milliseconds);
    Atomics.store(control, PLACE, (token + VALUE_OF_REF) >>> 2);
    order = Atomics.add(control, COUNT, 1) + 1;
    Atomics.notify(control, COUNT);
  }
  function disarm() {
    const isOver = Atomics.compareExchange(control, COUNT, order, order + 1) !== order;
    if (isOver) while (Atomics.load(control, DONE) !== order);
    rt.drop(token);
  }

  return { arm, disarm, threads };
}

module.exports = { createTimeout };
