"""The native engine: Pantograph's REPL, with the user's own toolchain, in the user's project."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path

from lean_dojo_core.errors import EngineUnavailableError
from lean_dojo_v2.lean.engines.capabilities import NATIVE
from lean_dojo_v2.lean.engines.groups import ProcessGroups
from lean_dojo_v2.lean.engines.process import LaunchPlan

VARIABLE = "LEAN_DOJO_PANTOGRAPH"
INSTALL = "pip install git+https://github.com/stanford-centaur/PyPantograph"
"""What brings the native engine. (``pantograph`` on PyPI is something else: a drawing library.)"""
SOUND_SINCE = (4, 34, 0)
"""The first Lean without the kernel soundness bugs that are known in November 2026."""
_REPL = "pantograph-repl"
_LAKE_TIMEOUT = 300.0


def find_repl() -> Path | None:
    """Find the program: ``LEAN_DOJO_PANTOGRAPH``, an installed PyPantograph, or the search path.

    Raises:
        EngineUnavailableError: The variable names something that cannot be run.
    """
    named = os.environ.get(VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise EngineUnavailableError(f"{VARIABLE} is {named!r}, which cannot be run.")
        return Path(found).absolute()
    spec = importlib.util.find_spec("pantograph")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        program = Path(folder) / _REPL
        if os.access(program, os.X_OK):
            return program
    on_path = shutil.which(_REPL)
    return None if on_path is None else Path(on_path)


def lake_lean_path(project: Path) -> str:
    """Ask Lake where the project's compiled modules lie: the value for ``LEAN_PATH``.

    Raises:
        EngineUnavailableError: Lake is not there, fails, or takes longer than five minutes.
    """
    argv = ["lake", "env", "printenv", "LEAN_PATH"]
    try:
        done = ProcessGroups().run(argv, cwd=project, timeout=_LAKE_TIMEOUT)
    except FileNotFoundError as error:
        raise EngineUnavailableError(
            f"The native Lean engine needs `lake` for the project {project}. Install Lean with "
            "elan, or give lean_path=… yourself."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise EngineUnavailableError(
            f"`{' '.join(argv)}` in {project} took longer than {_LAKE_TIMEOUT:.0f} s. Run "
            "`lake build` there first."
        ) from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise EngineUnavailableError(
            f"`{' '.join(argv)}` in {project} failed. Run `lake build` there first.\n{said[-1500:]}"
        )
    return os.fsdecode(done.stdout).strip()


def repl_version() -> str:
    """Ask the native engine which version of Pantograph it is.

    Raises:
        EngineUnavailableError: There is none, or it does not tell.
    """
    program = find_repl()
    if program is None:
        raise EngineUnavailableError(f"There is no {_REPL}. `{INSTALL}` brings it.")
    try:
        done = ProcessGroups().run([str(program), "--version"], cwd=Path(), timeout=_LAKE_TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineUnavailableError(f"{program} --version: {error}") from error
    if done.returncode != 0:
        raise EngineUnavailableError(f"{program} --version ended with status {done.returncode}.")
    return os.fsdecode(done.stdout).strip()


def warn_of_old_kernel(toolchain: str) -> None:
    """Warn once of a Lean whose kernel has known soundness bugs.

    Args:
        toolchain: A version, or a line of ``lean-toolchain``: ``leanprover/lean4:v4.20.0``.

    >>> warn_of_old_kernel("leanprover/lean4:v4.34.0")
    """
    found = re.search(r"(?:^|[:v\s])(\d+)\.(\d+)\.(\d+)", toolchain)
    version = tuple(map(int, found.groups())) if found else SOUND_SINCE
    if version < SOUND_SINCE and version not in _warned:
        _warned.add(version)
        warnings.warn(
            f"Lean {'.'.join(map(str, version))} has known kernel soundness bugs (fixed in "
            f"{'.'.join(map(str, SOUND_SINCE))}): a proof that it accepts may prove nothing. Check "
            "what you publish with a newer Lean.",
            stacklevel=2,
        )


_warned: set[tuple[int, ...]] = set()


def is_lake_project(folder: Path) -> bool:
    """Whether the folder has a lakefile."""
    return any((folder / name).is_file() for name in ("lakefile.toml", "lakefile.lean"))


def native_plan(
    imports: Sequence[str],
    *,
    project: Path | None = None,
    lean_path: str | None = None,
    core_options: Sequence[str] = (),
) -> LaunchPlan:
    """Say how to start the native engine, with the arguments of :func:`.selection.engine_plan`.

    The project has to be built. Without ``lean_path``, Lake is asked where compiled modules lie.

    Raises:
        EngineUnavailableError: There is no ``pantograph-repl``, or Lake cannot tell the path.
    """
    program = find_repl()
    if program is None:
        raise EngineUnavailableError(
            "The native Lean engine is Pantograph's REPL, and there is none. Install PyPantograph "
            f"for your Lean version (`{INSTALL}`), or set {VARIABLE} to the executable."
        )
    if lean_path is None and project is not None and is_lake_project(project):
        lean_path = lake_lean_path(project)
    toolchain = None if project is None else project / "lean-toolchain"
    if toolchain is not None and toolchain.is_file():
        warn_of_old_kernel(toolchain.read_text(errors="replace"))
    environment = dict(os.environ)
    if lean_path:
        environment["LEAN_PATH"] = lean_path
    return LaunchPlan(
        kind="native",
        capabilities=NATIVE,
        argv=(str(program), *imports, *(f"--{option}" for option in core_options)),
        env=environment,
        cwd=None if project is None else str(project),
        what=f"native Lean engine ({program.name})",
    )
