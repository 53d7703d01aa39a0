"""A thread-safe LRU cache."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class LRUCache(Generic[V]):
    """The ``size`` most recently used values by key; safe to use from several threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._found: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """Return the value of a key, or None."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def get_or_compute(self, key: Hashable, compute: Callable[[], V]) -> V:
        """Return the value of a key, computed if missing."""
        value = self.get(key)
        if value is None:
            self[key] = value = compute()
        return value

    def __setitem__(self, key: Hashable, value: V) -> None:
        with self._lock:
            self._found[key] = value
            self._found.move_to_end(key)
            while len(self._found) > self._size:
                self._found.popitem(last=False)
