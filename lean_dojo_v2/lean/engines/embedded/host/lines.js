'use strict';
/**
 * Lines in, lines out: each request is answered by one line, in order; an empty line ends the engine. What a request
 * means is the program's affair. An exception that Lean's code did not expect may have left its memory in any state: it
 * is answered too, and then the process ends with exit code 3.
 */

const { writeAll } = require('./output.js');

const MAX_LINE_BYTES = 64 * 1024 * 1024;
const CORRUPTED = 3;
const STDOUT = 1;

const write = (line) => writeAll(STDOUT, Buffer.from(`${line}\n`));
const failure = (error, desc) => JSON.stringify({ error, desc });

/** @param {(line: string) => string} answer */
function serve(answer) {
  function reply(line) {
    try {
      write(answer(line));
    } catch (error) {
      const what =
        error instanceof Error ? `${error.name}: ${error.message}` : 'an exception inside Lean';
      if (process.env.LEAN_DOJO_ENGINE_DEBUG) process.stderr.write(`${error.stack}\n`);
      write(failure('fatal', `the engine ends: ${what}`));
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
    if (tooLong) write(failure('command', `a request may have ${MAX_LINE_BYTES} bytes at most`));
    else if (line === '') process.exit(0);
    else reply(line);
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
