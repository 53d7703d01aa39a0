'use strict';
/** The glue between lean.wasm and Node: each call of it makes another instance, with everything that belongs to it. */

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');
const { openSymbols } = require('./symbols.js');

/**
 * @param {string} folder where lean.js and symbols.bin are
 * @returns {(settings: object) => void} runs the glue, which makes of its settings the Emscripten module
 */
function openGlue(folder) {
  const file = path.join(folder, 'lean.js');
  const parameters = ['settings', 'require', '__filename', '__dirname'];
  const glue = vm.compileFunction(fs.readFileSync(file, 'utf8'), parameters, { filename: file });
  const symbols = openSymbols(path.join(folder, 'symbols.bin'));
  return (settings) => glue(Object.assign(settings, { symbols }), createRequire(file), file, folder);
}

module.exports = { openGlue };
