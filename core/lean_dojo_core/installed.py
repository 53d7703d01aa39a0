"""Names of distributions, and what plugins require of the host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement

GROUP = "lean_dojo"
"""The entry-point group of plugins."""

HOST_DISTRIBUTION = "lean-dojo-v2"


def normalise(name: str) -> str:
    """Fold a name, also ``distribution:name``: lower case, and runs of ``-_.`` become one ``-``."""
    return re.sub(r"[-_.]+", "-", name).lower()


def host_requirements(distribution: str) -> list[Requirement]:
    """Return what a distribution requires of the host here, extras excluded.

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
