"""The engine's program, compiled once by the embedded Lean."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lean_dojo_v2.lean.engines.embedded.install import LEAN_VERSION
from lean_dojo_v2.lean.engines.embedded.sandbox import PACKAGE, environment, sandboxed_argv
from lean_dojo_v2.lean.engines.program import MODULE, Program, compiled_program, errors_of, program
from lean_dojo_v2.lean.errors import EngineUnavailableError

SHIPPED = "Dojo.Shipped"
"""The module that writes the compiled program, for the embedded Lean only."""
_SCRIPT = PACKAGE / "host" / "main.js"


def compiled_for(home: Path) -> Path:
    """Return the compiled program; compile it first if necessary, with a message on stderr.

    Args:
        home: The folder of the installed engine.

    Raises:
        EngineUnavailableError: It does not compile, or the cache cannot be written.
    """
    return compiled_program(home.name, partial(_compile, home), program(SHIPPED))


def program_argv(
    home: Path,
    compiled: Path,
    words: Sequence[str],
    *,
    readable: Sequence[Path] = (),
    memory_limit_mb: int | None = None,
) -> list[str]:
    """Return the command line that runs a compiled program; arguments as of ``sandboxed_argv``."""
    return sandboxed_argv(
        home,
        _SCRIPT,
        [f"--program={compiled.resolve()}", *words],
        readable=[compiled, *readable],
        memory_limit_mb=memory_limit_mb,
    )


def _compile(home: Path, wanted: Program) -> bytes:
    sys.stderr.write("lean-dojo: compiling the engine's program (once, about a minute)\n")
    argv = sandboxed_argv(home, _SCRIPT, [f"--compile={MODULE}"])
    text, env = wanted.text.encode(), environment(home)
    done = subprocess.run(argv, input=text, capture_output=True, check=False, env=env)
    if done.returncode == 0 and done.stdout:
        return done.stdout
    errors = "\n".join(errors_of(wanted, done.stderr.decode(errors="replace")))
    raise EngineUnavailableError(
        f"The engine's program does not compile with the embedded Lean {LEAN_VERSION}:\n{errors}"
    )
