"""The latest progress message of this process, which a long command prints when it is silent."""

from __future__ import annotations

_said = {"so far": ""}


def at_work(got_to: str) -> None:
    """Note how far the work has got; nothing is printed.

    Args:
        got_to: For example ``12 of 240 files``; empty where nothing can be said.
    """
    _said["so far"] = got_to


def so_far() -> str:
    """Return what was noted last."""
    return _said["so far"]
