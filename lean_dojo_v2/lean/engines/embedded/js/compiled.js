'use strict';
/**
 * Compiled modules of a project: the files that Lean itself writes and imports. A text whose imports lie there imports
 * them, and nothing has to be elaborated twice; whoever goes through a project in the order of its imports (the tracer)
 * asks for each module and puts it beside its source.
 */

const fs = require('node:fs');
const path = require('node:path');
const { LeanIOError } = require('./runtime.js');

/** Where compiled modules of the project lie in Lean's file system. */
const FOLDER = '/lean/project';
/** `OLeanLevel.private`: all of a module, as of one that is no `module`. */
const WHOLE = 5; // box(2)

/** @param {object} engine everything main.js put together */
function createCompiled({ rt, environments, initializers, project }) {
  const { FS } = rt.module;
  const inside = (module) => `${FOLDER}/${module}.olean`;
  const outside = (module) => `${path.join(project, ...module.split('.'))}.olean`;

  /**
   * A module as bytes; null where Lean cannot write it.
   * @param {string} module its name
   * @param {number} env the environment behind its last command; what it began with was imported
   */
  function write(module, env) {
    FS.mkdirTree(FOLDER);
    try {
      const data = rt.io('l_Lean_mkModuleData', initializers.upToDate(env), WHOLE);
      rt.io('l_Lean_saveModuleData', rt.string(inside(module)), rt.name(module), data);
    } catch (error) {
      if (error instanceof LeanIOError) return null;
      throw error;
    }
    const bytes = FS.readFile(inside(module));
    FS.unlink(inside(module));
    return Buffer.from(bytes);
  }

  /**
   * The environment of some imports, or null where a module of the project is not compiled.
   * @param {string[]} imports
   * @param {string[]} own the project's modules among them and below, in the order of their imports
   */
  function environment(imports, own) {
    const known = own.map((module) => fs.statSync(outside(module), { throwIfNoEntry: false }));
    if (known.includes(undefined)) return null;
    const state = known.map(({ mtimeMs, size }) => `${mtimeMs} ${size}`);
    FS.mkdirTree(FOLDER);
    own.forEach((module) => FS.writeFile(inside(module), fs.readFileSync(outside(module))));
    try {
      const files = new Map(own.map((module) => [module, inside(module)]));
      return environments.importCompiled({ imports, files, state });
    } finally {
      own.forEach((module) => FS.unlink(inside(module)));
    }
  }

  return { write, environment };
}

module.exports = { createCompiled };
