"""Which installed distributions have an entry point in a group.

``importlib.metadata`` answers this, but with its imports (email, zipfile, socket, csv) a start took
150 ms longer (230 in place of 80, on two busy cores), as long as the rest of a listing together.
Distributions that are installed as folders, as pip does, are therefore read here; where anything
else is on the path, ``importlib.metadata`` is asked.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

GROUP = "lean_dojo"
"""The entry-point group of plugins."""

HOST_DISTRIBUTION = "lean-dojo-v2"


class InstalledEntryPoint(NamedTuple):
    """One line of a distribution's ``entry_points.txt``.

    Attributes:
        distribution: The distribution's name, as pip shows it.
        version: Its version.
        name: The entry point's name.
        value: What it names: ``"package.module"`` or ``"package.module:attribute"``.
        folder: The distribution's metadata folder; ``None`` if it is not a folder.
    """

    distribution: str
    version: str
    name: str
    value: str
    folder: str | None = None

    def requirements(self) -> list[str]:
        """Give the distribution's requirements, as written in its metadata."""
        from importlib import metadata
        from pathlib import Path

        if self.folder is not None:
            return metadata.Distribution.at(Path(self.folder)).requires or []
        return metadata.requires(self.distribution) or []


def entry_points(group: str) -> list[InstalledEntryPoint]:
    """List the entry points of a group; the first of equal distributions on the path wins."""
    if _only_folders():
        return list(_from_folders(group))
    from importlib import metadata

    found = metadata.entry_points(group=group)
    return [
        InstalledEntryPoint(
            point.dist.name or "unknown", point.dist.version or "unknown", point.name, point.value
        )
        for point in found
        if point.dist is not None
    ]


def plugins_installed() -> bool:
    """Whether anybody but the host brings a plugin; needs no import of theirs."""
    return any(normalise(p.distribution) != HOST_DISTRIBUTION for p in entry_points(GROUP))


def normalise(name: str) -> str:
    """Fold a distribution or plugin name: lower case, runs of ``-_.`` become one ``-``.

    >>> normalise("My_Plugin")
    'my-plugin'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def _only_folders() -> bool:
    """Whether all that is importable lies in ordinary folders."""
    for path in sys.path:
        if path.endswith((".egg", ".zip", ".whl")) and os.path.exists(path):  # noqa: PTH110 - fast
            return False
    usual = {"BuiltinImporter", "FrozenImporter", "PathFinder"}
    return not any(
        hasattr(finder, "find_distributions")
        for finder in sys.meta_path
        if getattr(finder, "__name__", "") not in usual
    )


def _from_folders(group: str) -> Iterator[InstalledEntryPoint]:
    seen: set[str] = set()
    for path in sys.path:
        try:
            names = sorted(os.listdir(path or "."))  # noqa: PTH208 - fast
        except OSError:  # a path that does not exist, or a file
            continue
        for folder in names:
            if not folder.endswith((".dist-info", ".egg-info")):
                continue
            stem, _, version = folder.rpartition(".")[0].partition("-")
            key = normalise(stem)
            if key in seen:
                continue
            seen.add(key)
            location = os.path.join(path or ".", folder)  # noqa: PTH118 - fast
            text = _read(os.path.join(location, "entry_points.txt"))  # noqa: PTH118
            if f"[{group}]" not in text:
                continue
            name, version = _identity(location, stem, version)
            for entry, value in _section(text, group):
                yield InstalledEntryPoint(name, version, entry, value, location)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:  # noqa: PTH123 - fast
            return stream.read()
    except OSError:  # most distributions have no entry points; an .egg-info may be a file
        return ""


def _identity(location: str, stem: str, version: str) -> tuple[str, str]:
    """Read name and version as written; the folder's name has them in a folded form."""
    text = _read(os.path.join(location, "METADATA")) or _read(os.path.join(location, "PKG-INFO"))  # noqa: PTH118
    fields = {"Name": stem, "Version": version or "unknown"}
    for line in text.partition("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        if key in fields:
            fields[key] = value.strip()
    return fields["Name"], fields["Version"]


def _section(text: str, group: str) -> Iterator[tuple[str, str]]:
    inside = False
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            # Extras after the value, `module:attr [extra]`, are obsolete and ignored.
            yield name.strip(), value.partition("[")[0].strip()
