"""Counts of this process's engine requests, and of hits in their environment caches.

A header that imports Mathlib costs seconds and gigabytes, so engines cache the environments of the
last headers. Every answer reports hits and misses; the engines of a process are counted together.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import attrs


@attrs.frozen
class EnvironmentCounts:
    """Requests of this process's engines, and those for the environment of a header.

    Attributes:
        hits: Requests that found it loaded.
        misses: Requests that had to import it.
        requests: Requests of any kind.
        seconds: Total working time of the engines.
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
        """The share of hits, from 0 to 1; ``None`` without requests."""
        total = self.hits + self.misses
        return self.hits / total if total else None


class EnvironmentCounter:
    """Counts what engines are asked; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: defaultdict[str, float] = defaultdict(float)

    def counts(self) -> EnvironmentCounts:
        """Return what was counted so far."""
        with self._lock:
            found = self._counts
            hits, misses, requests = (int(found[name]) for name in ("hits", "misses", "requests"))
            return EnvironmentCounts(hits, misses, requests, found["seconds"])

    def add(self, found: Mapping[str, float]) -> None:
        """Add what an answer says, ``hits`` and ``misses`` of its request, or what it cost."""
        with self._lock:
            for name, value in found.items():
                self._counts[name] += value

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what this thread asks until the context ends, too."""
        token = _own.set(self)
        try:
            yield
        finally:
            _own.reset(token)


_all = EnvironmentCounter()
_own: ContextVar[EnvironmentCounter | None] = ContextVar("who counts beside", default=None)


def environment_counts() -> EnvironmentCounts:
    """Return what was counted in this process so far."""
    return _all.counts()


def count_environments(found: Mapping[str, float]) -> None:
    """Add to the counts of the process, and to those of whoever counts in this thread."""
    _all.add(found)
    if (own := _own.get()) is not None:
        own.add(found)
