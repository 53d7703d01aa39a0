"""The user's settings about plugins: which are not loaded."""

from __future__ import annotations

import json

from lean_dojo_core.local import DISABLED, read_settings, settings_file
from lean_dojo_v2.atomic import atomic_write_text


def set_enabled(name: str, enabled: bool) -> bool:
    """Note that a plugin is to be left out, or not any more.

    Args:
        name: The plugin's distribution.
        enabled: Whether it is to be loaded.

    Returns:
        Whether that is a change.

    Raises:
        UnreadableFileError: If the settings cannot be read.
    """
    settings = read_settings()
    names = set(settings.get(DISABLED, []))
    if (name not in names) == enabled:
        return False
    names ^= {name}
    file = settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps({**settings, DISABLED: sorted(names)}, indent=2) + "\n"
    atomic_write_text(file, content)
    return True
