'use strict';
/**
 * The embedded Lean engine: Pantograph's REPL protocol over stdin and stdout.
 *
 *     node --stack-size=60000 … main.js --install DIR --imports Init [--project DIR] [MODULE …] [key=value …]
 */

const path = require('node:path');
const { parseArgs } = require('node:util');
const { boot } = require('./boot.js');
const { createContexts } = require('./contexts.js');
const { createEnvironments } = require('./environments.js');
const { createFrontend } = require('./frontend.js');
const { createPretty } = require('./pretty.js');
const { createStates } = require('./states.js');
const { parseAssignment, withLimits } = require('./options.js');
const { goalCommands } = require('./goals.js');
const { frontendCommands } = require('./process.js');
const { sessionCommands, defaultSettings } = require('./session.js');
const { serve } = require('./protocol.js');

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      install: { type: 'string' },
      imports: { type: 'string', multiple: true, default: [] },
      project: { type: 'string' },
    },
  });
  if (values.install === undefined) throw new Error('main.js: --install DIR is required');
  const assignments = positionals.filter((word) => word.includes('='));
  const modules = positionals.filter((word) => !word.includes('='));
  return {
    install: values.install,
    project: values.project,
    imports: [...values.imports.flatMap((list) => list.split(',')), ...modules].filter(Boolean),
    options: Object.fromEntries(assignments.map(parseAssignment)),
  };
}

async function main() {
  const { install, project, imports, options } = readArguments();
  const rt = await boot(install);
  const contexts = createContexts(rt);
  const pretty = createPretty(rt);
  const engine = {
    rt,
    contexts,
    pretty,
    project,
    environments: createEnvironments(rt, path.join(install, 'lib', 'lean')),
    frontend: createFrontend(rt, contexts),
    states: createStates(rt, contexts, pretty),
    settings: defaultSettings(),
    options: withLimits(options, {}),
  };
  engine.base = engine.environments.importModules(imports);
  let current = null;
  /** The environment and scope that goals are stated in; `frontend.process` with `inheritEnv` replaces it. */
  engine.commandState = () => current;
  engine.setCommandState = (state) => {
    const old = current;
    current = rt.keep(state);
    if (old !== null) rt.drop(old);
  };
  engine.resetCommandState = () => rt.scope(() => engine.setCommandState(engine.frontend.stateFor(engine.base, engine.options)));
  engine.resetCommandState();
  serve(rt, { ...sessionCommands(engine), ...goalCommands(engine), ...frontendCommands(engine) });
}

main().catch((error) => {
  process.stderr.write(`${error instanceof Error ? error.message : `Lean failed to start: ${String(error)}`}\n`);
  process.exit(2);
});
