'use strict';
/** The program inside Lean: its compiled modules, what it is given of the host, and the function that answers a line. */

const fs = require('node:fs');
const { asImported, extended, grown } = require('./environments.js');
const { artifactOf, constantOf, createImporter, importsOf } = require('./imports.js');
const { watchInterpreter } = require('./interpreter.js');
const { createTimeout } = require('./timeout.js');

/** The program as a module of Lean, and where Lean reads it from. */
const [MODULE, FILE] = ['Dojo', '/program.olean'];
/** Environments that the program keeps: all that there is room for, since none is ever freed here. */
const MAX_ENVIRONMENTS = 64;
const MEBIBYTE = 1024 * 1024;
/**
 * @param {object} rt the runtime
 * @param {{program: string, project?: string, words: string[]}} settings `program`: its compiled module
 * @returns {(read: () => string, say: (line: string) => void) => void} answers the lines that `read` gives by lines that
 *   `say` gets, until an empty one
 */
function loadProgram(rt, { program, project, words }) {
  return rt.scope(() => {
    rt.module.FS.writeFile(FILE, fs.readFileSync(program));
    const importModules = createImporter(rt);
    const env = importModules(importsOf(rt, [MODULE]), rt.array([]), artifactOf(rt, MODULE, FILE));
    rt.module.FS.unlink(FILE);
    const [start, serve] = ['Dojo.start', 'Dojo.serve'].map((name) => constantOf(rt, env, name));
    const place = project === undefined ? [] : [`--project=${project}`];
    const args = rt.list([...place, ...words].map(rt.string));
    const session = rt.keep(rt.perform2(start, createHost(rt, importModules, watchInterpreter(rt, env)), args));
    return (read, say) =>
      rt.scope(() => {
        const reader = rt.closureMaker(1, () => ok(rt, rt.string(read())))();
        const writer = rt.closureMaker(2, (line) => ok(rt, say(rt.text(line))))();
        rt.perform3(serve, session, reader, writer);
      });
  });
}

/** What an action of Lean's `IO` returns. */
const ok = (rt, value = rt.UNIT) => rt.constructor(0, [value]);

/** Lean's structure `Dojo.Host`, kept for good. */
function createHost(rt, importModules, ranProgram) {
  const timeout = createTimeout(rt);
  const actions = [
    [3, (imports, library) => ok(rt, importModules(imports, library))],
    [3, (token, milliseconds) => ok(rt, timeout.arm(token, rt.unbox(milliseconds)))],
    [1, () => ok(rt, timeout.disarm())],
    [1, () => ok(rt, memory(rt))],
    [2, (env) => ok(rt, grown(rt, env))],
    [2, (env) => ok(rt, asImported(rt, env))],
    [2, (env) => ok(rt, extended(rt, env))],
    [1, () => ok(rt, ranProgram() ? rt.YES : rt.NO)],
  ];
  const closures = actions.map(([arity, body]) => rt.closureMaker(arity, body)());
  const runsInitializers = 0;
  return rt.keep(rt.constructor(0, [...closures, rt.box(MAX_ENVIRONMENTS)], [runsInitializers]));
}

function memory(rt) {
  const bytes = {
    rss_mb: process.memoryUsage.rss(),
    wasm_mb: rt.module.wasmMemory_().buffer.byteLength,
  };
  const pair = ([name, n]) => rt.constructor(0, [rt.string(name), rt.box(Math.round(n / MEBIBYTE))]);
  return rt.list(Object.entries(bytes).map(pair));
}

module.exports = { loadProgram };
