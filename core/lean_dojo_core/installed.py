"""Which installed distributions bring plugins: their entry points in the group ``lean_dojo``."""

from __future__ import annotations

import re
from typing import NamedTuple

GROUP = "lean_dojo"
"""The entry-point group of plugins."""

HOST_DISTRIBUTION = "lean-dojo-v2"


class InstalledEntryPoint(NamedTuple):
    """One entry point of the group.

    Attributes:
        distribution: The distribution's name, as pip shows it; a file's name for a plugin that is
            one file.
        version: Its version.
        name: The entry point's name.
        value: What it names: ``"package.module"`` or ``"package.module:attribute"``.
        requirements: The distribution's requirements, as written in its metadata.
    """

    distribution: str
    version: str
    name: str
    value: str
    requirements: tuple[str, ...] = ()


def entry_points() -> list[InstalledEntryPoint]:
    """List the group's entry points; the first of equal distributions on the path wins."""
    from importlib import metadata  # a manifest that wants a marker alone does not pay for it

    brought: dict[metadata.Distribution, list[metadata.EntryPoint]] = {}
    for point in metadata.entry_points(group=GROUP):
        if point.dist is not None:
            brought.setdefault(point.dist, []).append(point)
    found = []
    for distribution, points in brought.items():
        about = distribution.metadata  # parsed anew at each look
        requirements = tuple(about.get_all("Requires-Dist") or ())
        # Of a distribution that is half deleted the metadata are gone.
        name, version = about["Name"] or "unknown", about["Version"] or "unknown"
        found += [
            InstalledEntryPoint(name, version, point.name, point.value, requirements)
            for point in points
        ]
    return found


def normalise(name: str) -> str:
    """Fold a distribution or plugin name: lower case, runs of ``-_.`` become one ``-``.

    >>> normalise("My_Plugin")
    'my-plugin'
    """
    return re.sub(r"[-_.]+", "-", name).lower()
