"""pip of this environment, and what it brought or took away."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence

from lean_dojo_core import PluginInfo, registry
from lean_dojo_core.errors import PluginError, UsageError
from lean_dojo_core.installed import normalise


def run_pip(arguments: Sequence[str]) -> None:
    """Run pip in this environment; what it prints goes to standard error.

    Args:
        arguments: For pip.

    Raises:
        UsageError: If there is no pip.
        PluginError: If pip fails; it has said why.
    """
    if importlib.util.find_spec("pip") is None:
        raise UsageError(
            f"there is no pip in {sys.prefix}: run `{sys.executable} -m ensurepip`, or use the "
            "installer of this environment, such as `uv pip`; `lean-dojo plugins` lists what is "
            "there afterwards"
        )
    command = [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check"]
    done = subprocess.run(command, stdout=sys.__stderr__, check=False)
    if done.returncode != 0:
        raise PluginError(f"pip failed (exit code {done.returncode}); see its output above")


def known() -> dict[str, PluginInfo]:
    """Return every plugin of this environment by its full name, as it is now."""
    return {info.name: info for info in registry.refresh().plugins}


def distribution_of(name: str) -> str:
    """Find the installed distribution that somebody means.

    Args:
        name: A distribution, an entry point, or ``distribution:entry-point``.

    Raises:
        UsageError: If nothing that is installed is called so.
    """
    from lean_dojo_v2.structuring import suggestion

    for info in registry.current().plugins:
        if normalise(name) in info.aliases:
            return info.distribution
    names = sorted({info.distribution for info in registry.current().plugins})
    raise UsageError(
        f"no plugin {name!r} is installed.{suggestion(name, names)} `lean-dojo plugins` lists them"
    )
