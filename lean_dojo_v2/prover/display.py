"""What a search shows while it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable


def batch_printer() -> Callable[[], None]:
    """Give a function that prints a line to standard error for every generated batch."""
    count = 0

    def show() -> None:
        nonlocal count
        count += 1
        print(f"batch {count}: tactics generated, Lean tries them", file=sys.stderr)

    return show
