"""JSON bytes, one way for every file that the database writes."""

from __future__ import annotations

import math
from typing import Any

import orjson

from lean_dojo_core.errors import DatabaseError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.data.codec import Json, theorem_to_dict

INFINITE = b"1e999"
"""Infinity as valid JSON: every reader that takes doubles gives ``inf`` for it."""


def dumps(value: Any, *, indented: bool = False) -> bytes:
    """Write a value as UTF-8, on one line or indented.

    Raises:
        DatabaseError: If it holds what JSON cannot say.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indented else None)
    except orjson.JSONEncodeError as error:
        raise DatabaseError(f"cannot be written as JSON: {error}") from error


def dump_theorem(theorem: Theorem) -> bytes:
    """Write a theorem as one line of ``dynamic_database.json``."""
    data: Json = theorem_to_dict(theorem)
    rating = theorem.difficulty_rating
    if rating is not None and math.isinf(rating):
        data["difficulty_rating"] = orjson.Fragment(INFINITE)
    return dumps(data)
