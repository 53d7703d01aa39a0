"""What ``lean-dojo --version`` prints."""

from __future__ import annotations

import platform

from lean_dojo_core import API_VERSION, registry


def version_lines() -> list[str]:
    """Return the host's version, then one line for each third-party plugin distribution."""
    from lean_dojo_v2 import __version__

    major, minor = API_VERSION
    lines = [
        f"lean-dojo {__version__} (plugin API {major}.{minor}, Python {platform.python_version()})"
    ]
    plugins = {
        info.distribution: f"{info.distribution} {info.version}"
        + ("" if info.status == "active" else f" ({info.status})")
        for info in registry.current().plugins
        if not info.builtin
    }
    return [*lines, *plugins.values()]
