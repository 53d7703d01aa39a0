"""Run our script under Node, with a sandbox, large stacks and limits.

Node's permission model allows reading the engine's folders and the project's, and nothing else:
no writing and no child processes. That model does not guard the
network (Node 24), but this Lean is built without libuv, so it has none. Its environment contains
nothing of the user's, so that no token can leak into an error message. The kernel limits its
memory.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from lean_dojo_v2.lean.engines.embedded.node import node_program

_PACKAGE = Path(__file__).resolve().parent
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
    """Return the command line that runs our script under Node.

    Args:
        home: Folder of the installed engine, which the script may read.
        words: Arguments of the script.
        readable: Further files and folders it may read.
        memory_limit_mb: Limit for the memory of the process.
    """
    script, watch = _PACKAGE / "host" / "main.js", _PACKAGE / "watch_parent.js"
    # Resolved, because Node checks the targets of links.
    folders = [path.resolve() for path in (script.parent, watch, home, *readable)]
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
        str(watch),
        str(script),
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
