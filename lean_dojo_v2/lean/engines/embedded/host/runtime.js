'use strict';
/**
 * The binding to Lean's runtime: objects, strings, constructors and calls, over the exports of the WebAssembly module.
 *
 * Lean objects are plain numbers here: odd ones are boxed scalars, even ones addresses in the module's memory
 * (32-bit layout: reference count, size, number of object fields, tag; then the fields).
 *
 * Ownership. Everything this file hands out belongs to the current *arena*, and is released when the arena closes;
 * `call` gives every argument a reference of its own. So callers never count references: they open an arena for each
 * unit of work (`scope`), and `keep` what must outlive it. The price is that Lean sees shared objects and copies on
 * update, which is what its language server does too.
 */

const OBJECT_HEADER = 8;
const TAG_CLOSURE = 245;
/** `box(0)`: `none`, `[]`, `false`, `()`, `Name.anonymous` and 0. */
const UNIT = 1;
/** The empty `NameMap` or `NameSet` (`box(1)`: the constructor `leaf` comes second). */
const EMPTY_MAP = 3;
/** `Bool`: `box(0)` and `box(1)`. */
const [NO, YES] = [1, 3];

/** An exception of Lean's `IO`, as a JavaScript one. */
class LeanIOError extends Error {}

/** Functions of the module by their names, each looked up once; undefined if there is none. */
function functionsOf(module) {
  const lookUp = (_, name) => {
    const place = module.symbols(name);
    return (found[name] = place >= 0 ? module.functionAt(place) : undefined);
  };
  const found = Object.create(new Proxy({}, { get: lookUp }));
  return found;
}

/** The runtime of an initialised Emscripten module (see boot.js); every function below is a member of it. */
function createRuntime(module) {
  const wasm = functionsOf(module);
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let views = { buffer: null };
  let arena = [];

  /** Views of the memory, which is shared and grows: those of an old size must not be used. */
  function memory() {
    const { buffer } = module.wasmMemory_();
    if (views.buffer !== buffer)
      views = { buffer, words: new Int32Array(buffer), bytes: new Uint8Array(buffer) };
    return views;
  }
  const word = (address) => memory().words[address >> 2];
  const byte = (address) => memory().bytes[address];
  const setWord = (address, value) => void (memory().words[address >> 2] = value);

  const box = (n) => (n << 1) | 1;
  const unbox = (o) => o >>> 1;
  const isScalar = (o) => (o & 1) === 1;

  /** Positive counts are this thread's own, negative ones are shared between threads, 0 is immortal. */
  function retain(o) {
    if (isScalar(o)) return o;
    const { words } = memory();
    const count = words[o >> 2];
    if (count > 0) words[o >> 2] = count + 1;
    else if (count < 0) Atomics.sub(words, o >> 2, 1);
    return o;
  }
  function release(o) {
    if (isScalar(o)) return;
    const { words } = memory();
    const count = words[o >> 2];
    if (count > 1) words[o >> 2] = count - 1;
    else if (count !== 0) wasm.lean_dec_ref_cold(o);
  }
  /** Puts an owned object under the current arena's care. */
  function adopt(o) {
    if (!isScalar(o)) arena.push(o);
    return o;
  }
  /** Runs `body` in an arena of its own. What it returns is an ordinary value, or an object it has kept. */
  function scope(body) {
    const outer = arena;
    arena = [];
    try {
      return body();
    } finally {
      for (let i = arena.length - 1; i >= 0; i--) release(arena[i]);
      arena = outer;
    }
  }

  const tag = (o) => (isScalar(o) ? unbox(o) : byte(o + 7));
  /** The i-th object field; lives as long as `o` does. */
  const field = (o, i) => word(o + OBJECT_HEADER + 4 * i);
  /** Writes a field of an object that lives for ever; the caller has kept the new value. */
  const setField = (o, i, value) => setWord(o + OBJECT_HEADER + 4 * i, value);
  function string(text) {
    const encoded = encoder.encode(text);
    const buffer = wasm.malloc(encoded.length + 1) >>> 0;
    memory().bytes.set(encoded, buffer);
    const o = wasm.lean_mk_string_from_bytes(buffer, encoded.length);
    wasm.free(buffer);
    return adopt(o);
  }
  /** The text of a Lean string (whose size counts a final NUL). */
  function text(o) {
    const size = word(o + 8);
    return decoder.decode(memory().bytes.slice(o + 20, o + 20 + size - 1));
  }

  function constructor(tagNumber, fields, scalars = []) {
    if (fields.length === 0 && scalars.length === 0) return box(tagNumber);
    const size = (OBJECT_HEADER + 4 * fields.length + scalars.length + 7) & ~7; // the allocator's size classes
    const o = wasm.lean_alloc_object(size) >>> 0;
    setHeader(o, tagNumber, fields.length, size);
    fields.forEach((f, i) => setWord(o + OBJECT_HEADER + 4 * i, retain(f)));
    memory().bytes.set(scalars, o + OBJECT_HEADER + 4 * fields.length);
    return adopt(o);
  }
  function setHeader(o, tagNumber, fields, size) {
    setWord(o, 1);
    setWord(o + 4, size | (fields << 16) | (tagNumber << 24));
  }
  /** A copy of a structure with some object fields replaced: `fields` has new objects by field index. */
  function withFields(o, fields) {
    const [size, n] = [word(o + 4) & 0xffff, byte(o + 6)];
    const start = OBJECT_HEADER + 4 * n;
    const copy = Array.from({ length: n }, (_, i) => (i in fields ? fields[i] : field(o, i)));
    const rest = Array.from({ length: size - start }, (_, i) => byte(o + start + i));
    return constructor(tag(o), copy, rest);
  }

  const some = (o) => constructor(1, [o]);
  const list = (items) => items.reduceRight((rest, head) => constructor(1, [head, rest]), UNIT);
  function array(items) {
    let o = wasm.lean_mk_array(UNIT, UNIT);
    for (const item of items) o = wasm.lean_array_push(o, retain(item));
    return adopt(o);
  }
  const arrayItems = (o) => Array.from({ length: word(o + 8) }, (_, i) => word(o + 16 + 4 * i));
  /** A name that is written with dots. */
  const name = (written) =>
    written.split('.').reduce((prefix, part) => call('l_Lean_Name_str___override', prefix, string(part)), UNIT);
  /** A name's text as Lean prints it (with «…» where needed); '' for the anonymous name. */
  const nameText = (o) => (isScalar(o) ? '' : text(call('l_Lean_Name_toString', o, box(1))));

  /**
   * Calls an exported Lean function. Arguments are objects (scalars boxed); a missing last one is the erased world.
   * The `___boxed` variant, which Lean makes for every function with borrowed or unboxed parameters, takes them owned.
   */
  function call(symbol, ...args) {
    const boxed = wasm[`${symbol}___boxed`];
    const f = boxed ?? wasm[symbol];
    if (f === undefined) throw new Error(`this Lean has no ${symbol}`);
    while (args.length < f.length) args.push(UNIT);
    if (args.length !== f.length)
      throw new Error(`${symbol} takes ${f.length} arguments, not ${args.length}`);
    if (!args.every(Number.isInteger)) throw new Error(`${symbol}: an argument is no Lean object`);
    args.forEach(retain);
    return adopt(f(...args));
  }
  /** The value of what an `IO` action gave; its error is thrown. */
  function settled(result) {
    if (tag(result) === 0) return field(result, 0);
    throw new LeanIOError(text(call('lean_io_error_to_string', field(result, 0))));
  }
  /** A call that may throw `IO.Error`. */
  const io = (symbol, ...args) => settled(call(symbol, ...args));
  /** As `io`, for a function with 32-bit numbers (which have no scalar box here): its own calling convention. */
  const ioRaw = (symbol, ...args) => settled(adopt(wasm[symbol](...args)));
  /** Runs an `IO` function. */
  const perform = (f, ...args) => {
    const owned = [f, ...args].map((o) => retain(o));
    return settled(adopt(wasm[`lean_apply_${owned.length}`](...owned, UNIT)));
  };
  /** A constant of a Lean module. */
  const constant = (symbol) => word(~module.symbols(symbol));

  const newRef = (value) => adopt(wasm.lean_st_mk_ref(retain(value)));
  const readRef = (ref) => adopt(wasm.lean_st_ref_get(ref));

  /**
   * Gives a JavaScript function of `arity` objects (the erased world included) that returns an object a place in the
   * module's function table, which it keeps for good.
   */
  function place(arity, body) {
    const owning = (...args) => retain(body(...args.map(adopt)));
    return module.addFn((...args) => scope(() => owning(...args)), 'i'.repeat(arity + 1));
  }
  /** A Lean closure over the function in that place. */
  function closure(arity, functionPlace) {
    const size = 16;
    const o = wasm.lean_alloc_object(size) >>> 0;
    setHeader(o, TAG_CLOSURE, 0, size);
    setWord(o + 8, functionPlace);
    setWord(o + 12, arity); // in 16 bits; no argument is there yet (the other 16)
    return adopt(o);
  }

  return {
    module, wasm, UNIT, EMPTY_MAP, NO, YES, box, unbox, tag, field, setField, scope, keep: retain, drop: release,
    string, text, constructor, withFields, some, list, array, arrayItems, name, nameText,
    call, io, ioRaw, perform, place, closure, constant, newRef, readRef,
  };
}

module.exports = { createRuntime, LeanIOError };
