'use strict';
/** V8's own functions, which JavaScript may call under --allow-natives-syntax; a V8 that lacks them refuses this file. */

module.exports = {
  /** Drops unoptimised functions first: a reader would compile each of them at once. */
  serialize(code) {
    %FlushLiftoffCode();
    return %SerializeWasmModule(code);
  },
  deserialize: (bytes, wire) => %DeserializeWasmModule(bytes, wire),
};
