'use strict';
/** The program's session in an instance of Lean: how it begins, what it needs of its host, how it answers lines. */

const fs = require('node:fs');
const { artifactOf, asImported, constantOf, extended, grown, importModules, importsOf, newLibrary } = require('./imports.js');
const { LeanIOError } = require('./runtime.js');
const { createTimeout } = require('./timeout.js');

/** The program as a module of Lean, and where Lean reads it from. */
const [MODULE, FILE] = ['Dojo', '/program.olean'];
/** Environments that the program keeps: all that there is room for, since none is ever freed here. */
const MAX_ENVIRONMENTS = 64;
const MEBIBYTE = 1024 * 1024;
/** Fields of Lean's structure `Dojo.Session`, by position. */
const SESSION = { project: 1 };

/**
 * Imports the program, a file with its compiled module, and begins its session, with `words` for arguments. A session is
 * plain numbers that mean the same wherever the memory is the same.
 */
function begin(rt, { program, words }) {
  return rt.scope(() => {
    const library = newLibrary(rt);
    rt.module.FS.writeFile(FILE, fs.readFileSync(program));
    const env = importModules(rt, library, importsOf(rt, [MODULE]), rt.array([]), artifactOf(rt, MODULE, FILE));
    rt.module.FS.unlink(FILE);
    const { places, closures } = hostOf(rt, library);
    const own = closures().map(rt.keep);
    const [read, say] = own.splice(-2);
    const runsInitializers = 0;
    const host = rt.constructor(0, [...own, rt.box(MAX_ENVIRONMENTS)], [runsInitializers]);
    const [start, serve] = ['Dojo.start', 'Dojo.serve'].map((name) => constantOf(rt, env, name));
    const session = rt.keep(rt.perform(start, host, rt.list(words.map(rt.string))));
    return { library, serve, session, read, say, places };
  });
}

/**
 * Takes up a session in an instance whose memory is as it was when the session had begun; `project` is the folder of its
 * project, if any. `run` answers the lines that `read` gives, by lines that `say` gets, until an empty one; `end` stops all
 * threads of the instance.
 */
function resume(rt, session, project) {
  const { places, lines, timeout } = hostOf(rt, session.library);
  if (String(places) !== String(session.places)) throw new Error('this image is of another module');

  function run(read, say) {
    lines.read = read;
    lines.say = say;
    rt.scope(() => {
      const folder = project === undefined ? {} : { [SESSION.project]: rt.some(rt.string(project)) };
      const own = rt.withFields(session.session, folder);
      rt.perform(session.serve, own, session.read, session.say);
    });
  }
  async function end() {
    rt.module.end();
    const { runningWorkers, unusedWorkers } = rt.module.PThread;
    const awake = setInterval(() => {}, 1000); // Node ends when it waits for nothing but such threads
    const threads = [...runningWorkers, ...unusedWorkers, ...timeout.threads];
    await Promise.all(threads.map((one) => one.terminate()));
    clearInterval(awake);
  }
  return { run, end };
}

/** What an action of Lean's `IO` returns. */
const ok = (rt, value = rt.UNIT) => rt.constructor(0, [value]);

/** What the action `body` returns: an error of Lean's is no exception here. */
function outcome(rt, body) {
  try {
    return ok(rt, body());
  } catch (error) {
    if (!(error instanceof LeanIOError)) throw error;
    return rt.constructor(1, [rt.call('lean_mk_io_user_error', rt.string(error.message))]);
  }
}

/** The functions of Lean's structure `Dojo.Host`, and then those that read and write lines, in places of their own. */
function hostOf(rt, library) {
  const lines = {};
  const timeout = createTimeout(rt);
  const actions = [
    [3, (imports, fromLibrary) => outcome(rt, () => importModules(rt, library, imports, fromLibrary))],
    [3, (token, milliseconds) => ok(rt, timeout.arm(token, rt.unbox(milliseconds)))],
    [1, () => ok(rt, timeout.disarm())],
    [1, () => ok(rt, memory(rt))],
    [2, (imported) => ok(rt, grown(rt, imported))],
    [2, (elaborated) => ok(rt, asImported(rt, elaborated))],
    [2, (imported) => outcome(rt, () => extended(rt, imported))],
    [1, () => ok(rt, rt.string(lines.read()))],
    [2, (line) => ok(rt, lines.say(rt.text(line)))],
  ];
  const places = actions.map(([arity, body]) => rt.place(arity, body));
  const closures = () => actions.map(([arity], i) => rt.closure(arity, places[i]));
  return { places, closures, lines, timeout };
}

function memory(rt) {
  const bytes = {
    rss_mb: process.memoryUsage.rss(),
    wasm_mb: rt.module.wasmMemory_().buffer.byteLength,
  };
  const pair = ([name, n]) => rt.constructor(0, [rt.string(name), rt.box(Math.round(n / MEBIBYTE))]);
  return rt.list(Object.entries(bytes).map(pair));
}

module.exports = { begin, resume };
