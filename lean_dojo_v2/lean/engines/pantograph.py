"""A foreign engine: the Pantograph REPL named by ``LEAN_DOJO_PANTOGRAPH``.

It has only Pantograph's own commands, so that :class:`.Server` can use it, but nothing is verified.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from lean_dojo_v2.lean.engines.capabilities import PANTOGRAPH
from lean_dojo_v2.lean.engines.process import LaunchPlan
from lean_dojo_v2.lean.errors import EngineUnavailableError

VARIABLE = "LEAN_DOJO_PANTOGRAPH"


def find_repl() -> Path | None:
    """Return the program named by the variable, or ``None`` if it is not set.

    Raises:
        EngineUnavailableError: The named program cannot be run.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    found = shutil.which(named)
    if found is None:
        raise EngineUnavailableError(f"{VARIABLE} is {named!r}, which cannot be run.")
    return Path(found).absolute()


def pantograph_plan(
    program: Path,
    imports: Sequence[str],
    *,
    project: Path | None = None,
    lean_path: str | None = None,
    core_options: Sequence[str] = (),
) -> LaunchPlan:
    """Return the launch plan of a REPL; other arguments as of :func:`.selection.engine_plan`."""
    environment = dict(os.environ)
    if lean_path:
        environment["LEAN_PATH"] = lean_path
    return LaunchPlan(
        kind="native",
        capabilities=PANTOGRAPH,
        argv=(str(program), *imports, *(f"--{option}" for option in core_options)),
        env=environment,
        cwd=None if project is None else str(project),
        what=f"native Lean engine ({program.name})",
    )
