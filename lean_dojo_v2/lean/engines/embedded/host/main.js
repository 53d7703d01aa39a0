'use strict';
/**
 * The embedded host: boots Lean, and lets the program (../../../program) answer the lines on stdin; or compiles
 * that program.
 *
 *     node --stack-size=60000 … main.js --install=DIR --program=FILE [--project=DIR] MODULE … KEY=VALUE …
 *     node --stack-size=60000 … main.js --install=DIR --compile=Dojo < Dojo.lean > Dojo.olean
 */

const fs = require('node:fs');
const { parseArgs } = require('node:util');
const { boot } = require('./boot.js');
const { compile } = require('./compile.js');
const { artifactOf, asImported, constantOf, createImporter, extended, grown, importsOf } = require('./imports.js');
const { watchInterpreter } = require('./interpreter.js');
const { serve } = require('./lines.js');
const { createTidy } = require('./tidy.js');
const { createTimeout } = require('./timeout.js');

const OPTIONS = {
  install: { type: 'string' },
  program: { type: 'string' },
  project: { type: 'string' },
  compile: { type: 'string' },
};

/** The program as a module of Lean, and where Lean reads it from. */
const [MODULE, FILE] = ['Dojo', '/program.olean'];
/** Environments that the program keeps: all that there is room for, since none is ever freed here. */
const MAX_ENVIRONMENTS = 64;
const MEBIBYTE = 1024 * 1024;

async function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  const rt = await boot(values.install, values.project);
  if (values.compile !== undefined) process.exit(compile(rt, values.compile));
  const run = loadProgram(rt, { ...values, words: positionals });
  serve(run, createTidy(rt));
}

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
    const session = rt.keep(rt.perform(start, createHost(rt, importModules, watchInterpreter(rt, env)), args));
    return (read, say) =>
      rt.scope(() => {
        const reader = rt.closure(1, () => ok(rt, rt.string(read())));
        const writer = rt.closure(2, (line) => ok(rt, say(rt.text(line))));
        rt.perform(serve, session, reader, writer);
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
  const closures = actions.map(([arity, body]) => rt.closure(arity, body));
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

main().catch((error) => {
  process.stderr.write(
    `${error instanceof Error ? error.message : `Lean failed to start: ${String(error)}`}\n`,
  );
  process.exit(2);
});
