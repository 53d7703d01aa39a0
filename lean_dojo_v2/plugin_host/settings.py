"""The user's settings about plugins: which stay out, and which index is searched."""

from __future__ import annotations

import json
from typing import Any

from lean_dojo_core.errors import DataError
from lean_dojo_core.local import settings_file
from lean_dojo_v2.atomic import atomic_write_text

DISABLED = "disabled_plugins"
INDEX = "plugin_index"


def load_settings() -> dict[str, Any]:
    """Read the settings; empty if there are none.

    Raises:
        DataError: If the file is no JSON object.
    """
    file = settings_file()
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_bytes())
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", path=file) from error
    if not isinstance(found, dict) or not isinstance(found.get(DISABLED, []), list):
        raise DataError(f"is no JSON object whose {DISABLED!r} is a list", path=file)
    return found


def set_enabled(name: str, enabled: bool) -> bool:
    """Note that a plugin is to be left out, or not any more.

    Args:
        name: The plugin's distribution.
        enabled: Whether it is to be loaded.

    Returns:
        Whether that is a change.

    Raises:
        DataError: If the settings cannot be read.
    """
    settings = load_settings()
    names = set(settings.get(DISABLED, []))
    if (name not in names) == enabled:
        return False
    names ^= {name}
    file = settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps({**settings, DISABLED: sorted(names)}, indent=2) + "\n"
    atomic_write_text(file, content)
    return True
