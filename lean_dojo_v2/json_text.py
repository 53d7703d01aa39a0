"""Strict parsing of users' JSON: no duplicate keys, limited nesting.

Python's parser recurses without limit and silently takes the last of equal keys.
"""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; ``NaN`` and ``Infinity``, which Python writes, are accepted.

    Raises:
        ValueError: If it is not JSON (a ``json.JSONDecodeError``, which knows the place), not
            Unicode, has a key twice, or is nested too deeply.

    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' occurs twice in one object
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r:.80} occurs twice in one object")
    return found
