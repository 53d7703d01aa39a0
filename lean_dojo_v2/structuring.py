"""Plain values (from YAML, JSON) into annotated types, strictly: ``"3"`` is no integer.

cattrs does the work; the hooks here make primitives strict, choose within unions, and say what is
wrong in words and at which key.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import cattrs
from cattrs import cols

from lean_dojo_core.settings import settings_of, type_text


class WrongValue(ValueError):  # noqa: N818 - a value that is wrong, not an error of ours
    """A value does not fit its type.

    Args:
        message: What is expected and what was given.
        path: Keys and indices from the value that was to be structured to the wrong one.
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
    try:
        return _converter().structure(value, annotation)
    except cattrs.BaseValidationError as error:
        raise _first_problem(error) from error
    except cattrs.StructureHandlerNotFoundError as error:
        raise WrongValue(
            f"a value of type {type_text(annotation)} cannot be written in a file; "
            "set it from Python"
        ) from error


def suggestion(name: str, known: Iterable[str], nested: Iterable[str] = ()) -> str:
    """Write `` Did you mean …?`` or, with nothing near, the names that exist.

    Args:
        name: What was written.
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
    """Return the names that may be meant, the nearest first; at most three.

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


@functools.cache
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter()
    for kind in (str, int, float, bool):
        converter.register_structure_hook(kind, _primitive)
    converter.register_structure_hook(Path, _path)
    hooks: tuple[tuple[Callable[[Any], bool], Callable[[Any, Any], Any]], ...] = (
        (lambda kind: kind is object, lambda value, _: value),
        (lambda kind: typing.get_origin(kind) in {typing.Union, types.UnionType}, _union),
        (lambda kind: typing.get_origin(kind) is typing.Literal, _literal),
        (lambda kind: (typing.get_origin(kind) or kind) is Callable, _instance),
        (_is_record, _record),
    )
    for fits, hook in hooks:
        converter.register_structure_hook_func(fits, hook)
    for test, factory in (
        (cols.is_sequence, cols.list_structure_factory),
        (cols.is_mapping, cols.mapping_structure_factory),
    ):
        converter.register_structure_hook_factory(test, _container(factory, test))
    return converter


def _container(factory: Callable[..., Any], test: Callable[[Any], bool]) -> Callable[..., Any]:
    """Refuse what cattrs would take for a container, the letters of a string.

    A single text stands for a list of one, where texts are what is listed.
    """
    accepted = Mapping if test is cols.is_mapping else (list, tuple)
    word = "a mapping" if test is cols.is_mapping else "a list"

    def make(annotation: Any, converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
        structure_items = factory(annotation, converter)
        item, *_ = typing.get_args(annotation) or (Any,)
        texts = test is cols.is_sequence and item in (str, Any)

        def hook(value: Any, kind: Any) -> Any:
            if texts and isinstance(value, str):
                value = [value]
            if not isinstance(value, accepted):
                raise WrongValue(f"expected {word} ({type_text(kind)}), got {_shown(value)}")
            items = structure_items(value, kind)
            return tuple(items) if (typing.get_origin(kind) or kind) is tuple else items

        return hook

    return make


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


def _path(value: Any, _kind: Any) -> Path:
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
        # The one member that takes a mapping says best what is wrong inside it.
        records = [one for one in members if _is_record(one) or cols.is_mapping(one)]
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
        try:
            arguments[key] = structure(item, known[key].annotation)
        except WrongValue as error:
            raise WrongValue(str(error), (key, *error.path)) from error
    missing = [name for name, part in known.items() if part.required and name not in arguments]
    if missing:
        raise WrongValue(f"{kind.__name__} needs {', '.join(missing)}")
    try:
        return kind(**arguments)
    except (TypeError, ValueError) as error:
        raise WrongValue(f"{kind.__name__} refuses this: {error}") from error


def _first_problem(error: BaseException, path: tuple[str | int, ...] = ()) -> WrongValue:
    """Walk cattrs' exception group to its first leaf, gathering keys and indices."""
    if isinstance(error, WrongValue):
        return WrongValue(str(error), (*path, *error.path))
    if not isinstance(error, BaseExceptionGroup):
        return WrongValue(f"{type(error).__name__}: {error}", path)
    inner = error.exceptions[0]
    for remark in getattr(inner, "__notes__", ()):
        if isinstance(remark, cattrs.IterableValidationNote):
            path = (*path, remark.index)
        elif isinstance(remark, cattrs.AttributeValidationNote):
            path = (*path, remark.name)
    return _first_problem(inner, path)


def _shown(value: Any) -> str:
    """Write a value for a message, short, with its type."""
    if value is None:
        return "nothing (null)"
    text = repr(value)
    text = text if len(text) <= 60 else f"{text[:57]}…"
    has_parts = isinstance(value, Sequence | Mapping) and not isinstance(value, str)
    return text if has_parts else f"{text} ({type(value).__name__})"
