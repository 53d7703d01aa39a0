"""Strict conversion of plain values (YAML, JSON) to annotated types: ``"3"`` is not an integer.

Errors say what is wrong and at which key.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_core.settings import settings_of, type_text


class WrongValue(ValueError):  # noqa: N818 - describes a wrong value, not a failure
    """A value does not fit its type.

    Args:
        message: The expected and the given value.
        path: Keys and indices from the outer value to the wrong one.
    """

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        self.path = path
        super().__init__(message)


def structure(value: Any, annotation: Any) -> Any:
    """Turn a plain value into an annotated type.

    >>> structure({"a": 1}, dict[str, float])
    {'a': 1.0}
    >>> structure("3", int)
    Traceback (most recent call last):
    lean_dojo_v2.structuring.WrongValue: expected int, got '3' (str)

    Raises:
        WrongValue: If it does not fit.
    """
    kind, arguments = typing.get_origin(annotation) or annotation, typing.get_args(annotation)
    if kind is Any or kind is object:
        return value
    if kind is typing.Annotated:
        return structure(value, arguments[0])
    if kind in {typing.Union, types.UnionType}:
        return _union(value, annotation)
    if kind is typing.Literal:
        return _literal(value, annotation)
    if kind in {str, int, float, bool}:
        return _primitive(value, kind)
    if kind is Path:
        return _path(value)
    if kind is Callable:
        return _instance(value, annotation)
    if _is_record(kind):
        return _record(value, kind)
    if _subclass(kind, Mapping):
        return _mapping(value, annotation, *(arguments or (Any, Any)))
    if _subclass(kind, Collection):
        return _collection(value, annotation, kind, arguments)
    raise WrongValue(
        f"a value of type {type_text(annotation)} cannot be written in a file; set it from Python"
    )


def suggestion(name: str, known: Iterable[str], nested: Iterable[str] = ()) -> str:
    """Return `` Did you mean …?`` or, without similar names, the known ones.

    Args:
        name: The unknown name.
        known: The names that exist.
        nested: Dotted names below them, such as ``config.lr``; the last part is compared.

    >>> suggestion("LR", ["lr", "epochs"])
    " Did you mean 'lr'?"
    >>> suggestion("max_epoch", ["config"], ["config.max_epochs"])
    " Did you mean 'config.max_epochs'?"
    """
    known = list(known)
    if close := near(name, known, nested):
        return f" Did you mean {' or '.join(map(repr, close))}?"
    return f" It has: {', '.join(known) or 'none'}."


def near(name: str, known: Iterable[str], nested: Iterable[str] = ()) -> list[str]:
    """Return up to three similar names, the most similar first.

    >>> near("learning_rate", ["lr", "formatter"]), near("epochs", ["epochs_per_repo", "seed"])
    (['lr'], ['epochs_per_repo'])
    """
    scores = {one: _likeness(name, one) for one in known}
    for one in nested:
        scores.setdefault(one, 0.9 * _likeness(name, one.rpartition(".")[2]))
    best = max(scores.values(), default=0.0)
    close = [one for one, score in scores.items() if score >= max(0.54, best - 0.1)]
    return sorted(close, key=lambda one: -scores[one])[:3]


def _likeness(name: str, option: str) -> float:
    """Compare two names, from 0 to 1: by letters, by words, and as an abbreviation."""
    one, other = name.lower(), option.lower()
    words, others = re.split(r"[\W_]+", one), re.split(r"[\W_]+", other)
    if (
        one == other
        or "".join(word[:1] for word in words) == other
        or (len(words) == 1 and one == "".join(word[:1] for word in others))
    ):
        return 1.0
    within = set(words) <= set(others) or set(words) >= set(others)
    return max(0.75 if within else 0.0, difflib.SequenceMatcher(None, one, other).ratio())


def _mapping(value: Any, annotation: Any, key: Any, item: Any) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise WrongValue(f"expected a mapping ({type_text(annotation)}), got {_shown(value)}")
    return {structure(one, key): _within(one, value[one], item) for one in value}


def _collection(value: Any, annotation: Any, kind: type, arguments: tuple[Any, ...]) -> Any:
    """Build a list, a tuple or a set; a single text counts as a list of one text."""
    item = arguments[0] if arguments else Any
    if isinstance(value, str) and item in (str, Any):
        value = [value]
    fixed = kind is tuple and len(arguments) > 0 and arguments[-1] is not ...
    if not isinstance(value, list | tuple) or (fixed and len(value) != len(arguments)):
        raise WrongValue(f"expected a list ({type_text(annotation)}), got {_shown(value)}")
    items = [
        _within(index, one, arguments[index] if fixed else item) for index, one in enumerate(value)
    ]
    return kind(items) if kind in {tuple, set, frozenset} else items


def _within(key: Any, value: Any, annotation: Any) -> Any:
    """Convert a part of a value; errors in it get its key."""
    try:
        return structure(value, annotation)
    except WrongValue as error:
        raise WrongValue(str(error), (key, *error.path)) from error


def _subclass(kind: Any, of: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, of)


def _is_record(annotation: Any) -> bool:
    return attrs.has(annotation) or (
        isinstance(annotation, type) and dataclasses.is_dataclass(annotation)
    )


def _primitive(value: Any, kind: type) -> Any:
    if type(value) is kind:
        return value
    if kind is float and type(value) is int:
        return float(value)
    raise WrongValue(f"expected {kind.__name__}, got {_shown(value)}")


def _path(value: Any) -> Path:
    if isinstance(value, str | Path) and str(value):
        return Path(value)
    raise WrongValue(f"expected a path, got {_shown(value)}")


def _instance(value: Any, kind: Any) -> Any:
    if callable(value):
        return value
    raise WrongValue(
        f"expected a {type_text(kind)}, which can only be given in Python; got {_shown(value)}"
    )


def _literal(value: Any, kind: Any) -> Any:
    options = typing.get_args(kind)
    for option in options:
        if value == option and type(value) is type(option):
            return option
    raise WrongValue(f"expected {type_text(kind)}, got {_shown(value)}")


def _union(value: Any, kind: Any) -> Any:
    members = typing.get_args(kind)
    if value is None and type(None) in members:
        return None
    members = tuple(member for member in members if member is not type(None))
    if isinstance(value, Mapping):
        # The one member that takes a mapping has the best error message.
        records = [
            one
            for one in members
            if _is_record(one) or _subclass(typing.get_origin(one) or one, Mapping)
        ]
        if len(records) == 1:
            return structure(value, records[0])
    # An exact match first: `3` is an int before it is a float.
    for member in sorted(members, key=lambda member: type(value) is not member):
        try:
            return structure(value, member)
        except WrongValue:
            continue
    raise WrongValue(f"expected {type_text(kind)}, got {_shown(value)}")


def _record(value: Any, kind: Any) -> Any:
    """Build an attrs class or a dataclass (such as ``peft.LoraConfig``) from a mapping."""
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise WrongValue(
            f"expected a mapping with the keys of {kind.__name__}, got {_shown(value)}"
        )
    known = {setting.name: setting for setting in settings_of(kind)}
    arguments = {}
    for key, item in value.items():
        if key not in known:
            hint = suggestion(str(key), known)
            raise WrongValue(f"{kind.__name__} has no key {key!r}.{hint}", (str(key),))
        arguments[key] = _within(key, item, known[key].annotation)
    missing = [name for name, part in known.items() if part.required and name not in arguments]
    if missing:
        raise WrongValue(f"{kind.__name__} needs {', '.join(missing)}")
    try:
        return kind(**arguments)
    except (TypeError, ValueError) as error:
        raise WrongValue(f"{kind.__name__} refuses this: {error}") from error


def _shown(value: Any) -> str:
    """Format a value for a message, shortened, with its type."""
    if value is None:
        return "nothing (null)"
    text = repr(value)
    text = text if len(text) <= 60 else f"{text[:57]}…"
    has_parts = isinstance(value, Sequence | Mapping) and not isinstance(value, str)
    return text if has_parts else f"{text} ({type(value).__name__})"
