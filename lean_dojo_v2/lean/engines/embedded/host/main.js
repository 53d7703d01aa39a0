'use strict';
require('./watch_parent.js'); // before anything else

/**
 * The embedded host: lets the program (../../../program) answer the lines on stdin, beginning from an image of its memory;
 * makes such an image; keeps what V8 compiles while it answers lines; or compiles the program.
 *
 *     node --stack-size=60000 … main.js --install=DIR --image=FILE [--code=FILE] [--project=DIR]
 *     node --stack-size=60000 … main.js --install=DIR --image=FILE --keep-code < LINES > CODE
 *     node --stack-size=60000 … main.js --install=DIR --program=FILE MODULE … KEY=VALUE … > IMAGE
 *     node --stack-size=60000 … main.js --install=DIR --compile=Dojo < Dojo.lean > Dojo.olean
 */

const { parseArgs } = require('node:util');
const { initialise, moveStack, openLean, silence, startThreads } = require('./boot.js');
const { writeCode } = require('./code.js');
const { compile } = require('./compile.js');
const { openImage, writeImage } = require('./image.js');
const { lineReader, serve } = require('./lines.js');
const { begin, resume } = require('./session.js');

const OPTIONS = {
  install: { type: 'string' },
  image: { type: 'string' },
  code: { type: 'string' },
  'keep-code': { type: 'boolean' },
  program: { type: 'string' },
  project: { type: 'string' },
  compile: { type: 'string' },
};

async function main() {
  const { values, positionals: words } = parseArgs({ allowPositionals: true, options: OPTIONS });
  silence();
  const { code, instantiate } = await openLean(values.install, values.code);
  if (values['keep-code']) return keepCode(code, fromImage(instantiate, values));
  if (values.image !== undefined) return serve(fromImage(instantiate, values));
  const rt = await instantiate();
  const stack = initialise(rt);
  if (values.compile !== undefined) process.exit(compile(rt, values.compile));
  writeImage(rt, { stack, ...begin(rt, { ...values, words }) });
  process.exit(0);
}

/** Makes engines that all begin in the same state and have nothing in common but their code. */
function fromImage(instantiate, { image, project }) {
  const { session, restore } = openImage(image);
  return async () => {
    const rt = await instantiate(project);
    restore(rt);
    startThreads(rt);
    moveStack(rt, session.stack);
    return resume(rt, session, project);
  };
}

async function keepCode(code, create) {
  (await create()).run(lineReader(), (answer) => {
    if ('error' in JSON.parse(answer)) throw new Error(answer);
  });
  await writeCode(code);
  process.exit(0);
}

main().catch((error) => {
  process.stderr.write(
    `${error instanceof Error ? error.message : `Lean failed to start: ${String(error)}`}\n`,
  );
  process.exit(2);
});
