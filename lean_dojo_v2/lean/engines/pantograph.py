"""A foreign engine: the Pantograph REPL that ``LEAN_DOJO_PANTOGRAPH`` names.

It knows Pantograph's own commands alone, so a step on it cannot be verified before the proof is
finished.
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
    """Return the program that the variable names, or ``None`` if it is not set.

    Raises:
        EngineUnavailableError: The variable names something that cannot be run.
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
    """Say how to start a REPL; the other arguments are those of :func:`.selection.engine_plan`."""
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
