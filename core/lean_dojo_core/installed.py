"""Distributions: the names that matter here, and what one of them requires of the host."""

from __future__ import annotations

import re
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement

GROUP = "lean_dojo"
"""The entry-point group of plugins' manifests."""

KINDS_GROUP = "lean_dojo.kinds"
"""The entry-point group of modules with hook specifications, which add kinds of plugins."""

HOST_DISTRIBUTION = "lean-dojo-v2"


def normalise(name: str) -> str:
    """Fold a name, also ``distribution:name``: lower case, and runs of ``-_.`` become one ``-``."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_version(distribution: str) -> str | None:
    """Return a distribution's version; ``None`` if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def host_requirements(distribution: str) -> list[Requirement]:
    """Return a distribution's requirements on the host that apply here, without extras.

    One that is not installed, such as a file, requires nothing; what cannot be read is a
    ``ValueError``.
    """
    # Slow to import, and only third parties require the host.
    from packaging.requirements import Requirement

    try:
        texts = metadata.requires(distribution) or ()
    except metadata.PackageNotFoundError:
        return []
    named = ((re.split(r"[^\w.-]", text, maxsplit=1)[0], text) for text in texts)
    mine = [Requirement(text) for name, text in named if normalise(name) == HOST_DISTRIBUTION]
    return [one for one in mine if one.marker is None or one.marker.evaluate({"extra": ""})]
