"""An image is restored before any thread of the instance sees the memory."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lean_dojo_v2.lean.engines.embedded import launch
from lean_dojo_v2.lean.engines.embedded.install import ensure_installed, node_program

THREADS = """
const [, , host, install, image] = process.argv;
const { openLean, startThreads } = require(`${host}/boot.js`);
const { openImage } = require(`${host}/image.js`);

const until = async (done) => {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 20));
};
const memoryOf = (rt) => Buffer.from(rt.module.wasmMemory_().buffer);

(async () => {
  const rt = await (await openLean(install)).instantiate();
  const [thread] = rt.module.PThread.unusedWorkers;
  await new Promise((resolve) => setTimeout(resolve, 1000));
  console.log(`loaded before: ${thread.loaded === true}`);
  openImage(image).restore(rt);
  const restored = Buffer.from(memoryOf(rt));
  startThreads(rt);
  await until(() => thread.loaded);
  console.log(`memory is the image's: ${restored.equals(memoryOf(rt))}`);
  process.exit(0);
})();
"""


def test_threads_start_when_the_memory_is_in_place(tmp_path: Path) -> None:
    [image] = [
        word.removeprefix("--image=")
        for word in launch.embedded_plan(["Init"]).argv
        if word.startswith("--image=")
    ]
    script = tmp_path / "threads.js"
    script.write_text(THREADS)
    host = Path(launch.__file__).parent / "host"
    words = [str(script), str(host), str(ensure_installed()), image]
    said = subprocess.check_output(
        [node_program(), *launch._V8_FLAGS, *words], text=True, timeout=120
    )
    assert said.splitlines() == ["loaded before: false", "memory is the image's: true"]
