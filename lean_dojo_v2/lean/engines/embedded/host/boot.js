'use strict';
/** Brings Lean into this process: its code, an instance with the library mounted, and what `lean_main` does first. */

const fs = require('node:fs');
const path = require('node:path');
const { openCode } = require('./code.js');
const { openGlue } = require('./glue.js');
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
const FIXED_OPTIONS = ['debug.skipKernelTC', 'Elab.async'];
/** WASI's EROFS and ENOENT. */
const READ_ONLY_FILE_SYSTEM = 69;
const NO_SUCH_FILE = 44;

/**
 * Reads Lean's code, which all instances share, from the install folder (bin/lean.js, bin/lean.wasm, bin/symbols.bin and
 * lib/lean), and from a file of machine code (see code.js), if any. `instantiate` makes an instance in which nothing has run
 * yet, with a memory, a file system (with the folder of a project, if any) and threads of its own, which wait for
 * `startThreads`, and returns its runtime.
 */
async function openLean(install, kept) {
  const [programs, library] = [path.join(install, 'bin'), path.join(install, 'lib', 'lean')];
  const glue = openGlue(programs);
  const code = await openCode(path.join(programs, 'lean.wasm'), kept);
  async function instantiate(project) {
    const rt = createRuntime(await instanceOf(code, glue));
    mountLibrary(rt, library);
    if (project !== undefined) mountProject(rt, project);
    return rt;
  }
  return { code, instantiate };
}

/**
 * Sends the memory of an instance to its waiting threads. A thread that finds the memory uninitialised initialises it, so
 * its contents must be in place first.
 */
function startThreads(rt) {
  rt.module.PThread.loadWasmModuleToAllWorkers();
}

/** Repeats what `lean_main` does before it looks at its arguments. */
function initialise(rt) {
  startThreads(rt);
  const stack = rt.wasm.malloc(STACK_BYTES) >>> 0;
  moveStack(rt, stack);
  rt.wasm.lean_initialize();
  rt.wasm._ZN4lean16init_search_pathEv();
  rt.wasm.lean_enable_initializer_execution();
  rt.wasm.lean_io_mark_end_initialization();
  rt.wasm.lean_init_task_manager_using(TASK_THREADS);
  FIXED_OPTIONS.forEach((name) => fix(rt, name));
  return stack;
}

/**
 * An option keeps its default, wherever a text sets it: in a file, above a theorem, in a tactic. It stays one that may be
 * set, but Lean looks for its value under a name that no text can set.
 */
function fix(rt, name) {
  rt.scope(() => {
    const unsettable = rt.keep(rt.call('l_Lean_Name_num___override', rt.name(name), rt.box(0)));
    rt.wasm.lean_mark_persistent(unsettable);
    rt.setField(rt.constant(`l_Lean_${name.replace('.', '_')}`), 0, unsettable);
  });
}

function instanceOf(code, glue) {
  return new Promise((resolve, reject) => {
    const module = {
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(code, imports).then((instance) => done(instance, code), reject);
      },
      noInitialRun: true,
      noExitRuntime: true,
      thisProgram: PROGRAM,
      mainScriptUrlOrBlob: path.join(__dirname, 'glue.js'),
      pthreadPoolSize: TASK_THREADS,
      print: discard,
      printErr: reportUnusual,
      onAbort: (reason) => reject(new Error(`Lean aborted: ${reason}`)),
      onRuntimeInitialized: () => resolve(module),
    };
    glue(module);
  });
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

/** Puts the stack of the main thread into a block of memory, and empties it. */
function moveStack(rt, block) {
  const low = ((block + 15) & ~15) >>> 0;
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

module.exports = { openLean, initialise, moveStack, silence, startThreads };
