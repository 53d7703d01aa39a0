"""Start the embedded engine, whose program is compiled once by the embedded Lean itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lean_dojo_v2.lean.engines.embedded.install import LEAN_VERSION, ensure_installed
from lean_dojo_v2.lean.engines.embedded.sandbox import environment, sandboxed_argv
from lean_dojo_v2.lean.engines.process import Capabilities, LaunchPlan
from lean_dojo_v2.lean.engines.program import MODULE, Program, compiled_program, errors_of, program
from lean_dojo_v2.lean.errors import EngineUnavailableError

SHIPPED = "Dojo.Shipped"
"""The module that writes the compiled program, for the embedded Lean only."""


def embedded_plan(
    imports: Sequence[str],
    *,
    project: Path | None = None,
    core_options: Sequence[str] = (),
    memory_limit_mb: int | None = None,
) -> LaunchPlan:
    """Return the launch plan of the embedded engine, installing it first if necessary.

    The arguments are those of :func:`.selection.engine_plan`, the imports modules of Init, Std or
    Lean. The engine may read the folder ``project``; the kernel keeps its memory to the limit.

    Raises:
        EngineUnavailableError: It cannot be installed, or this system cannot run it.
    """
    if os.name != "posix":
        raise EngineUnavailableError(
            "The embedded Lean engine runs on Linux and macOS. On Windows, use WSL or the native "
            "engine."
        )
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
    """Return the compiled program; compile it first if necessary, with a message on stderr.

    Args:
        home: The folder of the installed engine.

    Raises:
        EngineUnavailableError: It does not compile, or the cache cannot be written.
    """
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
