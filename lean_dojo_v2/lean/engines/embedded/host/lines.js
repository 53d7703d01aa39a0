'use strict';
/**
 * Lines in, lines out: each request is answered by one line, in order; an empty line ends the engine. What a request
 * means is the program's affair, but for `host.reset`, which puts another engine in the place of this one. An exception
 * that Lean's code did not expect may have left its memory in any state: it is answered too, and then the process ends
 * with exit code 3.
 *
 * The program runs in one call for the whole life of an engine, so lines are read and written while Node waits.
 */

const fs = require('node:fs');

/** As in the program. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1 << 16;
const CORRUPTED = 3;
const [STDIN, STDOUT] = [0, 1];
const NEWLINE = 10;
const PAUSE_MS = 2;
const MEBIBYTE = 1024 * 1024;
/** The request that is answered here. */
const RESET = 'host.reset';

/** Writes all of some bytes; a pipe may take them in pieces, and is not waited for by Node. */
function writeAll(stream, bytes) {
  for (let rest = bytes; rest.length > 0; ) {
    try {
      rest = rest.subarray(fs.writeSync(stream, rest));
    } catch (error) {
      if (error.code === 'EPIPE') process.exit(0);
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

const write = (line) => writeAll(STDOUT, Buffer.from(`${line}\n`));

/** Reads some bytes from stdin; none at its end. A pipe that is not waited for has none for a while. */
function readSome(buffer) {
  for (;;) {
    try {
      return fs.readSync(STDIN, buffer);
    } catch (error) {
      if (error.code === 'EOF') return 0;
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

/**
 * What gives the next line without white space at its ends; an empty one at the end of the input. Of a line that is too
 * long, no more is kept than the program needs to refuse it.
 */
function lineReader() {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let rest = buffer.subarray(0, 0);
  return () => {
    const parts = [];
    for (let size = 0; ; ) {
      const end = rest.indexOf(NEWLINE);
      const chunk = end < 0 ? rest : rest.subarray(0, end);
      if (size <= MAX_LINE_BYTES) parts.push(Buffer.from(chunk));
      size += chunk.length;
      if (end >= 0) {
        rest = rest.subarray(end + 1);
        const line = Buffer.concat(parts).toString('utf8');
        return size <= MAX_LINE_BYTES ? line.trim() : line;
      }
      rest = buffer.subarray(0, readSome(buffer));
      if (rest.length === 0) return '';
    }
  };
}

/** Serves lines by one engine after the other, each in its first state, as `create` makes them. */
async function serve(create) {
  const next = lineReader();
  let engine = await create();
  write('ready.');
  try {
    for (let resets = 1; isReset(answerLines(engine.run, next)); resets += 1) {
      await engine.end();
      engine = null; // its memory is freed before there is another
      global.gc();
      engine = await create();
      write(JSON.stringify({ resets, rss_mb: Math.round(process.memoryUsage.rss() / MEBIBYTE) }));
    }
  } catch (error) {
    const what =
      error instanceof Error ? `${error.name}: ${error.message}` : 'an exception inside Lean';
    write(JSON.stringify({ error: 'fatal', desc: `the engine ends: ${what}` }));
    process.exit(CORRUPTED);
  }
  process.exit(0);
}

const isReset = (line) => line === RESET;

/**
 * Lets an engine answer lines until one is not for it, and returns that one. An engine whose program has gone wild can
 * neither answer twice, nor read on before it has answered, nor do either when its turn is over.
 */
function answerLines(run, next) {
  let [last, turn] = ['', 'to read'];
  function take(expected, following) {
    if (turn !== expected) throw new Error(`it was the engine's turn ${turn}`);
    turn = following;
  }
  run(
    () => {
      take('to read', 'over');
      last = next();
      if (last === '' || isReset(last)) return '';
      turn = 'to answer';
      return last;
    },
    (line) => {
      take('to answer', 'to read');
      write(line);
    },
  );
  take('over', 'over');
  return last;
}

module.exports = { lineReader, serve, writeAll };
