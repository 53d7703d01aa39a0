"""A native Lean for the tests: `lean` and `lake` on the PATH, behind which the WebAssembly build works.

No test machine has elan. So the native engine's real start, pipes, kill, time-out and cache are run
with these two scripts: `lean -o` compiles with the WebAssembly build. Its own command line cannot
run programs (the package has no `.ir` files, so code that `Main.lean` imports is not found), and so
`lean --run` runs the program in the embedded host, over the same pipes.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from lean_dojo_v2.lean.engines.embedded.install import ensure_installed
from lean_dojo_v2.lean.engines.embedded.launch import (
    compiled_for,
    environment,
    sandboxed_argv,
)
from lean_dojo_v2.lean.engines.kept import kept
from lean_dojo_v2.lean.engines.program import MODULE, program

if TYPE_CHECKING:
    import pytest

SAID = "Lean (version 4.28.0, wasm32-unknown-emscripten, commit 38f3c0c4, Release)"

LEAN = """\
#!/bin/sh
exec {python} {script} "$@"
"""

LAKE = """\
#!/bin/sh
# Usage: lake env COMMAND… | lake build
case "$1" in
env) shift; LEAN_PATH="$PWD/.lake/build/lib/lean"; export LEAN_PATH; exec "$@" ;;
build) exit 0 ;;
*) echo "lake: unknown command: $1" >&2; exit 1 ;;
esac
"""


def write_toolchain(folder: Path) -> None:
    """Write `lean` and `lake` into a folder, which is to be put on the PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    python, script = (shlex.quote(word) for word in (sys.executable, str(Path(__file__).resolve())))
    for name, text in {"lean": LEAN.format(python=python, script=script), "lake": LAKE}.items():
        path = folder / name
        path.write_text(text)
        path.chmod(0o755)


def use_toolchain(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Make a folder's `lean` and `lake` the ones that native engines find, and nothing else."""
    write_toolchain(folder)
    patch.setenv("PATH", str(folder), prepend=os.pathsep)
    for variable in ("LEAN_DOJO_PANTOGRAPH", "LEAN_DOJO_ENGINE", "LEAN_DOJO_SANDBOX"):
        patch.delenv(variable, raising=False)


def lean(words: list[str]) -> int:
    """Do what `lean` does with these arguments, as far as the engine uses them."""
    match words:
        case ["--version"]:
            print(SAID)
            return 0
        case [root, "--json", "-o", target, *weak, source] if root.startswith("--root="):
            assert all(word.startswith("-Dweak.") for word in weak), "Lean has to pass over them"
            return _compile(Path(target), Path(source))
        case ["--run", main, *rest]:
            return _run(Path(main), rest)
    sys.stderr.write(f"lean: unknown arguments {words}\n")
    return 1


def _compile(target: Path, source: Path) -> int:
    home = ensure_installed()
    if source.read_text("utf-8") == program().text:  # this Lean has compiled it before
        target.write_bytes(compiled_for(home).read_bytes())
        return 0
    argv = sandboxed_argv(home, {}, [f"--compile={MODULE}"])
    text, env = source.read_bytes(), environment(home)
    done = subprocess.run(argv, input=text, capture_output=True, check=False, env=env)
    sys.stdout.buffer.write(done.stderr)  # lines of JSON
    target.write_bytes(done.stdout)
    return done.returncode


def _run(main: Path, words: list[str]) -> int:
    """Become the engine, whose answers go where the arguments say."""
    assert main.read_text("utf-8").startswith(f"import {MODULE}\n")
    home = ensure_installed()
    compiled = Path(os.environ["LEAN_PATH"].split(os.pathsep)[0]) / f"{MODULE}.olean"
    values = dict(word.split("=", 1) for word in words if word.startswith("--"))
    if "--answers" in values:
        os.dup2(os.open(values["--answers"], os.O_WRONLY), 1)
    project = Path(values["--project"]) if "--project" in values else None
    image = _image(
        home,
        compiled,
        [word for word in words if not word.startswith(("--answers=", "--project="))],
    )
    argv = sandboxed_argv(home, {"image": image, "project": project})
    os.execve(argv[0], argv, environment(home))


def _image(home: Path, compiled: Path, words: list[str]) -> Path:
    """Make the image of an engine that runs the compiled program, as the embedded one has it."""
    digest = hashlib.sha256("\0".join(words).encode() + compiled.read_bytes()).hexdigest()
    argv = sandboxed_argv(home, {"program": compiled}, words)

    def make(target: IO[bytes]) -> None:
        subprocess.run(argv, stdout=target, check=True, env=environment(home))

    return kept("image/*.image", f"native-{digest[:16]}", make)


if __name__ == "__main__":
    sys.exit(lean(sys.argv[1:]))
