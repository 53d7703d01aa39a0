'use strict';
/**
 * Lines in, lines out: `command {json}`, or `{"cmd": command, "payload": {…}}`, is answered by one line of JSON, in
 * order. An empty line ends the engine.
 *
 * A request that fails is answered {"error": kind, "desc": …} and the engine goes on. An exception that Lean's code did
 * not expect may have left its memory in any state: it is answered too, and then the process ends with exit code 3.
 */

const fs = require('node:fs');
const { RequestError } = require('./errors.js');
const { checked } = require('./fields.js');
const { LeanException } = require('./contexts.js');
const { LeanIOError } = require('./runtime.js');

const MAX_LINE_BYTES = 64 * 1024 * 1024;
const CORRUPTED = 3;
const STDOUT = 1;

/** Writes all of a line; a pipe may take it in pieces. */
function write(line) {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(STDOUT, rest));
    } catch (error) {
      if (error.code === 'EPIPE') process.exit(0);
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

const failure = (error, desc) => ({ error, desc });

function parseLine(line) {
  if (line.startsWith('{')) {
    const { cmd, payload = {}, ...others } = parseObject(line);
    if (typeof cmd !== 'string' || Object.keys(others).length > 0)
      throw new RequestError('command', 'Unable to parse json: expected {"cmd": …, "payload": {…}}');
    return [cmd, isObject(payload) ? payload : parseObject(JSON.stringify(payload))];
  }
  const space = line.indexOf(' ');
  const command = space < 0 ? line : line.slice(0, space);
  const text = space < 0 ? '' : line.slice(space + 1).trim();
  return [command, text === '' ? {} : parseObject(text)];
}
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
function parseObject(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new RequestError('command', `Unable to parse json: ${error.message}`);
  }
  if (!isObject(value)) throw new RequestError('command', 'Unable to parse json: expected an object');
  return value;
}

/**
 * @param {object} engine everything main.js put together
 * @param {Object<string, (payload: object) => object>} commands
 */
function serve({ rt, settings, timeout, taint, tidy }, commands) {
  let told = false;
  /** Pantograph's answers have exactly their own fields, so these tell only once that a program of a text has run. */
  function send(value, command = '') {
    const tells = taint.is() && (!told || command.startsWith('dojo.'));
    if (tells) told = true;
    const whole = tells ? { ...value, tainted: true } : value;
    write(JSON.stringify(whole, null, settings.printJsonPretty ? 2 : 0));
  }

  function answer(line) {
    try {
      const [command, payload] = parseLine(line);
      const run = Object.hasOwn(commands, command) ? commands[command] : undefined;
      if (run === undefined) throw new RequestError('command', `Unknown command ${command}`);
      const request = checked(command, payload);
      try {
        send(timeout.limited(() => rt.scope(() => run(request))), command);
      } finally {
        tidy();
      }
    } catch (error) {
      report(error);
    }
  }

  function report(error) {
    if (error instanceof RequestError) send(failure(error.kind, error.message));
    else if (error instanceof LeanException) send(failure('exception', error.message));
    else if (error instanceof LeanIOError) send(failure('io', error.message));
    else {
      const what =
        error instanceof Error ? `${error.name}: ${error.message}` : 'an exception inside Lean';
      if (process.env.LEAN_DOJO_ENGINE_DEBUG) process.stderr.write(`${error.stack}\n`);
      send(failure('fatal', `the engine ends: ${what}`));
      process.exit(CORRUPTED);
    }
  }

  let parts = [];
  let size = 0;
  /** A line that is too long is read to its end, so that the next one is found, but not kept. */
  function take(chunk) {
    size += chunk.length;
    if (size > MAX_LINE_BYTES) parts = [];
    else parts.push(chunk);
  }
  function finishLine() {
    const tooLong = size > MAX_LINE_BYTES;
    const line = Buffer.concat(parts).toString('utf8').trim();
    parts = [];
    size = 0;
    if (tooLong) send(failure('command', `a request may have ${MAX_LINE_BYTES} bytes at most`));
    else if (line === '') process.exit(0);
    else answer(line);
  }
  process.stdin.on('data', (chunk) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      take(rest.subarray(0, end));
      finishLine();
      rest = rest.subarray(end + 1);
    }
    take(rest);
  });
  process.stdin.on('end', () => process.exit(0));
  write('ready.');
}

module.exports = { serve };
