"""Conversion between records and the JSON of LeanDojo-v2: databases, exported splits, corpora.

Two forms of a position occur in real files and are read everywhere: the string ``"(1, 2)"`` of
``dynamic_database.json`` and the list ``[1, 2]`` of exported data. Writers choose one.

Real files also have, and are read as: no ``theorem_statement`` (None), no or null
``traced_tactics`` (empty), no ``annotated_tactic`` (the bare tactic), no ``def_end_pos`` (the
start), a local path as ``url``, the same premise twice in one tactic (kept).

Every reader raises a ``MalformedError`` that names the missing or ill-typed key.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import orjson

from lean_dojo_core.records import (
    NO_GOALS,
    Annotation,
    Position,
    Premise,
    PremiseFile,
    Theorem,
    TracedTactic,
)
from lean_dojo_v2.data.difficulty import rated
from lean_dojo_v2.data.errors import MalformedError
from lean_dojo_v2.errors import DatabaseError
from lean_dojo_v2.json_text import parse_json

Json: TypeAlias = dict[str, Any]
PositionForm: TypeAlias = Callable[[Position], Any]
"""``str`` for ``"(1, 2)"``, ``list`` for ``[1, 2]``."""

_INFINITE = orjson.Fragment(b"1e999")
"""Infinity as valid JSON: every reader that takes doubles gives ``inf`` for it."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""A lone surrogate, which JSON may contain."""
_AS_IT_IS = ". The file is left as it is"

_T = TypeVar("_T")
_POSITION = re.compile(
    r"\s*(?:Pos)?\(?\s*(?:line_nb=)?(\d+)\s*,\s*(?:column_nb=)?(\d+)\s*\)?\s*", re.ASCII
)


def position_from_json(value: object) -> Position:
    """Read a position in either form.

    >>> position_from_json("(1, 2)"), position_from_json([1, 2])
    ((1, 2), (1, 2))
    """
    if isinstance(value, list | tuple) and len(value) == 2:
        line, column = value
        if type(line) is int and type(column) is int and line >= 0 <= column:
            return (line, column)
    elif isinstance(value, str):
        return _position_from_text(value)
    raise MalformedError(f'not a position such as "(1, 2)" or [1, 2]: {value!r:.80}')


@lru_cache(maxsize=1 << 16)
def _position_from_text(text: str) -> Position:
    match = _POSITION.fullmatch(text)
    if match is None:
        raise MalformedError(f'not a position such as "(1, 2)" or [1, 2]: {text!r:.80}')
    return (int(match[1]), int(match[2]))


# --- reading -----------------------------------------------------------------------------------


def read_json(path: Path) -> Any:
    """Parse a JSON file.

    Raises:
        DatabaseError: Naming the file and the line, if it cannot be read.
    """
    try:
        data = path.read_bytes()
        if data.startswith(b"SQLite format 3\0"):
            raise DatabaseError("an SQLite database; give it the suffix .sqlite", path=path)
        found = parse_json(data)
        if _SURROGATE.search(data):
            orjson.dumps(found)  # what cannot be stored again is refused
    except OSError as error:
        raise DatabaseError(f"cannot be read: {error.strerror}", path=path) from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno} (character {error.pos})"
        message = f"not JSON, or cut off: {error.msg}{_AS_IT_IS}; restore it from a copy"
        raise DatabaseError(message, path=path, place=place) from error
    except UnicodeDecodeError as error:
        message = f"not UTF-8{_AS_IT_IS}"
        raise DatabaseError(message, path=path, place=f"byte {error.start}") from error
    except (ValueError, orjson.JSONEncodeError) as error:
        raise DatabaseError(f"cannot be read: {error}{_AS_IT_IS}", path=path) from error
    return found


def theorem_from_dict(data: Mapping[str, Any], *, url: str = "", commit: str = "") -> Theorem:
    """Read one theorem of a database or of an exported split.

    Args:
        data: The JSON object.
        url: Used if the object has none.
        commit: Likewise.

    Its difficulty is not read, since it follows from the tactics.
    """
    require_object(data)
    statement = data.get("theorem_statement")
    if statement is not None and type(statement) is not str:
        raise MalformedError(f"not a string or null: {statement!r:.80}", "theorem_statement")
    return Theorem(
        full_name=read_text(data, "full_name"),
        file_path=read_text(data, "file_path"),
        start=_position(data, "start"),
        end=_position(data, "end"),
        url=read_text(data, "url", url),
        commit=read_text(data, "commit", commit),
        theorem_statement=statement,
        traced_tactics=tuple(read_items(data, "traced_tactics", tactic_from_dict)),
    )


def tactic_from_dict(data: Mapping[str, Any]) -> TracedTactic:
    """Read one traced tactic."""
    tactic = read_text(data, "tactic")
    annotated = tactic
    premises: tuple[Annotation, ...] = ()
    match data.get("annotated_tactic"):
        case [str(annotated), [*items]] if items:
            premises = tuple(_read_all(items, annotation_from_dict, "annotated_tactic[1]"))
        case [str(annotated), *_] | str(annotated):
            pass
        case None | []:
            pass
        case other:
            raise MalformedError(f"not [text, [premise, …]]: {other!r:.80}", "annotated_tactic")
    return TracedTactic(
        tactic,
        read_text(data, "state_before"),
        read_text(data, "state_after"),
        annotated=annotated,
        premises=premises,
        start=_position(data, "start") if data.get("start") is not None else None,
        end=_position(data, "end") if data.get("end") is not None else None,
        digest=read_text(data, "digest") if data.get("digest") is not None else None,
    )


def annotation_from_dict(data: Mapping[str, Any]) -> Annotation:
    """Read one premise of a tactic."""
    start = _position(data, "def_pos")
    end = _position(data, "def_end_pos") if data.get("def_end_pos") is not None else start
    return _annotation(read_text(data, "full_name"), read_text(data, "def_path"), start, end)


_annotation = lru_cache(maxsize=1 << 16)(Annotation)
"""Equal annotations are shared: a popular premise occurs tens of thousands of times."""


def premise_file_from_dict(data: Mapping[str, Any]) -> PremiseFile:
    """Read one file of a corpus or of a database."""
    require_object(data)
    return PremiseFile(
        path=read_text(data, "path"),
        imports=tuple(read_items(data, "imports", text_from_json)),
        premises=tuple(read_items(data, "premises", premise_from_dict)),
    )


def premise_from_dict(data: Mapping[str, Any]) -> Premise:
    """Read one premise of a corpus file."""
    return Premise(
        full_name=read_text(data, "full_name"),
        code=read_text(data, "code", ""),
        start=_position(data, "start"),
        end=_position(data, "end"),
        kind=read_text(data, "kind", ""),
    )


def require_object(data: object, place: str = "") -> None:
    """Refuse what is not a JSON object."""
    if not isinstance(data, Mapping):
        raise MalformedError(f"not an object: {data!r:.80}", place)


def text_from_json(value: object) -> str:
    """Read a string."""
    if type(value) is not str:
        raise MalformedError(f"not a string: {value!r:.80}")
    return value


def read_items(data: Mapping[str, Any], key: str, read: Callable[[Any], _T]) -> list[_T]:
    """Read a list that may be missing or null."""
    items = data.get(key)
    if items is None:
        return []
    if type(items) is not list and type(items) is not tuple:
        raise MalformedError(f"not a list: {items!r:.80}", key)
    return _read_all(items, read, key)


def _read_all(items: Sequence[Any], read: Callable[[Any], _T], place: str) -> list[_T]:
    result: list[_T] = []
    try:
        result.extend(map(read, items))
    except MalformedError as error:
        raise error.inside(f"{place}[{len(result)}]") from error
    except (AttributeError, TypeError) as error:
        bad = items[len(result)]
        raise MalformedError(f"not an object: {bad!r:.80}", f"{place}[{len(result)}]") from error
    return result


def read_text(data: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """Read a string, which may be missing or null if there is a default."""
    value = data.get(key, default)
    if type(value) is str:
        return value
    if value is None and default is not None:
        return default
    if key not in data:
        raise MalformedError(f"the key {key!r} is missing")
    raise MalformedError(f"not a string: {value!r:.80}", key)


def _position(data: Mapping[str, Any], key: str) -> Position:
    if key not in data:
        raise MalformedError(f"the key {key!r} is missing")
    try:
        return position_from_json(data[key])
    except MalformedError as error:
        raise error.inside(key) from error


# --- writing -----------------------------------------------------------------------------------


def dumps(value: Any, *, indented: bool = False) -> bytes:
    """Write a value as UTF-8 JSON, on one line or indented.

    Raises:
        DatabaseError: If it has no JSON form.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indented else None)
    except orjson.JSONEncodeError as error:
        raise DatabaseError(f"cannot be written as JSON: {error}") from error


def theorem_to_dict(theorem: Theorem) -> Json:
    """Write a theorem for a database: with every tactic and the difficulty."""
    return {
        "full_name": theorem.full_name,
        "theorem_statement": theorem.theorem_statement,
        "file_path": theorem.file_path,
        "start": str(theorem.start),
        "end": str(theorem.end),
        "url": theorem.url,
        "commit": theorem.commit,
        "traced_tactics": [_tactic_to_dict(tactic) for tactic in theorem.traced_tactics],
        "difficulty_rating": theorem.difficulty_rating,
    }


def _tactic_to_dict(tactic: TracedTactic) -> Json:
    data = _bare_tactic(tactic, str)
    if tactic.start is not None:
        data["start"] = str(tactic.start)
    if tactic.end is not None:
        data["end"] = str(tactic.end)
    if tactic.digest is not None:
        data["digest"] = tactic.digest
    return data


def _bare_tactic(tactic: TracedTactic, position: PositionForm) -> Json:
    return {
        "tactic": tactic.tactic,
        "annotated_tactic": [
            tactic.annotated,
            [
                {
                    "full_name": premise.full_name,
                    "def_path": premise.def_path,
                    "def_pos": position(premise.def_pos),
                    "def_end_pos": position(premise.def_end_pos),
                }
                for premise in tactic.premises
            ],
        ],
        "state_before": tactic.state_before,
        "state_after": tactic.state_after,
    }


def exported_theorem(theorem: Theorem) -> Json:
    """Write a theorem for a split file: without tactics that had nothing to prove."""
    return {
        "url": theorem.url,
        "commit": theorem.commit,
        "file_path": theorem.file_path,
        "full_name": theorem.full_name,
        "theorem_statement": theorem.theorem_statement,
        "start": theorem.start,
        "end": theorem.end,
        "traced_tactics": [
            _bare_tactic(tactic, tuple)
            for tactic in theorem.traced_tactics
            if tactic.state_before != NO_GOALS
        ],
    }


def premise_file_to_dict(file: PremiseFile, *, position: PositionForm = list) -> Json:
    """Write a corpus file: one line of ``corpus.jsonl``, or an entry of a database."""
    return {
        "path": file.path,
        "imports": list(file.imports),
        "premises": [
            {
                "full_name": premise.full_name,
                "code": premise.code,
                "start": position(premise.start),
                "end": position(premise.end),
                "kind": premise.kind,
            }
            for premise in file.premises
        ],
    }


# --- items of a repository's lists --------------------------------------------------------------


def read_item(collection: str, value: Any, *, url: str, commit: str) -> Any:
    """Read an item of one of a repository's lists from JSON: a theorem, a premise file, a path.

    Raises:
        MalformedError: (a ValueError) naming the key path of what is wrong.
    """
    if collection == "files_traced":
        return text_from_json(value)
    if collection == "premise_files":
        return premise_file_from_dict(value)
    return rated(theorem_from_dict(value, url=url, commit=commit))


def item_to_json(item: Theorem | PremiseFile | str) -> Any:
    """Return the JSON form of an item of one of a repository's lists; theorems are rated."""
    if isinstance(item, Theorem):
        return theorem_to_dict(rated(item))
    return premise_file_to_dict(item, position=str) if isinstance(item, PremiseFile) else item


def dump_item(item: Theorem | PremiseFile | str) -> bytes:
    """Write an item as one line of ``dynamic_database.json``.

    Raises:
        DatabaseError: If it has no JSON form.
    """
    value = item_to_json(item)
    if isinstance(item, Theorem) and value["difficulty_rating"] == math.inf:
        value["difficulty_rating"] = _INFINITE
    return dumps(value)


def path_of(item: Theorem | PremiseFile | str) -> str:
    """Return the file of an item of one of a repository's lists."""
    if isinstance(item, Theorem):
        return item.file_path
    return item.path if isinstance(item, PremiseFile) else item
