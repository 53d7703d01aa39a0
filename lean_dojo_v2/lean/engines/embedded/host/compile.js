'use strict';
/** Compiles the program: its text on stdin, the bytes of its .olean file on stdout, messages on stderr. */

const fs = require('node:fs');
const { constantOf, extended, importModules, newLibrary } = require('./imports.js');
const { writeAll } = require('./lines.js');

/** Where the compiled module is written, in Lean's own file system, which is memory. */
const TARGET = '/compiled.olean';
const [STDIN, STDOUT, STDERR] = [0, 1, 2];
/** Fields of Lean's structures, by position. */
const COMMAND_STATE = { env: 0, messages: 1 };
const FRONTEND_STATE = { command: 0 };

/** Compiles a module of that name; returns the exit status, which is 1 if it has errors. */
function compile(rt, module) {
  const text = fs.readFileSync(STDIN, 'utf8');
  return rt.scope(() => {
    const input = inputContext(rt, text, `${module}.lean`);
    const parsed = rt.io('l_Lean_Parser_parseHeader', input);
    const [parser, log] = [0, 1].map((i) => rt.field(rt.field(parsed, 1), i));
    const header = rt.call('l_Lean_Elab_headerToImports', rt.field(parsed, 0), rt.YES);
    const library = extended(rt, importModules(rt, newLibrary(rt), header, rt.array([])));
    const { ok, env } = elaborate(rt, { input, parser, log, library, module });
    if (ok) {
      rt.perform(constantOf(rt, env, 'Dojo.ship'), env, rt.string(TARGET));
      writeAll(STDOUT, rt.module.FS.readFile(TARGET));
    }
    return ok ? 0 : 1;
  });
}

/**
 * Lean's own loop over the commands of a file: whether nothing was an error, and the environment at the end. (Its state
 * holds the messages of the last command alone.)
 */
function elaborate(rt, { input, parser, log, library, module }) {
  const own = rt.call('l_Lean_Environment_setMainModule', library, rt.name(module));
  const options = rt.constant('l_Lean_Options_empty');
  const state = rt.call('l_Lean_Elab_Command_mkState', own, log, options);
  const ref = rt.newRef(rt.constructor(0, [state, parser, rt.box(0), rt.array([])]));
  let [over, ok] = [false, report(rt, log)];
  while (!over)
    rt.scope(() => {
      over = rt.io('l_Lean_Elab_Frontend_processCommand', input, ref) === rt.YES;
      ok = report(rt, rt.field(commandState(rt, ref), COMMAND_STATE.messages)) && ok;
    });
  return { ok, env: rt.field(commandState(rt, ref), COMMAND_STATE.env) };
}
const commandState = (rt, ref) => rt.field(rt.readRef(ref), FRONTEND_STATE.command);

/** Writes messages as lines of JSON; returns whether none is an error. */
function report(rt, log) {
  const items = rt.arrayItems(rt.call('l_Lean_MessageLog_toArray', log));
  const lines = items.map((one) =>
    rt.text(rt.call('l_Lean_Json_compress', rt.call('l_Lean_Message_toJson', one))),
  );
  writeAll(STDERR, Buffer.from(lines.map((line) => `${line}\n`).join('')));
  return lines.every((line) => JSON.parse(line).severity !== 'error');
}

function inputContext(rt, text, fileName) {
  const end = rt.box(Buffer.byteLength(text));
  const args = [rt.string(text), rt.string(fileName), rt.YES, end];
  return rt.call('l_Lean_Parser_mkInputContext___redArg', ...args);
}

module.exports = { compile };
