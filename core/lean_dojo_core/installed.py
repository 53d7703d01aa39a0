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
    """Fold a name, also ``distribution:name``: lower case, runs of ``-_.`` become one ``-``.

    >>> normalise("My_Plugin:Bonus")
    'my-plugin:bonus'
    """
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
    found = []
    for text in texts:
        if normalise(re.split(r"[^\w.-]", text, maxsplit=1)[0]) == HOST_DISTRIBUTION:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                found.append(requirement)
    return found
