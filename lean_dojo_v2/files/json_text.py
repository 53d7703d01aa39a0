"""Strict parsing of users' JSON, in texts and files: no duplicate keys, limited nesting.

Python's parser recurses without limit and silently takes the last of equal keys.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import orjson

from lean_dojo_core.errors import DataError

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_AS_IT_IS = ". The file is left as it is"


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


def read_json(path: Path, error: type[DataError] = DataError) -> Any:
    """Parse a JSON file.

    Raises:
        DataError: (of the given class) naming the file and the line, if it cannot be read.
    """
    try:
        data = path.read_bytes()
        if data.startswith(b"SQLite format 3\0"):
            raise error("an SQLite database; give it the suffix .sqlite", path=path)
        found = parse_json(data)
        if _SURROGATE.search(data):  # perhaps a lone one
            orjson.dumps(found)  # what cannot be stored again is refused
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror}", path=path) from problem
    except json.JSONDecodeError as problem:
        place = f"line {problem.lineno}, column {problem.colno} (character {problem.pos})"
        message = f"not JSON, or cut off: {problem.msg}{_AS_IT_IS}; restore it from a copy"
        raise error(message, path=path, place=place) from problem
    except UnicodeDecodeError as problem:
        place = f"byte {problem.start}"
        raise error(f"not UTF-8{_AS_IT_IS}", path=path, place=place) from problem
    except (ValueError, orjson.JSONEncodeError) as problem:
        raise error(f"cannot be read: {problem}{_AS_IT_IS}", path=path) from problem
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r:.80} occurs twice in one object")
    return found
