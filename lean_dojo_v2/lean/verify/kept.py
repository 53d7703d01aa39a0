"""What was found out lately, and need not be asked again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Kept(Generic[V]):
    """Answers by key, the ``size`` used last; safe to use from several threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._found: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, find: Callable[[], V]) -> V:
        """Return the answer of a key; ``find`` finds it where it is not known."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        value = find()
        self[key] = value
        return value

    def known(self, key: Hashable) -> V | None:
        """Return the answer of a key; None where it is not known."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def __setitem__(self, key: Hashable, value: V) -> None:
        with self._lock:
            self._found[key] = value
            self._found.move_to_end(key)
            while len(self._found) > self._size:
                self._found.popitem(last=False)
