'use strict';
/** `options.set`, `options.print`, `stat` and `reset`. */

/** Pantograph's options, with its defaults. */
function defaultSettings() {
  return {
    printJsonPretty: false,
    printExprPretty: true,
    printExprAST: false,
    printDependentMVars: false,
    noRepeat: false,
    printAuxDecls: false,
    printImplementationDetailHyps: false,
    automaticMode: true,
    timeout: 0,
  };
}

const MEBIBYTE = 1024 * 1024;

/** @param {object} engine everything main.js put together */
function sessionCommands(engine) {
  const { rt, states, settings } = engine;

  function memory() {
    return {
      rss_mb: Math.round(process.memoryUsage.rss() / MEBIBYTE),
      wasm_mb: Math.round(rt.module.wasmMemory_().buffer.byteLength / MEBIBYTE),
      states: states.count(),
    };
  }
  return {
    'options.set'(request) {
      Object.assign(settings, request);
      return {};
    },
    'options.print': () => ({ ...settings }),
    stat: () => ({ nGoals: states.count(), ...memory() }),
    reset() {
      const nGoals = states.clear();
      return { nGoals };
    },
    'dojo.memory': memory,
  };
}

module.exports = { sessionCommands, defaultSettings };
