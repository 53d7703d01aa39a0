"""One of several processes that share a job, as started by ``torchrun`` and the like."""

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
        index: Its number, from 0.
        count: Number of processes, on all machines.
        here: Number of processes on this machine.
    """

    index: int = 0
    count: int = 1
    here: int = 1

    @property
    def leads(self) -> bool:
        """Whether it is the main process."""
        return self.index == 0

    def share(self, items: Sequence[ItemT]) -> list[ItemT]:
        """Return this process's share; the shares partition the items.

        >>> [Process(index, 2).share("abcde") for index in range(2)]
        [['a', 'c', 'e'], ['b', 'd']]
        """
        return list(items[self.index :: self.count])


def processes_here(count: int) -> int:
    """Return how many of a job's processes run on this machine; default: all."""
    return int(os.environ.get("LOCAL_WORLD_SIZE") or count)
