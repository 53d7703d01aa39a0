'use strict';
/**
 * The glue between lean.wasm and Node: each call of it makes another instance, with everything that belongs to it. A task
 * thread of Lean begins here, with the glue's folder for its argument.
 */

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');
const { isMainThread } = require('node:worker_threads');
const { PREFIX, createInvokers } = require('./invoke.js');
const { openSymbols } = require('./symbols.js');

/** A function that runs the glue in a folder, which makes of its settings the Emscripten module. */
function openGlue(folder) {
  const file = path.join(folder, 'lean.js');
  const parameters = ['settings', 'require', '__filename', '__dirname'];
  const glue = vm.compileFunction(fs.readFileSync(file, 'utf8'), parameters, { filename: file });
  const symbols = openSymbols(path.join(folder, 'symbols.bin'));
  const tag = new WebAssembly.Tag({ parameters: [] });
  const thrown = new WebAssembly.Exception(tag, []);
  /** The table of functions, and the invokers, which belong to it. */
  function complete(imports) {
    const table = new WebAssembly.Table({ element: 'anyfunc', initial: symbols.places() });
    const names = Object.keys(imports).filter((name) => name.startsWith(PREFIX));
    Object.assign(imports, createInvokers(names, table, tag, symbols.find), { __indirect_function_table: table });
  }
  const ours = { symbols: symbols.find, complete, thrown };
  return (settings) => glue(Object.assign(settings, ours), createRequire(file), file, folder);
}

module.exports = { openGlue };

if (!isMainThread) openGlue(process.argv[2])({});
