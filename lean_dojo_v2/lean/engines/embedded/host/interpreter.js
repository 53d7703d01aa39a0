'use strict';
/**
 * Makes Lean's interpreter leave a mark when it runs anything but our program.
 *
 * All of Lean's own code is compiled in this build, so that a program of a text (`#eval`, `run_cmd`, `elab`, `initialize`,
 * a macro, a linter) can only be run by the interpreter, whatever started it, in whichever thread; and so is our program,
 * in an environment of its own. The interpreter's functions are therefore given first instructions that overwrite a word
 * of the memory where the environment is another one. What stands there otherwise is a secret that only JavaScript knows:
 * a program that writes to memory as it likes can't put it back.
 */

const crypto = require('node:crypto');

/** Words of the memory below what the linker gives to anything: the secret, and the address of our environment. */
const WORDS = { mark: 512, environment: 516 };
const BYTES_OF_WORD = 4;
/** Where an interpreter has a reference to its environment. */
const ENVIRONMENT_OFFSET = 36;
/**
 * The functions, by number, with the size of their bodies, by which we know that it is the build that these numbers are
 * from; `self`: which parameter is the interpreter.
 */
const MARKED = new Map([
  [1772, { size: 3078, self: 1 }], // lean::ir::interpreter::call: interpreted code calls a function
  [1776, { size: 616, self: 0 }], // …::stub_m: Lean's own code calls an interpreted function as a closure
  [1788, { size: 880 }], // …::run_init: an initializer runs
]);
const IMPORTED_FUNCTIONS = 192;
const CODE_SECTION = 10;
const HEADER_BYTES = 8;

/** An unsigned LEB128 number: its value, and where the next byte is. */
function readNumber(bytes, start) {
  let [value, position] = [0, start];
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[position++];
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, position];
  }
}
function numberBytes(value) {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 0x80);
  }
}

/** `i32.const ADDRESS`; addresses from 64 to 8191 take two bytes. */
const addressOf = (word) => [0x41, (word & 0x7f) | 0x80, word >> 7];
/** `i32.load offset=OFFSET` */
const load = (offset) => [0x28, 0x02, offset];
/** `i32.const MARK; i32.const 0; i32.store` */
const OVERWRITE = [...addressOf(WORDS.mark), 0x41, 0x00, 0x36, 0x02, 0x00];

/** The first instructions of a function: `if (self.environment !== ours) overwrite`. */
function instructionsFor({ self }) {
  if (self === undefined) return Buffer.from(OVERWRITE);
  const theirs = [0x20, self, ...load(ENVIRONMENT_OFFSET), ...load(0)];
  const ours = [...addressOf(WORDS.environment), ...load(0)];
  return Buffer.from([...theirs, ...ours, 0x47, 0x04, 0x40, ...OVERWRITE, 0x0b]);
}

function sectionOf(wasm, wanted) {
  for (let position = HEADER_BYTES; position < wasm.length; ) {
    const id = wasm[position];
    const [size, start] = readNumber(wasm, position + 1);
    if (id === wanted) return { header: position, start, end: start + size };
    position = start + size;
  }
  throw new Error('lean.wasm has no code');
}

/** Where the instructions of a body begin: behind the declarations of its local variables. */
function behindLocals(wasm, body) {
  let [groups, position] = readNumber(wasm, body);
  for (; groups > 0; groups -= 1) position = readNumber(wasm, position)[1] + 1;
  return position;
}

/**
 * @param {Buffer} wasm lean.wasm as published
 * @returns {Buffer} the same program, with the marks
 */
function withMarks(wasm) {
  const { header, start, end } = sectionOf(wasm, CODE_SECTION);
  const [, first] = readNumber(wasm, start);
  const parts = [];
  let [index, position, kept] = [IMPORTED_FUNCTIONS, first, start];
  for (let left = MARKED.size; left > 0; index += 1) {
    const [size, body] = readNumber(wasm, position);
    const marked = MARKED.get(index);
    if (marked !== undefined) {
      if (size !== marked.size) throw new Error('lean.wasm is another build than this engine is for');
      const code = instructionsFor(marked);
      const instructions = behindLocals(wasm, body);
      parts.push(wasm.subarray(kept, position), numberBytes(size + code.length));
      parts.push(wasm.subarray(body, instructions), code);
      kept = instructions;
      left -= 1;
    }
    position = body + size;
  }
  parts.push(wasm.subarray(kept, end));
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const id = wasm.subarray(header, header + 1);
  return Buffer.concat([wasm.subarray(0, header), id, numberBytes(length), ...parts, wasm.subarray(end)]);
}

/**
 * Sets the mark.
 * @param {object} rt the runtime
 * @param {number} environment our program's
 * @returns {() => boolean} whether anything else has been interpreted since
 */
function watchInterpreter(rt, environment) {
  const words = () => new Int32Array(rt.module.wasmMemory_().buffer, 0, 256);
  const secret = crypto.randomInt(1, 2 ** 31 - 1);
  words()[WORDS.environment / BYTES_OF_WORD] = environment;
  words()[WORDS.mark / BYTES_OF_WORD] = secret;
  return () => words()[WORDS.mark / BYTES_OF_WORD] !== secret;
}

module.exports = { withMarks, watchInterpreter };
