"""Wording of messages."""

from __future__ import annotations


def counted(number: int, singular: str, plural: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "repository", "repositories"), counted(2, "repository", "repositories")
    ('1 repository', '2 repositories')
    """
    return f"{number} {singular if number == 1 else plural}"
