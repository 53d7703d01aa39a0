"""Distributions: their names, their plugins' entry points, what they require of the host."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from packaging.requirements import Requirement

GROUP = "lean_dojo"
"""The entry-point group of plugins."""

HOST_DISTRIBUTION = "lean-dojo-v2"

Point: TypeAlias = tuple[str | None, str | None, str, str]
"""Distribution and version, ``None`` without metadata; the entry point's name and value."""


def normalise(name: str) -> str:
    """Fold a name, also ``distribution:name``: lower case, and runs of ``-_.`` become one ``-``."""
    return re.sub(r"[-_.]+", "-", name).lower()


def points() -> Iterator[Point]:
    """List the entry points of plugins; the first of equal distributions on the path wins.

    They are read from the folders on the path: importing ``importlib.metadata`` takes as long as
    the rest of the program, so it is used only with other kinds of path entries or finders.
    """
    others = sum(hasattr(finder, "find_distributions") for finder in sys.meta_path) > 1
    if others or any(map(os.path.isfile, sys.path)):  # a zip
        from importlib import metadata

        for point in metadata.entry_points(group=GROUP):
            about: Any = {} if point.dist is None else point.dist.metadata
            yield about.get("Name"), about.get("Version"), point.name, point.value
        return
    seen: set[str] = set()
    for path in dict.fromkeys(sys.path):
        folders = os.listdir(path or ".") if os.path.isdir(path or ".") else []  # noqa: PTH112, PTH208
        for folder in sorted(folders):
            if folder.endswith((".dist-info", ".egg-info")):
                distribution = normalise(folder.rpartition(".")[0].partition("-")[0])
                if distribution not in seen:
                    seen.add(distribution)
                    yield from _points_in(os.path.join(path, folder))  # noqa: PTH118


def _points_in(folder: str) -> Iterator[Point]:
    ours = _text(folder, "entry_points.txt").partition(f"[{GROUP}]")[2].partition("\n[")[0]
    lines = [line for line in ours.splitlines() if "=" in line and line[:1] not in "#;"]
    if lines:
        head = (_text(folder, "METADATA") or _text(folder, "PKG-INFO")).partition("\n\n")[0]
        about = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        for line in lines:
            name, _, value = line.partition("=")
            yield about.get("Name"), about.get("Version"), name.strip(), value.strip()


def _text(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as stream:  # noqa: PTH118, PTH123
            return stream.read()
    except OSError:
        return ""


def host_requirements(distribution: str) -> list[Requirement]:
    """Return a distribution's requirements on the host that apply here, without extras.

    Args:
        distribution: Its name; one that is not installed, such as a file, requires nothing.

    Raises:
        ValueError: If such a requirement cannot be read.
    """
    from importlib import metadata

    from packaging.requirements import Requirement

    try:
        texts = metadata.requires(distribution) or ()
    except metadata.PackageNotFoundError:
        return []
    mine = [
        Requirement(text)
        for text in texts
        if normalise(re.split(r"[^\w.-]", text, maxsplit=1)[0]) == HOST_DISTRIBUTION
    ]
    return [one for one in mine if one.marker is None or one.marker.evaluate({"extra": ""})]
