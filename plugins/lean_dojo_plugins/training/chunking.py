"""Examples taken some at a time, and counts of those that are too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

import attrs

CHUNK_SIZE = 1000
"""Rows tokenised and written at once."""

Item = TypeVar("Item")


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Split a stream into lists of at most ``size`` items."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


@attrs.define
class TooLong:
    """Counts of the examples that were too long.

    Attributes:
        shortened: Examples whose goal was shortened.
        skipped: Examples that did not fit even then, and were left out.

    >>> TooLong(shortened=12, skipped=3).describe(1024)
    'max_length=1024: 12 goals shortened, 3 examples left out'
    """

    shortened: int = 0
    skipped: int = 0

    def describe(self, max_length: int | None) -> str:
        """Describe both numbers; empty if both are zero."""
        if not self.shortened and not self.skipped:
            return ""
        return (
            f"max_length={max_length}: {self.shortened} goals shortened, "
            f"{self.skipped} examples left out"
        )


def nothing_fits(examples: int, max_length: int | None) -> str:
    """Return the message that all examples were too long."""
    return (
        f"none of {examples} examples fits into max_length={max_length}, even with its goal "
        "shortened; raise max_length"
    )
