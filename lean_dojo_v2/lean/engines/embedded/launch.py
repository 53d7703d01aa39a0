"""Start the embedded engine: its sandbox, its stacks and its limits.

Lean code is a guest here. Node's permission model lets it read the engine's own folders and the
project's, and nothing else; it may write nothing and start nothing. That model does not guard the
network (Node 24), but this Lean is built without libuv and reaches none. Its environment has
nothing of the user's, so that no token can leak into an error message. The kernel keeps its memory
below a limit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lean_dojo_core.errors import EngineUnavailableError
from lean_dojo_v2.lean.engines.capabilities import EMBEDDED
from lean_dojo_v2.lean.engines.embedded import install
from lean_dojo_v2.lean.engines.embedded.node import node_program
from lean_dojo_v2.lean.engines.process import LaunchPlan

STACK_KB = 131_072
"""Stack of Node's main thread, in kilobytes; elaboration is deeply recursive."""
NODE_STACK_KB = 60_000
"""How much of it V8 may use. Both must be large: with one alone, deep terms crash the engine."""
DATA_OVERHEAD_MB = 2_600
"""What the kernel counts as data besides resident memory: 2,200 MB of reserves, and a margin."""

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
    """Say how to start the embedded engine, installing it first if need be.

    The arguments are those of :func:`.selection.engine_plan`, the imports modules of Init, Std or
    Lean. The engine may read the folder ``project``; the kernel keeps its memory to the limit.

    Raises:
        EngineUnavailableError: It is not installed and cannot be, or this system cannot run it.
    """
    if os.name != "posix":
        raise EngineUnavailableError(
            "The embedded Lean engine runs on Linux and macOS. On Windows, use WSL or the native "
            "engine."
        )
    installed = ensure_installed()
    # Resolved, because Node's permissions are about where a link leads.
    package = Path(__file__).resolve().parent
    source, watch, home = package / "js", package / "watch_parent.js", installed.path.resolve()
    own = [] if project is None else [project.resolve()]
    argv = [
        *_with_limits(memory_limit_mb),
        node_program(),
        f"--stack-size={NODE_STACK_KB}",
        "--wasm-lazy-validation",  # most of the module never runs, and it is known by its digest
        "--no-warnings",
        # Emscripten lets C, and so Lean (`@[extern]`), run JavaScript that it gives as a text.
        "--disallow-code-generation-from-strings",
        "--permission",
        "--allow-worker",
        *(f"--allow-fs-read={path}" for path in (source, watch, home, *own)),
        "--require",
        str(watch),
        str(source / "main.js"),
        f"--install={home}",
        *(f"--project={folder}" for folder in own),
        *imports,
        *core_options,
    ]
    return LaunchPlan(
        kind="embedded",
        capabilities=EMBEDDED,
        argv=tuple(argv),
        env={"LANG": "C.UTF-8", "HOME": str(home)},
        what="embedded Lean engine",
    )


def ensure_installed() -> install.Installation:
    """Return the installation; make it first if there is none, saying so on stderr."""
    found = install.find()
    if found is not None:
        return found
    sys.stderr.write(
        f"lean-dojo: installing Lean {install.LEAN_VERSION} (once, 121 MB to fetch) into "
        f"{install.cache_folder()}\n"
    )
    with install.progress_bar() as progress:
        return install.install(progress)


def _with_limits(memory_limit_mb: int | None) -> list[str]:
    """Return the words that run a program under limits.

    The memory is limited by what the kernel counts as data: a limit on addresses would forbid the
    10 GB that V8 reserves for a WebAssembly memory without using them.
    """
    data = ""
    if memory_limit_mb is not None and sys.platform == "linux":
        data = f"ulimit -d {(memory_limit_mb + DATA_OVERHEAD_MB) * 1024}\n"
    return ["/bin/sh", "-c", _LIMITS.format(stack=STACK_KB, data=data), "sh"]
