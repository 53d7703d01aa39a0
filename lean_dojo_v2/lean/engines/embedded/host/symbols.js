'use strict';
/** Symbols of lean.wasm by name, from the file that patch_module.py writes (its end says how). */

const fs = require('node:fs');

/** So many names are remembered: Lean looks for the same ones again and again. */
const MOST_FOUND = 100_000;

/**
 * The file is read when a symbol is first looked for. `find` gives a function's place in the table, or the complement of
 * data's address; `places` gives the length of the table.
 */
function openSymbols(file) {
  let table = null;
  const found = new Map();

  function load() {
    const bytes = fs.readFileSync(file);
    const [places, count] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
    const [ends, values] = [2, 2 + count].map((first) => new Int32Array(bytes.buffer, bytes.byteOffset + 4 * first, count));
    return { places, ends, values, names: bytes.subarray(4 * (2 + 2 * count)) };
  }

  function indexOf({ ends, names }, wanted) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = wanted.compare(names, middle === 0 ? 0 : ends[middle - 1], ends[middle]);
      if (order === 0) return middle;
      if (order < 0) high = middle;
      else low = middle + 1;
    }
    return -1;
  }

  function find(name) {
    if (!found.has(name)) {
      if (found.size === MOST_FOUND) found.clear();
      table ??= load();
      found.set(name, table.values[indexOf(table, Buffer.from(name))]);
    }
    return found.get(name);
  }
  return { find, places: () => (table ??= load()).places };
}

module.exports = { openSymbols };
