"""One process among several that share a job, as ``torchrun`` and its like start them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import attrs

ItemT = TypeVar("ItemT")


@attrs.frozen
class Process:
    """One of several processes.

    Attributes:
        index: Which one, from 0.
        count: How many there are, on all machines.
        here: How many run on this machine.
    """

    index: int = 0
    count: int = 1
    here: int = 1

    @property
    def leads(self) -> bool:
        """Whether it does what one does for all."""
        return self.index == 0

    def share(self, items: Sequence[ItemT]) -> list[ItemT]:
        """Return this process's part; the parts of all are the whole.

        >>> [Process(index, 2).share("abcde") for index in range(2)]
        [['a', 'c', 'e'], ['b', 'd']]
        """
        return list(items[self.index :: self.count])


def processes_here(count: int) -> int:
    """Return how many of a job's processes run on this machine, all unless the launcher says."""
    return int(os.environ.get("LOCAL_WORLD_SIZE") or count)
