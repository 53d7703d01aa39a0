"""Single-file plugins, and the user's own list of disabled plugins.

``lean_dojo_plugins.py`` beside the settings, and every ``.py`` file of the folder that
``LEAN_DOJO_PLUGINS_DIR`` names, is a manifest like any other. It is imported as
``lean_dojo_core.local.NAME``, in every process of a run; a target in it is ``f"{__name__}:Thing"``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

from lean_dojo_core.errors import UnreadableFileError

CONFIG_VARIABLE = "LEAN_DOJO_CONFIG_DIR"
FOLDER_VARIABLE = "LEAN_DOJO_PLUGINS_DIR"
FILE = "lean_dojo_plugins.py"
DISABLED = "disabled_plugins"
"""The setting that lists what is not to be loaded."""

__path__: list[str] = []


def settings_file() -> Path:
    """Return the path of the user's settings, ``settings.json``.

    It is in ``LEAN_DOJO_CONFIG_DIR`` or ``~/.config``.
    """
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    folder = os.environ.get(CONFIG_VARIABLE) or Path(base, "lean-dojo")
    return Path(folder, "settings.json")


def read_settings() -> dict[str, Any]:
    """Read the user's settings; empty if there are none.

    Raises:
        UnreadableFileError: If they cannot be read: to go on without them would load what they
            disable.
    """
    file = settings_file()
    if not file.is_file():
        return {}
    import json  # most have no such file

    hint = "repair the file, or remove it to load every plugin"
    try:
        found = json.loads(file.read_bytes())
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {error.strerror}", path=file) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(f"is not JSON: {error}; {hint}", path=file) from error
    names = found.get(DISABLED, []) if isinstance(found, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UnreadableFileError(
            f"is not a JSON object whose {DISABLED!r} is a list of names; {hint}", path=file
        )
    return cast("dict[str, Any]", found)


def files() -> list[Path]:
    """List the single-file plugins."""
    _look()
    found = [file for file in (settings_file().with_name(FILE),) if file.is_file()]
    if folder := os.environ.get(FOLDER_VARIABLE):
        found += sorted(file for file in Path(folder).glob("*.py") if file.stem.isidentifier())
    return found


def _look() -> None:
    """Have the import system look where the files are now."""
    places = [str(settings_file().parent), os.environ.get(FOLDER_VARIABLE, "")]
    __path__[:] = [place for place in places if place]


_look()
