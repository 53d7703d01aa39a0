'use strict';
/** Where the modules of a project lie: its source folders, and those of packages inside it, are nobody's to tell. */

const fs = require('node:fs');
const path = require('node:path');

/** Where Lake fetches packages; other hidden folders have no sources. */
const PACKAGES = path.join('.lake', 'packages');
const NOT_SOURCES = new Set(['build', 'lake-packages', 'node_modules']);

/** @param {string} project the project's folder */
function createSources(project) {
  /** last part of a path → the files of that name, those nearest to the project first */
  let byName = null;
  const places = new Map();

  /**
   * The file of a module, relative to the project, or null: the one in the project's folder itself, else the one with
   * the shortest path that ends in the module's.
   */
  function find(module) {
    const own = path.join(...module.split('.')) + '.lean';
    if (isFile(own)) return own;
    const known = places.get(module);
    if (known !== undefined && isFile(known)) return known;
    byName = index();
    const found = (byName.get(path.basename(own)) ?? []).find((file) => file.endsWith(path.sep + own));
    if (found !== undefined) places.set(module, found);
    return found ?? null;
  }
  function isFile(file) {
    try {
      return fs.statSync(path.join(project, file)).isFile();
    } catch {
      return false;
    }
  }

  function index() {
    const found = new Map();
    let level = ['', PACKAGES];
    while (level.length > 0) level = level.flatMap((folder) => read(folder, found)).sort();
    return found;
  }

  /** Notes the Lean files of a folder, and gives the folders in it. */
  function read(folder, found) {
    const folders = [];
    for (const entry of list(folder)) {
      const inner = path.join(folder, entry.name);
      if (entry.isDirectory() && !entry.name.startsWith('.') && !NOT_SOURCES.has(entry.name))
        folders.push(inner);
      else if (entry.isFile() && entry.name.endsWith('.lean'))
        found.set(entry.name, [...(found.get(entry.name) ?? []), inner]);
    }
    return folders;
  }
  function list(folder) {
    try {
      return fs.readdirSync(path.join(project, folder), { withFileTypes: true });
    } catch {
      return [];
    }
  }

  return { find };
}

module.exports = { createSources };
