"""The latest progress message of this process, which a long command prints when it is silent."""

from __future__ import annotations

_message = ""


def at_work(got_to: str) -> None:
    """Record the progress of the work; nothing is printed.

    Args:
        got_to: For example ``12 of 240 files``; may be empty.
    """
    global _message  # noqa: PLW0603
    _message = got_to


def so_far() -> str:
    """Return the last recorded progress."""
    return _message
