'use strict';
/**
 * Makes Lean's interpreter leave a mark when it runs.
 *
 * All of Lean's own code is compiled in this build, so that a program of a text (`#eval`, `run_cmd`, `elab`, `initialize`,
 * a macro, a linter) can only be run by the interpreter, whatever started it, in whichever thread. Its functions are
 * therefore given a first instruction that overwrites a word of the memory. What stands there otherwise is a secret that
 * only JavaScript knows: a program that writes to memory as it likes can't put it back.
 */

/** Words of the memory below what the linker gives to anything. */
const MARKS = { evaluated: 512, called: 516 };
/**
 * The functions, by number, with the size of their bodies, by which we know that it is the build that these numbers are
 * from. `evaluated`: a body is interpreted, if only that of a constant. `called`: a function runs, called by interpreted
 * code or, as a closure, by Lean's own; or an initializer does.
 */
const MARKED = new Map([
  [1745, { size: 4614, mark: 'evaluated' }], // lean::ir::interpreter::eval_body
  [1772, { size: 3078, mark: 'called' }], // …::call
  [1788, { size: 880, mark: 'called' }], // …::run_init
  // …::stub_1_aux to stub_16_aux and stub_m_aux
  ...[42, 49, 56, 60, 67, 74, 81, 88, 95, 102, 109, 116, 123, 130, 137, 144, 440].map((size, i) => [
    1748 + i,
    { size, mark: 'called' },
  ]),
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

/** `i32.const ADDRESS; i32.const 0; i32.store`; addresses from 64 to 8191 take two bytes. */
const overwrite = (address) =>
  Buffer.from([0x41, (address & 0x7f) | 0x80, address >> 7, 0x41, 0x00, 0x36, 0x02, 0x00]);

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
      const code = overwrite(MARKS[marked.mark]);
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

module.exports = { MARKS, withMarks };
