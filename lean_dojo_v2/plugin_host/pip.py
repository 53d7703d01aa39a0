"""pip of this environment, and the plugins it changes."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lean_dojo_core import PluginInfo, registry
from lean_dojo_core.errors import PluginError, UsageError
from lean_dojo_core.installed import normalise

_ARCHIVES = (".whl", ".tar.gz", ".zip", ".tar.bz2")


def run_pip(arguments: Sequence[str]) -> None:
    """Run pip in this environment; what it prints goes to standard error.

    Args:
        arguments: For pip.

    Raises:
        UsageError: If there is no pip.
        PluginError: If pip fails; its output says why.
    """
    if importlib.util.find_spec("pip") is None:
        raise UsageError(
            f"there is no pip in {sys.prefix}: run `{sys.executable} -m ensurepip`, or use the "
            "installer of this environment, such as `uv pip`; `lean-dojo plugins` lists what is "
            "there afterwards"
        )
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, stdout=sys.__stderr__, check=False)
    if done.returncode != 0:
        raise PluginError(f"pip failed (exit code {done.returncode}); see its output above")


def checked_package(written: str, *, folder_only: bool = False) -> str:
    """Parse a package to install; the result is never an option of pip.

    Args:
        written: A requirement, an address, or the path of a folder or file, perhaps with extras.
        folder_only: Take only the path of a folder.

    Returns:
        The requirement as ``packaging`` has parsed it, the address, or the absolute path.

    Raises:
        UsageError: If it is none of these.

    >>> checked_package("lean-dojo-example >= 1"), checked_package("git+https://example.org/a.git")
    ('lean-dojo-example>=1', 'git+https://example.org/a.git')
    """
    from packaging.requirements import InvalidRequirement, Requirement

    path, bracket, extras = written.partition("[")
    # A bare name is a requirement even if there is such a folder, as in pip.
    is_path = "/" in path or os.sep in path or path.startswith(".") or path.endswith(_ARCHIVES)
    if folder_only or (is_path and "://" not in path):
        place = Path(path).expanduser().absolute()
        if not place.exists() or (folder_only and not place.is_dir()):
            what = "folder" if folder_only else "folder or file"
            raise UsageError(f"{written!r}: there is no such {what}")
        return f"{place}{_extras(bracket + extras, written)}"
    is_address = re.match(r"[a-z][a-z0-9+.]*://", written) is not None
    try:
        parsed = Requirement(f"package @ {written}" if is_address else written)
    except InvalidRequirement as error:
        raise UsageError(
            f"{written!r} is not a requirement such as 'name', 'name>=1' or 'name @ address', an "
            "address, or the path of a folder or wheel"
        ) from error
    if is_address and parsed.url is not None and parsed.url == written and not parsed.marker:
        return parsed.url
    return str(parsed)


def _extras(text: str, written: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        parsed = Requirement(f"package{text}")
    except InvalidRequirement as error:
        raise UsageError(f"{written!r}: {text!r} are no extras, such as '[test]'") from error
    return f"[{','.join(sorted(parsed.extras))}]" if parsed.extras else ""


def known() -> dict[str, PluginInfo]:
    """Return every plugin of this environment by its full name, as it is now."""
    return {info.name: info for info in registry.refresh().plugins}


def distribution_of(name: str) -> str:
    """Find the installed distribution of a plugin's name.

    Args:
        name: A distribution, an entry point, or ``distribution:entry-point``.

    Raises:
        UsageError: If there is no such plugin.
    """
    from lean_dojo_v2.structuring import suggestion

    for info in registry.current().plugins:
        if normalise(name) in info.aliases:
            return info.distribution
    names = sorted({info.distribution for info in registry.current().plugins})
    raise UsageError(
        f"no plugin {name!r} is installed.{suggestion(name, names)} `lean-dojo plugins` lists them"
    )
