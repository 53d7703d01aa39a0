'use strict';
/**
 * The embedded Lean engine: Pantograph's REPL protocol over stdin and stdout.
 *
 *     node --stack-size=60000 … main.js --install DIR --imports Init [--project DIR] [MODULE …] [key=value …]
 */

const path = require('node:path');
const { parseArgs } = require('node:util');
const { createAxiomPrinter } = require('./axioms.js');
const { boot } = require('./boot.js');
const { checkCommands } = require('./check.js');
const { createCompiled } = require('./compiled.js');
const { createConstants } = require('./constants.js');
const { createContexts } = require('./contexts.js');
const { createDeclarations } = require('./declarations.js');
const { createDigests } = require('./digests.js');
const { createDrafts } = require('./drafts.js');
const { createEnvironments } = require('./environments.js');
const { createExporter } = require('./exporting.js');
const { createFiles } = require('./files.js');
const { createFrontend } = require('./frontend.js');
const { createInfoTrees } = require('./infotree.js');
const { createInitializers } = require('./initializers.js');
const { judgeCommands } = require('./judge.js');
const { createKernel } = require('./kernel.js');
const { createModules } = require('./modules.js');
const { createMvars } = require('./mvars.js');
const { pickleCommands } = require('./pickle.js');
const { createPretty } = require('./pretty.js');
const { createProofs } = require('./proofs.js');
const { createReplay } = require('./replay.js');
const { createSequences } = require('./sequences.js');
const { createStatements } = require('./statements.js');
const { createStates } = require('./states.js');
const { createTaint } = require('./taint.js');
const { createTidy } = require('./tidy.js');
const { inspectionCommands } = require('./inspect.js');
const { syntaxCommands } = require('./syntax.js');
const { targetCommands } = require('./targets.js');
const { traceCommands } = require('./trace.js');
const { parseAssignment, withLimits } = require('./options.js');
const { goalCommands } = require('./goals.js');
const { stepCommands } = require('./steps.js');
const { frontendCommands } = require('./process.js');
const { sessionCommands, defaultSettings } = require('./session.js');
const { serve } = require('./protocol.js');
const { createTimeout } = require('./timeout.js');
const { trackCommands } = require('./track.js');
const { createWarm } = require('./warm.js');

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
  const rt = await boot(install, project);
  const engine = createEngine(rt, { install, project, options });
  const library = engine.environments.importModules(imports);
  rt.scope(() => engine.setCommandState(engine.frontend.stateFor(library, engine.options), library));
  serve(engine, commandsOf(engine));
}

/** Puts the parts together; a part may use those above it when it is made, and any when it runs. */
function createEngine(rt, { install, project, options }) {
  const engine = {
    rt,
    project,
    libraryFolder: path.join(install, 'lib', 'lean'),
    settings: defaultSettings(),
    options: withLimits(options, {}),
  };
  engine.tidy = createTidy(engine);
  engine.timeout = createTimeout(engine);
  engine.mvars = createMvars(engine);
  engine.contexts = createContexts(engine);
  engine.pretty = createPretty(engine);
  engine.constants = createConstants(engine);
  engine.initializers = createInitializers(engine);
  engine.environments = createEnvironments(engine);
  engine.trees = createInfoTrees(engine);
  engine.taint = createTaint(engine);
  engine.sequences = createSequences(engine);
  engine.axioms = createAxiomPrinter(engine);
  engine.frontend = createFrontend(engine);
  engine.kernel = createKernel(engine);
  engine.statements = createStatements(engine);
  engine.exporter = createExporter(engine);
  engine.proofs = createProofs(engine);
  engine.states = createStates(engine);
  engine.declarations = createDeclarations(engine);
  engine.compiled = createCompiled(engine);
  engine.modules = createModules(engine);
  engine.files = createFiles(engine);
  engine.drafts = createDrafts(engine);
  engine.warm = createWarm(engine);
  engine.digests = createDigests(engine);
  engine.replay = createReplay(engine);
  addCommandState(engine);
  return engine;
}

/** The environment and scope that goals are stated in; `frontend.process` with `inheritEnv` replaces it. */
function addCommandState(engine) {
  const { rt } = engine;
  let current = null;
  let library = null; // environments of the library are kept for good
  engine.commandState = () => current;
  /** The environment of the library's modules that the command state is built on. */
  engine.library = () => library;
  engine.setCommandState = (state, builtOn = library) => {
    const old = current;
    current = rt.keep(state);
    library = builtOn;
    if (old !== null) rt.drop(old);
  };
}

function commandsOf(engine) {
  return {
    ...sessionCommands(engine),
    ...goalCommands(engine),
    ...stepCommands(engine),
    ...pickleCommands(engine),
    ...frontendCommands(engine),
    ...targetCommands(engine),
    ...trackCommands(engine),
    ...inspectionCommands(engine),
    ...syntaxCommands(engine),
    ...traceCommands(engine),
    ...checkCommands(engine),
    ...judgeCommands(engine),
    ...engine.digests.commands,
    ...engine.replay.commands,
  };
}

main().catch((error) => {
  process.stderr.write(
    `${error instanceof Error ? error.message : `Lean failed to start: ${String(error)}`}\n`,
  );
  process.exit(2);
});
