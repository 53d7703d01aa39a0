"""Conversion between records and the JSON of LeanDojo-v2: databases, exported splits, corpora.

Two forms of a position occur in real files and are read everywhere: the string ``"(1, 2)"`` of
``dynamic_database.json`` and the list ``[1, 2]`` of exported data. Writers choose one.

Real files also have, and are read as: no ``theorem_statement`` (None), no or null
``traced_tactics`` (empty), no ``annotated_tactic`` (the bare tactic), no ``def_end_pos`` (the
start), a local path as ``url``, the same premise twice in one tactic (kept).

Every reader raises a ``MalformedError`` that names the missing or ill-typed key.
"""

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
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
from lean_dojo_v2.data.errors import MalformedError
from lean_dojo_v2.data.ratings import rated
from lean_dojo_v2.errors import DatabaseError

Json: TypeAlias = dict[str, Any]
PositionForm: TypeAlias = Callable[[Position], Any]
"""``str`` for ``"(1, 2)"``, ``list`` for ``[1, 2]``."""

_INFINITE = orjson.Fragment(b"1e999")
"""Infinity as valid JSON: every reader that takes doubles gives ``inf`` for it."""

T = TypeVar("T")
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
    elif isinstance(value, str) and (found := _position_from_text(value)):
        return found
    raise MalformedError(f'not a position such as "(1, 2)" or [1, 2]: {value!r:.80}')


@lru_cache(maxsize=1 << 16)
def _position_from_text(text: str) -> Position | None:
    match = _POSITION.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def field(data: Mapping[str, Any], key: str, read: Callable[[Any], T], default: Any = ...) -> T:
    """Read the value of a key, which may be missing or null if there is a default."""
    value = data.get(key)
    if value is None and default is not ...:
        return default  # type: ignore[no-any-return]
    if value is None and key not in data:
        raise MalformedError(f"the key {key!r} is missing")
    try:
        return read(value)
    except MalformedError as error:
        raise error.inside(key) from error


def text_from_json(value: object) -> str:
    """Read a string."""
    if type(value) is not str:
        raise MalformedError(f"not a string: {value!r:.80}")
    return value


def require_object(data: object) -> Mapping[str, Any]:
    """Refuse what is not a JSON object."""
    if not isinstance(data, Mapping):
        raise MalformedError(f"not an object: {data!r:.80}")
    return data


def items_from_json(read: Callable[[Any], T]) -> Callable[[Any], tuple[T, ...]]:
    """Make a reader of lists from one of items."""

    def read_all(items: Any) -> tuple[T, ...]:
        if type(items) is not list and type(items) is not tuple:
            raise MalformedError(f"not a list: {items!r:.80}")
        found: list[T] = []
        try:
            found.extend(map(read, items))
        except MalformedError as error:
            raise error.inside(f"[{len(found)}]") from error
        except (AttributeError, TypeError) as error:
            bad = items[len(found)]
            raise MalformedError(f"not an object: {bad!r:.80}", f"[{len(found)}]") from error
        return tuple(found)

    return read_all


def theorem_from_dict(data: Mapping[str, Any], *, url: str = "", commit: str = "") -> Theorem:
    """Read one theorem of a database or split; ``url`` and ``commit`` are used if it has none.

    Its difficulty is not read, since it follows from the tactics.
    """
    require_object(data)
    return Theorem(
        full_name=field(data, "full_name", text_from_json),
        file_path=field(data, "file_path", text_from_json),
        start=field(data, "start", position_from_json),
        end=field(data, "end", position_from_json),
        url=field(data, "url", text_from_json, url),
        commit=field(data, "commit", text_from_json, commit),
        theorem_statement=field(data, "theorem_statement", text_from_json, None),
        traced_tactics=field(data, "traced_tactics", _TACTICS, ()),
    )


def _tactic(data: Mapping[str, Any]) -> TracedTactic:
    tactic = field(data, "tactic", text_from_json)
    annotated, premises = field(data, "annotated_tactic", _annotated, ("", ()))
    return TracedTactic(
        tactic,
        field(data, "state_before", text_from_json),
        field(data, "state_after", text_from_json),
        annotated=annotated or tactic,
        premises=premises,
        start=field(data, "start", position_from_json, None),
        end=field(data, "end", position_from_json, None),
        digest=field(data, "digest", text_from_json, None),
    )


def _annotated(value: Any) -> tuple[str, tuple[Annotation, ...]]:
    """Read ``[text, [premise, …]]``, of which both parts may be missing."""
    match value:
        case []:
            return "", ()
        case str(text) | [str(text)] | [str(text), None]:
            return text, ()
        case [str(text), items]:
            try:
                return text, _ANNOTATIONS(items)
            except MalformedError as error:
                raise error.inside("[1]") from error
    raise MalformedError(f"not [text, [premise, …]]: {value!r:.80}")


def _premise_of_a_tactic(data: Mapping[str, Any]) -> Annotation:
    start = field(data, "def_pos", position_from_json)
    return _annotation(
        field(data, "full_name", text_from_json),
        field(data, "def_path", text_from_json),
        start,
        field(data, "def_end_pos", position_from_json, start),
    )


_annotation = lru_cache(maxsize=1 << 16)(Annotation)
"""Equal annotations are shared: a popular premise occurs tens of thousands of times."""


def premise_file_from_dict(data: Mapping[str, Any]) -> PremiseFile:
    """Read one file of a corpus or of a database."""
    require_object(data)
    return PremiseFile(
        path=field(data, "path", text_from_json),
        imports=field(data, "imports", _TEXTS, ()),
        premises=field(data, "premises", _PREMISES, ()),
    )


def _premise(data: Mapping[str, Any]) -> Premise:
    return Premise(
        full_name=field(data, "full_name", text_from_json),
        code=field(data, "code", text_from_json, ""),
        start=field(data, "start", position_from_json),
        end=field(data, "end", position_from_json),
        kind=field(data, "kind", text_from_json, ""),
    )


_TEXTS = items_from_json(text_from_json)
_TACTICS = items_from_json(_tactic)
_ANNOTATIONS = items_from_json(_premise_of_a_tactic)
_PREMISES = items_from_json(_premise)


def dumps(value: Any, *, indented: bool = False) -> bytes:
    """Write a value as UTF-8 JSON, on one line or indented."""
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
    more = {"start": tactic.start, "end": tactic.end, "digest": tactic.digest}
    known = {key: str(value) for key, value in more.items() if value is not None}
    return _bare_tactic(tactic, str) | known


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


def read_item(collection: str, value: Any, *, url: str, commit: str) -> Any:
    """Read an item of one of a repository's lists from JSON: a theorem, a premise file, a path."""
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
    """Write an item as one line of ``dynamic_database.json``."""
    value = item_to_json(item)
    if isinstance(item, Theorem) and value["difficulty_rating"] == math.inf:
        value["difficulty_rating"] = _INFINITE
    return dumps(value)


def path_of(item: Theorem | PremiseFile | str) -> str:
    """Return the file of an item of one of a repository's lists."""
    if isinstance(item, Theorem):
        return item.file_path
    return item.path if isinstance(item, PremiseFile) else item
