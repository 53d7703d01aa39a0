"""The latest progress message of this process, which a long command prints when it is silent."""

from __future__ import annotations

_message = ""


def at_work(got_to: str) -> None:
    """Record the progress of the work, such as ``12 of 240 files``; nothing is printed."""
    global _message  # noqa: PLW0603
    _message = got_to


def so_far() -> str:
    """Return the last recorded progress."""
    return _message
