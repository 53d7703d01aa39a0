'use strict';
/** Starts Lean inside this process: instantiates the module, mounts the library, and repeats what `lean_main` does. */

const fs = require('node:fs');
const path = require('node:path');
const { withMarks } = require('./interpreter.js');
const { createRuntime } = require('./runtime.js');

/** The build's own main stack is 64 KB; elaboration needs far more. Node's own stack must be large too (launch.py). */
const STACK_BYTES = 64 * 1024 * 1024;
/** Lean needs one task thread: with none, elaboration waits for tasks that nobody runs. */
const TASK_THREADS = 1;
/** Where Lean sees itself in its own file system; it looks for its library in ../lib/lean. */
const PROGRAM = '/lean/bin/lean';
const LIBRARY = '/lean/lib/lean';
/**
 * Options that no text may change: one would switch the kernel off, the other would have programs run after the answer.
 */
const FIXED_OPTIONS = [
  ['debug', 'skipKernelTC'],
  ['Elab', 'async'],
];
/** WASI's EROFS and ENOENT. */
const READ_ONLY_FILE_SYSTEM = 69;
const NO_SUCH_FILE = 44;

/**
 * @param {string} install the install folder, with bin/lean.js, bin/lean.wasm and lib/lean
 * @param {string} [project] the project's folder, which programs of the project are run in
 * @returns {Promise<object>} the runtime
 */
async function boot(install, project) {
  silence();
  const rt = createRuntime(await instantiate(path.join(install, 'bin')));
  moveStack(rt);
  mountLibrary(rt, path.join(install, 'lib', 'lean'));
  if (project !== undefined) mountProject(rt, project);
  rt.wasm.lean_initialize();
  rt.wasm._ZN4lean16init_search_pathEv();
  rt.wasm.lean_enable_initializer_execution();
  rt.wasm.lean_io_mark_end_initialization();
  rt.wasm.lean_init_task_manager_using(TASK_THREADS);
  FIXED_OPTIONS.forEach((path) => fix(rt, path));
  return rt;
}

/**
 * An option keeps its default, wherever a text sets it: in a file, above a theorem, in a tactic. It stays one that may be
 * set, but Lean looks for its value under a name that no text can set.
 */
function fix(rt, path) {
  rt.scope(() => {
    const unsettable = rt.keep(rt.nameOf([...path, 0]));
    rt.wasm.lean_mark_persistent(unsettable);
    rt.setField(rt.constant(`l_Lean_${path.join('_')}`), 0, unsettable);
  });
}

/** The glue takes its settings from a global (patch_glue.py), since a CommonJS module cannot be handed any. */
function instantiate(folder) {
  let program = withMarks(fs.readFileSync(path.join(folder, 'lean.wasm')));
  return new Promise((resolve, reject) => {
    const module = {
      instantiateWasm(imports, done) {
        const start = async () => {
          const compiled = await WebAssembly.compile(program);
          program = null; // the module has its own copy, of 137 MB
          keepOnlyImported(compiled, imports.env);
          done(await WebAssembly.instantiate(compiled, imports), compiled);
        };
        start().catch(reject);
      },
      noInitialRun: true,
      noExitRuntime: true,
      thisProgram: PROGRAM,
      pthreadPoolSize: TASK_THREADS,
      print: discard,
      printErr: reportUnusual,
      onAbort: (reason) => reject(new Error(`Lean aborted: ${reason}`)),
      onRuntimeInitialized: () => resolve(module),
    };
    globalThis.__LEAN_MODULE = module;
    require(path.join(folder, 'lean.js'));
  });
}

/**
 * The glue has a thousand more functions for C programs, to run scripts and to open windows. A text could call each by its
 * name (`@[extern]`).
 */
function keepOnlyImported(compiled, functions) {
  const imported = new Set(WebAssembly.Module.imports(compiled).map(({ name }) => name));
  for (const name of Object.keys(functions)) if (!imported.has(name)) delete functions[name];
}

/** What Lean code prints itself has no place on our protocol's stdout, whichever way and whichever thread it comes from. */
function silence() {
  process.stdout.write = () => true;
  for (const way of Object.keys(console)) if (typeof console[way] === 'function') console[way] = discard;
}
function discard() {}

/** The build's own debug chatter is dropped; a panic or an assertion is worth a line on stderr. */
function reportUnusual(line) {
  if (!/^\[DEBUG|^ {2}- |mainModule\?/.test(line)) process.stderr.write(`${line}\n`);
}

function moveStack(rt) {
  const low = ((rt.wasm.malloc(STACK_BYTES) + 15) & ~15) >>> 0;
  rt.module.setStack(low + STACK_BYTES - 16, low);
}

/**
 * Nothing of the host is visible to Lean code but the library and the project, and these read-only. Node's permission
 * model refuses writes by itself, but its refusal has no errno, so Lean would take it for success.
 */
function mountLibrary(rt, folder) {
  const { FS, NODEFS } = rt.module;
  const refuse = () => {
    throw new FS.ErrnoError(READ_ONLY_FILE_SYSTEM);
  };
  for (const change of ['mknod', 'rename', 'unlink', 'rmdir', 'symlink', 'setattr'])
    NODEFS.node_ops[change] = refuse;
  NODEFS.stream_ops.write = refuse;
  FS.mkdirTree(LIBRARY);
  FS.mount(NODEFS, { root: folder }, LIBRARY);
  FS.mkdirTree(path.posix.dirname(PROGRAM));
  FS.writeFile(PROGRAM, '');
}

/**
 * The project lies at its own path and is the current folder, as where Lake builds: `include_str` and programs that run
 * while a file is elaborated read their files there. Hidden files (.git, .env) are not there, and links lead nowhere
 * else: the file system of Lean follows them itself.
 */
function mountProject(rt, folder) {
  const { FS, NODEFS } = rt.module;
  const isHidden = (name) => name.startsWith('.') && !['.', '..', '.lake'].includes(name);
  const inProject = (node) => node.mount.opts.root === folder;
  const { lookup, readdir } = NODEFS.node_ops;
  NODEFS.node_ops.lookup = (parent, name) => {
    if (inProject(parent) && isHidden(name)) throw new FS.ErrnoError(NO_SUCH_FILE);
    return lookup(parent, name);
  };
  NODEFS.node_ops.readdir = (node) => {
    const names = readdir(node);
    return inProject(node) ? names.filter((name) => !isHidden(name)) : names;
  };
  FS.mkdirTree(folder);
  FS.mount(NODEFS, { root: folder }, folder);
  FS.chdir(folder);
}

module.exports = { boot };
