'use strict';
/** Lean's code. The machine code that V8 has optimised is kept in a file: a digest of 32 bytes, then V8's own form. */

const crypto = require('node:crypto');
const fs = require('node:fs');
const { setTimeout } = require('node:timers/promises');
const { writeAll } = require('./lines.js');

const STDOUT = 1;
const DIGEST_BYTES = 32;
/** V8 optimises in other threads, which may have little of the processor. */
const [PAUSE_MS, LONGEST_WAIT_MS] = [1000, 20000];

const digestOf = (bytes) => crypto.createHash('sha256').update(bytes).digest();

/**
 * @param {string} file lean.wasm
 * @param {string} [kept] what `writeCode` has written; without it, or if V8 refuses it, everything is compiled
 * @returns {Promise<WebAssembly.Module>}
 */
async function openCode(file, kept) {
  const wire = fs.readFileSync(file);
  return (kept && readKept(kept, wire)) || WebAssembly.compile(wire);
}

function readKept(file, wire) {
  try {
    const bytes = fs.readFileSync(file);
    const compiled = bytes.subarray(DIGEST_BYTES);
    if (!digestOf(compiled).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
    const { buffer, byteOffset, length } = compiled;
    return require('./natives.js').deserialize(buffer.slice(byteOffset, byteOffset + length), wire);
  } catch {
    return undefined; // it only saves time
  }
}

/** Writes the machine code that V8 has optimised to the standard output, once V8 has nothing left to optimise. */
async function writeCode(code) {
  const { serialize } = require('./natives.js');
  let compiled = Buffer.from(serialize(code));
  for (let waited = 0; waited < LONGEST_WAIT_MS; waited += PAUSE_MS) {
    await setTimeout(PAUSE_MS);
    const more = Buffer.from(serialize(code));
    if (more.length === compiled.length) break;
    compiled = more;
  }
  writeAll(STDOUT, digestOf(compiled));
  writeAll(STDOUT, compiled);
}

module.exports = { openCode, readKept, writeCode };
