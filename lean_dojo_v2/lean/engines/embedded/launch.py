"""Start the embedded engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lean_dojo_v2.lean.engines.capabilities import EMBEDDED
from lean_dojo_v2.lean.engines.embedded import install
from lean_dojo_v2.lean.engines.embedded.program import compiled_for, program_argv
from lean_dojo_v2.lean.engines.embedded.sandbox import environment
from lean_dojo_v2.lean.engines.process import LaunchPlan
from lean_dojo_v2.lean.errors import EngineUnavailableError


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
    home = ensure_installed().path
    own = [] if project is None else [project.resolve()]
    words = [*(f"--project={folder}" for folder in own), *imports, *core_options]
    program = compiled_for(home)
    argv = program_argv(home, program, words, readable=own, memory_limit_mb=memory_limit_mb)
    return LaunchPlan(
        kind="embedded",
        capabilities=EMBEDDED,
        argv=tuple(argv),
        env=environment(home),
        what="embedded Lean engine",
    )


def ensure_installed() -> install.Installation:
    """Return the installation; install first if necessary, with a message on stderr."""
    found = install.find()
    if found is not None:
        return found
    sys.stderr.write(
        f"lean-dojo: installing Lean {install.LEAN_VERSION} (once, 121 MB to fetch) into "
        f"{install.cache_folder()}\n"
    )
    with install.progress_bar() as progress:
        return install.install(progress)
