'use strict';
/**
 * Ends the engine when the program that started it is gone, even while Lean runs in an endless loop.
 *
 * An idle engine sees the end of its input. A busy one does not: its main thread is inside Lean. So a thread of its own
 * looks once a second whether the parent is still the same.
 */

const { Worker } = require('node:worker_threads');

const WATCH = `setInterval(() => {
  if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL');
}, 1000);`;
const LIMITS = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 16 };

new Worker(WATCH, { eval: true, resourceLimits: LIMITS }).unref();
