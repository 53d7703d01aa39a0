"""What the engines of this process were asked, and how often they had a text's imports loaded.

A header that imports Mathlib costs seconds and gigabytes, so engines keep the environments of the
headers they met last. Every answer says what its request found or had to import; the engines of a
process are counted together.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping

import attrs


@attrs.frozen
class EnvironmentCounts:
    """Requests of this process's engines, and those for the environment of a header.

    Attributes:
        hits: How many found it loaded.
        misses: How many had to import it.
        requests: How many requests there were of any kind.
        seconds: How long the engines worked on them, added up.
    """

    hits: int = 0
    misses: int = 0
    requests: int = 0
    seconds: float = 0.0

    def __sub__(self, earlier: EnvironmentCounts) -> EnvironmentCounts:
        return EnvironmentCounts(
            self.hits - earlier.hits,
            self.misses - earlier.misses,
            self.requests - earlier.requests,
            self.seconds - earlier.seconds,
        )

    @property
    def hit_rate(self) -> float | None:
        """The share of hits, from 0 to 1; ``None`` where nothing was asked for."""
        total = self.hits + self.misses
        return self.hits / total if total else None


_lock = threading.Lock()
_counts: defaultdict[str, float] = defaultdict(float)


def environment_counts() -> EnvironmentCounts:
    """Return what was counted in this process so far."""
    with _lock:
        hits, misses, requests = (int(_counts[name]) for name in ("hits", "misses", "requests"))
        return EnvironmentCounts(hits, misses, requests, _counts["seconds"])


def count_environments(found: Mapping[str, float]) -> None:
    """Add what an answer says, ``hits`` and ``misses`` of its request, or what it cost."""
    with _lock:
        for name, value in found.items():
            _counts[name] += value
