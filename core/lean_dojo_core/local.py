"""Single-file plugins, and the user's own list of disabled plugins.

``lean_dojo_plugins.py`` in the user's folder, and every ``.py`` file of the folder that
``LEAN_DOJO_PLUGINS_DIR`` names, is a manifest like any other. It is imported as
``lean_dojo_core.local.NAME``, in every process of a run; a target in it is ``f"{__name__}:Thing"``.
"""

import os
from pathlib import Path

CONFIG_VARIABLE = "LEAN_DOJO_CONFIG_DIR"
FOLDER_VARIABLE = "LEAN_DOJO_PLUGINS_DIR"
FILE = "lean_dojo_plugins.py"
DISABLED = "disabled-plugins.txt"

__path__: list[str] = []


def folder() -> Path:
    """Return the folder of the user's own files: ``LEAN_DOJO_CONFIG_DIR``, or in ``~/.config``."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path("~", ".config").expanduser()
    return Path(os.environ.get(CONFIG_VARIABLE) or Path(base, "lean-dojo"))


def disabled() -> list[str]:
    """Return the plugins that the user has disabled, one name per line.

    An unreadable list is an ``OSError``: ignoring it would load disabled plugins.
    """
    try:
        return (folder() / DISABLED).read_text(encoding="utf-8", errors="replace").split()
    except (FileNotFoundError, NotADirectoryError):
        return []


def files() -> list[Path]:
    """List the single-file plugins; an unreadable folder is an ``OSError``."""
    _search_plugin_folders()
    own = folder() / FILE
    found = [own] if own.is_file() else []
    if other := os.environ.get(FOLDER_VARIABLE):
        inside = sorted(Path(other).iterdir()) if Path(other).is_dir() else []
        found += [file for file in inside if file.suffix == ".py" and file.stem.isidentifier()]
    return found


def _search_plugin_folders() -> None:
    """Point the import system at the current plugin folders."""
    places = [str(folder()), os.environ.get(FOLDER_VARIABLE, "")]
    __path__[:] = [place for place in places if place]


_search_plugin_folders()
