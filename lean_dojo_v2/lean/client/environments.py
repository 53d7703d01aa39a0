"""Counts of this process's engine requests, and of hits in their environment caches.

A header that imports Mathlib costs seconds and gigabytes, so engines cache the environments of the
last headers. Every answer reports hits and misses; the engines of a process are counted together.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from operator import sub
from typing import Self

import attrs


@attrs.define
class EnvironmentCounts:
    """Requests to engines, and their total working time in ``seconds``.

    Of those for the environment of a header, ``hits`` found it loaded and ``misses`` had to import
    it; ``requests`` are of any kind.
    """

    hits: int = 0
    misses: int = 0
    requests: int = 0
    seconds: float = 0.0

    def __sub__(self, earlier: Self) -> Self:
        return type(self)(*map(sub, attrs.astuple(self), attrs.astuple(earlier)))

    @property
    def hit_rate(self) -> float | None:
        """The share of hits, from 0 to 1; ``None`` without requests."""
        total = self.hits + self.misses
        return self.hits / total if total else None

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count here, too, what this thread asks until the context ends."""
        token = _own.set(self)
        try:
            yield
        finally:
            _own.reset(token)


all_engines = EnvironmentCounts()
"""What was counted in this process so far."""
_own: ContextVar[EnvironmentCounts | None] = ContextVar("who counts beside", default=None)
_lock = threading.Lock()


def count_environments(hits: int = 0, misses: int = 0, seconds: float | None = None) -> None:
    """Count environments, and a request if it has its ``seconds``, for all who count."""
    with _lock:
        for counts in (all_engines, _own.get()):
            if counts is not None:
                counts.hits += hits
                counts.misses += misses
                counts.requests += seconds is not None
                counts.seconds += seconds or 0.0
