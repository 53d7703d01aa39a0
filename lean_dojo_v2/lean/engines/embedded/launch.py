"""Start the embedded engine: our script under Node, with a sandbox, large stacks and limits.

Node's permission model allows reading the engine's folders and the project's, and nothing else:
no writing and no child processes. That model does not guard the network (Node 24), but this Lean
is built without libuv, so it has none. Its environment contains nothing of the user's, so that no
token can leak into an error message. The kernel limits its memory.

The program that it runs is compiled once, by the embedded Lean itself.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lean_dojo_v2.lean.engines.embedded.install import LEAN_VERSION, ensure_installed, node_program
from lean_dojo_v2.lean.engines.process import Capabilities, LaunchPlan
from lean_dojo_v2.lean.engines.program import MODULE, Program, compiled_program, errors_of, program
from lean_dojo_v2.lean.errors import EngineUnavailableError

SHIPPED = "Dojo.Shipped"
"""The module that writes the compiled program, for the embedded Lean only."""
_HOST = Path(__file__).resolve().parent / "host"
STACK_KB = 131_072
"""Stack of Node's main thread, in kilobytes; elaboration is deeply recursive."""
NODE_STACK_KB = 60_000
"""Stack for V8, in kilobytes. Both must be large, or deep terms crash the engine."""
DATA_OVERHEAD_MB = 2_600
"""Data that the kernel counts besides resident memory: 2,200 MB of reserves, and a margin."""

# Limits must be set in the child. A shell does that between fork and exec, where Python code would
# be unsafe in a program with threads.
_LIMITS = (
    'ulimit -c 0; ulimit -s {stack} 2>/dev/null || ulimit -s "$(ulimit -H -s)"; {data}exec "$@"'
)


def embedded_plan(
    imports: Sequence[str],
    *,
    project: Path | None = None,
    core_options: Sequence[str] = (),
    memory_limit_mb: int | None = None,
) -> LaunchPlan:
    """Return the launch plan of the embedded engine, installing it first if necessary.

    The imports are modules of Init, Std or Lean. The engine may read the folder ``project``; the
    kernel keeps its memory to the limit.
    """
    home = ensure_installed()
    compiled = compiled_for(home)
    own = [] if project is None else [project.resolve()]
    words = [f"--program={compiled.resolve()}", *(f"--project={folder}" for folder in own)]
    argv = sandboxed_argv(
        home,
        [*words, *imports, *core_options],
        readable=[compiled, *own],
        memory_limit_mb=memory_limit_mb,
    )
    return LaunchPlan(
        kind="embedded",
        argv=tuple(argv),
        env=environment(home),
        what="embedded Lean engine",
        capabilities=Capabilities(ours=True, sandboxed=True),
    )


def compiled_for(home: Path) -> Path:
    """Return the compiled program; compile it first if necessary, with a message on stderr."""
    return compiled_program(home.name, partial(_compile, home), program(SHIPPED))


def _compile(home: Path, wanted: Program) -> bytes:
    sys.stderr.write("lean-dojo: compiling the engine's program (once, about a minute)\n")
    argv = sandboxed_argv(home, [f"--compile={MODULE}"])
    text, env = wanted.text.encode(), environment(home)
    done = subprocess.run(argv, input=text, capture_output=True, check=False, env=env)
    if done.returncode == 0 and done.stdout:
        return done.stdout
    errors = "\n".join(errors_of(wanted, done.stderr.decode(errors="replace")))
    raise EngineUnavailableError(
        f"The engine's program does not compile with the embedded Lean {LEAN_VERSION}:\n{errors}"
    )


def environment(home: Path) -> dict[str, str]:
    """Return the environment of an engine, with nothing of the user's."""
    return {"LANG": "C.UTF-8", "HOME": str(home.resolve())}


def sandboxed_argv(
    home: Path,
    words: Sequence[str],
    *,
    readable: Sequence[Path] = (),
    memory_limit_mb: int | None = None,
) -> list[str]:
    """Return the command line that runs our script with its ``words`` under Node.

    It may read the folder of the installed engine, ``home``, and what is ``readable``.
    """
    # Resolved, because Node checks the targets of links.
    folders = [path.resolve() for path in (_HOST, home, *readable)]
    return [
        *_with_limits(memory_limit_mb),
        node_program(),
        f"--stack-size={NODE_STACK_KB}",
        "--wasm-lazy-validation",  # most of the module never runs; its digest is known
        "--max-semi-space-size=4",  # megabytes: JavaScript does little here
        "--no-warnings",
        # Emscripten lets C, and so Lean (`@[extern]`), run JavaScript from strings.
        "--disallow-code-generation-from-strings",
        "--permission",
        "--allow-worker",
        *(f"--allow-fs-read={path}" for path in dict.fromkeys(folders)),
        "--require",
        str(_HOST / "watch_parent.js"),
        str(_HOST / "main.js"),
        f"--install={home.resolve()}",
        *words,
    ]


def _with_limits(memory_limit_mb: int | None) -> list[str]:
    """Return the words that run a program under limits.

    The memory is limited by what the kernel counts as data: a limit on addresses would forbid the
    10 GB that V8 reserves for a WebAssembly memory without using them.
    """
    data = ""
    if memory_limit_mb is not None and sys.platform == "linux":
        data = f"ulimit -d {(memory_limit_mb + DATA_OVERHEAD_MB) * 1024}\n"
    return ["/bin/sh", "-c", _LIMITS.format(stack=STACK_KB, data=data), "sh"]
