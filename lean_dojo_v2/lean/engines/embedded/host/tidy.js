'use strict';
/** Files that a request leaves in Lean's file system, which is in this process's memory, go with it. */

/** @param {object} rt the runtime, when everything that is to stay is there */
function createTidy(rt) {
  const { FS } = rt.module;
  const folder = FS.cwd();
  const streams = new Set(openStreams());
  /** path → the content of a file, null for everything else; what is mounted from outside is read only. */
  const first = new Map(walk().map(([path, node]) => [path, contentOf(node)]));

  function openStreams() {
    return FS.streams.filter((stream) => stream != null).map(({ fd }) => fd);
  }

  /** Every node of this memory as [path, node], folders before what is in them. */
  function walk() {
    const found = [];
    const pending = [['', FS.root]];
    while (pending.length > 0) {
      const [path, node] = pending.pop();
      for (const [name, child] of Object.entries(node.contents)) {
        found.push([`${path}/${name}`, child]);
        const isFolder = FS.isDir(child.mode);
        if (isFolder && !FS.isMountpoint(child) && child.mount.mountpoint === '/')
          pending.push([`${path}/${name}`, child]);
      }
    }
    return found;
  }
  function contentOf(node) {
    if (!FS.isFile(node.mode)) return null;
    return Buffer.from((node.contents ?? []).slice(0, node.usedBytes));
  }

  /** Makes the file system what it was at the start. */
  return function tidy() {
    for (const fd of openStreams()) if (!streams.has(fd)) FS.closeStream(fd);
    if (FS.cwd() !== folder) FS.chdir(folder);
    const now = walk();
    for (const [path, node] of now.reverse()) {
      if (first.has(path)) continue;
      if (FS.isDir(node.mode)) FS.rmdir(path);
      else FS.unlink(path);
    }
    const left = new Map(now);
    for (const [path, content] of first) {
      if (content === null) continue;
      const node = left.get(path);
      if (node === undefined || !contentOf(node)?.equals(content)) FS.writeFile(path, content);
    }
  };
}

module.exports = { createTidy };
