"""How often an engine had a text's imports loaded already.

A header that imports Mathlib costs seconds and gigabytes, so engines keep the environments of the
headers they met last. Every answer says what its request found or had to import; the engines of a
process are counted together.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

import attrs


@attrs.frozen
class EnvironmentCounts:
    """Requests of this process's engines for the environment of a header.

    Attributes:
        hits: How many found it loaded.
        misses: How many had to import it.
    """

    hits: int = 0
    misses: int = 0

    def __sub__(self, earlier: EnvironmentCounts) -> EnvironmentCounts:
        return EnvironmentCounts(self.hits - earlier.hits, self.misses - earlier.misses)

    @property
    def hit_rate(self) -> float | None:
        """The share of hits, from 0 to 1; ``None`` where nothing was asked for."""
        total = self.hits + self.misses
        return self.hits / total if total else None


_lock = threading.Lock()
_counts = Counter[str]()


def environment_counts() -> EnvironmentCounts:
    """Return what was counted in this process so far."""
    return EnvironmentCounts(_counts["hits"], _counts["misses"])


def count_environments(found: Mapping[str, int]) -> None:
    """Add what an answer says: ``hits`` and ``misses`` of its request."""
    with _lock:
        _counts.update(found)
