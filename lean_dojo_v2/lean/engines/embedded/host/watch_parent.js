'use strict';
/**
 * Ends the engine when the program that started it is gone, even while Lean runs in an endless loop.
 *
 * An idle engine sees the end of its input. A busy one does not: its main thread is inside Lean. So a thread of its own
 * looks once a second whether the parent is still the same. Loaded by launch.py with `--require`, before anything else.
 */

const { isMainThread, Worker, workerData } = require('node:worker_threads');

const INTERVAL_MS = 1000;

if (isMainThread) {
  // Worker threads load this file as well (`--require` is inherited) and do nothing in it, but for this one.
  new Worker(__filename, {
    workerData: { watchParent: process.ppid },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 16 },
  }).unref();
} else if (workerData && workerData.watchParent) {
  setInterval(() => {
    if (process.ppid !== workerData.watchParent) process.kill(process.pid, 'SIGKILL');
  }, INTERVAL_MS);
}
