'use strict';
/**
 * An image is the memory of an engine that has begun its session and elaborated nothing yet, in a file: a length of four
 * bytes, so much JSON, then the blocks of the memory that are not all zero. Whoever has its memory has the session.
 */

const crypto = require('node:crypto');
const fs = require('node:fs');
const { writeAll } = require('./lines.js');

const STDOUT = 1;
/** A page of WebAssembly. */
const PAGE = 65536;
const LENGTH_BYTES = 4;
const ZEROS = Buffer.alloc(PAGE);

const pagesOf = (memory, first, count) => Buffer.from(memory.buffer, first * PAGE, count * PAGE);

const isFilled = (memory, page) => !pagesOf(memory, page, 1).equals(ZEROS);

/** Runs of pages that are not all zero: [first page, number]. */
function filledRuns(memory) {
  const runs = [];
  for (let page = 0; page < memory.buffer.byteLength / PAGE; page++) {
    if (!isFilled(memory, page)) continue;
    const last = runs.at(-1);
    if (last !== undefined && last[0] + last[1] === page) last[1] += 1;
    else runs.push([page, 1]);
  }
  return runs;
}

function digestOf(memory, runs) {
  const digest = crypto.createHash('sha256');
  for (const [first, count] of runs) digest.update(pagesOf(memory, first, count));
  return digest.digest('hex');
}

/** Writes the image to the standard output; a thread of Lean's own would be missing from it. */
function writeImage(rt, session) {
  if (rt.module.PThread.runningWorkers.length > 0) throw new Error('a task has run before the session began');
  const memory = rt.module.wasmMemory_();
  const runs = filledRuns(memory);
  const pages = memory.buffer.byteLength / PAGE;
  const header = Buffer.from(JSON.stringify({ session, pages, runs, digest: digestOf(memory, runs) }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(header.length);
  writeAll(STDOUT, Buffer.concat([length, header]));
  for (const [first, count] of runs) writeAll(STDOUT, pagesOf(memory, first, count));
}

/** The session of an image, and `restore`, which copies it into the memory of a new instance, before `startThreads`. */
function openImage(file) {
  const descriptor = fs.openSync(file);
  const length = read(Buffer.alloc(LENGTH_BYTES), 0).readUInt32LE();
  const { session, pages, runs, digest } = JSON.parse(read(Buffer.alloc(length), LENGTH_BYTES));
  let isChecked = false;

  function read(target, start) {
    const bytes = fs.readSync(descriptor, target, 0, target.length, start);
    if (bytes < target.length) throw new Error('the image is incomplete');
    return target;
  }
  function restore(rt) {
    const memory = rt.module.wasmMemory_();
    const own = memory.buffer.byteLength / PAGE;
    for (let page = 0; page < own; page++) if (isFilled(memory, page)) pagesOf(memory, page, 1).fill(0);
    memory.grow(pages - own);
    let position = LENGTH_BYTES + length;
    for (const [first, count] of runs) {
      read(pagesOf(memory, first, count), position);
      position += count * PAGE;
    }
    if (!isChecked && digestOf(memory, runs) !== digest) throw new Error('the image is damaged');
    isChecked = true;
  }
  return { session, restore };
}

module.exports = { writeImage, openImage };
