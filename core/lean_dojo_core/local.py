"""Single-file plugins, and the user's own list of disabled plugins.

``lean_dojo_plugins.py`` in the user's folder, and every ``.py`` file of the folder that
``LEAN_DOJO_PLUGINS_DIR`` names, is a manifest like any other. It is imported as
``lean_dojo_core.local.NAME``, in every process of a run; a target in it is ``f"{__name__}:Thing"``.

Paths are texts here: every listing reads these places, and pathlib is slow to import.
"""

from __future__ import annotations

import os

CONFIG_VARIABLE = "LEAN_DOJO_CONFIG_DIR"
FOLDER_VARIABLE = "LEAN_DOJO_PLUGINS_DIR"
FILE = "lean_dojo_plugins.py"
DISABLED = "disabled-plugins.txt"

__path__: list[str] = []


def folder() -> str:
    """Return the folder of the user's own files: ``LEAN_DOJO_CONFIG_DIR``, or in ``~/.config``."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser(os.path.join("~", ".config"))
    return os.environ.get(CONFIG_VARIABLE) or os.path.join(base, "lean-dojo")


def disabled() -> list[str]:
    """Return the plugins that the user has disabled, one name per line.

    Raises:
        OSError: If the list cannot be read; ignoring it would load disabled plugins.
    """
    try:
        with open(os.path.join(folder(), DISABLED), encoding="utf-8", errors="replace") as names:
            return names.read().split()
    except (FileNotFoundError, NotADirectoryError):
        return []


def files() -> list[str]:
    """List the single-file plugins.

    Raises:
        OSError: If the folder of ``LEAN_DOJO_PLUGINS_DIR`` cannot be read.
    """
    _look()
    own = os.path.join(folder(), FILE)
    found = [own] if os.path.isfile(own) else []
    if other := os.environ.get(FOLDER_VARIABLE):
        names = sorted(os.listdir(other)) if os.path.isdir(other) else []
        found += [os.path.join(other, name) for name in names if _is_module(name)]
    return found


def _is_module(name: str) -> bool:
    stem, dot = os.path.splitext(name)
    return dot == ".py" and stem.isidentifier()


def _look() -> None:
    """Point the import system at the current plugin folders."""
    places = [folder(), os.environ.get(FOLDER_VARIABLE, "")]
    __path__[:] = [place for place in places if place]


_look()
