'use strict';
/**
 * Where C++ catches exceptions, it calls functions through `invoke_…`. Emscripten writes these in JavaScript, so each such
 * call leaves WebAssembly and enters it again. Here they are WebAssembly. Only exceptions with our tag, which are those of
 * C++ and longjmp, are caught; traps and JavaScript errors pass through. Unlike in JavaScript, a call must match its
 * function's type exactly; of the calls with a fixed target only one in `run_shell_main`, which nothing runs, does not.
 */

const PREFIX = 'invoke_';
/** WebAssembly's types, and constants that are zero, by Emscripten's letters. */
const TYPES = { i: 0x7f, j: 0x7e, f: 0x7d, d: 0x7c };
const ZEROS = { v: [], i: [0x41, 0], j: [0x42, 0], f: [0x43, 0, 0, 0, 0], d: [0x44, 0, 0, 0, 0, 0, 0, 0, 0] };
const [FUNCTION_TYPE, ANY_FUNCTION, NOTHING] = [0x60, 0x70, 0x40];
const [FUNCTION, TABLE, TAG] = [0, 1, 4];
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const [BLOCK, END, RETURN, CALL_INDIRECT, TRY_TABLE] = [0x02, 0x0b, 0x0f, 0x11, 0x1f];
/** One clause: on tag 0, branch to the enclosing block (depth 0). */
const CATCH = [1, 0, 0, 0];
const [LOCAL_GET, LOCAL_SET, CONSTANT] = [0x20, 0x21, 0x41];
/** What an invoker does first, and what it does after an exception. */
const [STACK, RESTORE, SET_THREW] = ['emscripten_stack_get_current', '_emscripten_stack_restore', 'setThrew'];

/** LEB128 of a number that is not negative; its sign bit is clear, so it may stand for a signed one. */
const number = (value) => (value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...number(value >>> 7)]);
const vector = (items) => [...number(items.length), ...items.flat()];
const bytesOf = (bytes) => [...number(bytes.length), ...bytes];
const text = (string) => bytesOf(Buffer.from(string));

/**
 * The invokers by their names, such as `invoke_vij`: the result, then the parameters; an invoker has one more, the place
 * of a function in the table, which `placeOf` gives by its name.
 */
function createInvokers(names, table, tag, placeOf) {
  const bytes = Uint8Array.from(moduleOf(names, placeOf));
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { table, tag } }).exports;
}

/** The bytes of the module. */
function moduleOf(names, placeOf) {
  const signatures = [];
  function typeOf(signature) {
    if (!signatures.includes(signature)) signatures.push(signature);
    return number(signatures.indexOf(signature));
  }
  const call = (signature) => [CALL_INDIRECT, ...typeOf(signature), 0];
  function callNamed(name, signature) {
    const place = placeOf(name);
    if (!(place > 0)) throw new Error(`lean.wasm has no function ${name}`);
    return [CONSTANT, ...number(place), ...call(signature)];
  }

  function codeOf(name) {
    const [result, ...parameters] = name.slice(PREFIX.length);
    const stack = number(parameters.length + 1);
    const body = [
      [...callNamed(STACK, 'i'), LOCAL_SET, ...stack],
      [BLOCK, NOTHING, TRY_TABLE, TYPES[result] ?? NOTHING, ...CATCH],
      ...parameters.map((_, i) => [LOCAL_GET, ...number(i + 1)]),
      [LOCAL_GET, 0, ...call([result, ...parameters].join('')), END, RETURN, END],
      [LOCAL_GET, ...stack, ...callNamed(RESTORE, 'vi')],
      [CONSTANT, 1, CONSTANT, 0, ...callNamed(SET_THREW, 'vii'), ...ZEROS[result], END],
    ].flat();
    return bytesOf([...vector([[1, TYPES.i]]), ...body]);
  }
  const code = names.map(codeOf);
  const functions = names.map((name) => typeOf(`${name[PREFIX.length]}i${name.slice(PREFIX.length + 1)}`));
  const imports = [
    [...text('env'), ...text('table'), TABLE, ANY_FUNCTION, 0, 0],
    [...text('env'), ...text('tag'), TAG, 0, ...typeOf('v')],
  ];
  const types = signatures.map(([result, ...parameters]) => [
    FUNCTION_TYPE,
    ...bytesOf(parameters.map((letter) => TYPES[letter])),
    ...bytesOf(result === 'v' ? [] : [TYPES[result]]),
  ]);
  const exported = names.map((name, i) => [...text(name), FUNCTION, ...number(i)]);
  const sections = [[1, types], [2, imports], [3, functions], [7, exported], [10, code]];
  return [...HEADER, ...sections.flatMap(([id, items]) => [id, ...bytesOf(vector(items))])];
}

module.exports = { PREFIX, createInvokers };
