'use strict';
/**
 * The embedded host: boots Lean, and lets the program (../../../program) answer the lines on stdin; or compiles
 * that program.
 *
 *     node --stack-size=60000 … main.js --install=DIR --program=FILE [--project=DIR] MODULE … KEY=VALUE …
 *     node --stack-size=60000 … main.js --install=DIR --compile=Dojo < Dojo.lean > Dojo.olean
 */

const { parseArgs } = require('node:util');
const { boot } = require('./boot.js');
const { compile } = require('./compile.js');
const { loadProgram } = require('./program.js');
const { serve } = require('./lines.js');
const { createTidy } = require('./tidy.js');

const OPTIONS = {
  install: { type: 'string' },
  program: { type: 'string' },
  project: { type: 'string' },
  compile: { type: 'string' },
};

async function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  const rt = await boot(values.install, values.project);
  if (values.compile !== undefined) process.exit(compile(rt, values.compile));
  const run = loadProgram(rt, { ...values, words: positionals });
  serve(run, createTidy(rt));
}

main().catch((error) => {
  process.stderr.write(
    `${error instanceof Error ? error.message : `Lean failed to start: ${String(error)}`}\n`,
  );
  process.exit(2);
});
