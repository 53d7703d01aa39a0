"""Plain values (YAML, JSON) as the typed settings of a class, strictly: ``"3"`` is not an integer.

A setting that is an attrs class or a dataclass, such as ``peft.LoraConfig``, is written as a
mapping of its own settings.
"""

import dataclasses
import enum
import reprlib
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import attrs

from lean_dojo_core import ConfigError, LeanDojoError, Setting, settings_of
from lean_dojo_core.discovery import import_target
from lean_dojo_core.wording import did_you_mean

KeyPath: TypeAlias = tuple[str | int, ...]
Record = TypeVar("Record")

LISTS: Mapping[Any, str] = {
    list: "list", tuple: "tuple", set: "set", frozenset: "set", Sequence: "list",
}  # fmt: skip
MAPPINGS = {dict, Mapping}
_SIMPLE: Mapping[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "a valid boolean"),
    int: ((int,), "a valid integer"),
    float: ((int, float), "a valid number"),
    str: ((str,), "a valid string"),
    Path: ((str, Path), "a valid path"),
}


@attrs.frozen
class Mismatch:
    """What is wrong at a key path: a value of another type, a missing one, or a message."""

    path: KeyPath
    expected: str = ""
    value: Any = None
    message: str = ""
    missing: bool = False


Fit: TypeAlias = tuple[Any, list[Mismatch]]
"""A value of the wanted type, or problems."""


def structure(
    values: Mapping[str, Any], target: type, *, owner: str, how: str
) -> tuple[dict[str, Any], list[tuple[KeyPath, str]]]:
    """Turn values into the types of a class's settings; see :func:`.resolve`.

    Returns the constructor's arguments; and for each unknown, missing or ill-typed setting the keys
    and indices that lead to it, and a message.
    """
    found, problems = _mapping(values, target, (), owner)
    return found, _messages(problems, owner, how)


def record_of(kind: type[Record], value: Record | Mapping[str, Any], name: str) -> Record:
    """Make a record from a mapping; a ConfigError has ``name.`` before the wrong setting."""
    if isinstance(value, kind):
        return value
    made, problems = _fit(value, kind, (name,))
    if problems:
        raise ConfigError("\n".join(text for _, text in _messages(problems)))
    found: Record = made
    return found


def with_inner(settings: Iterable[Setting], before: str = "") -> Iterator[tuple[str, Setting]]:
    """Yield settings with their keys; after one that is an attrs class, those inside it."""
    for one in settings:
        yield f"{before}{one.name}", one
        if before.count(".") < 3:  # a class may be inside itself
            inner = settings_of(class_in(one.annotation, attrs.has))
            yield from with_inner(inner, f"{before}{one.name}.")


def class_in(annotation: Any, wanted: Callable[[type], bool]) -> type | None:
    """Return the class of a type, such as ``LoraConfig | None``, if exactly one is wanted.

    >>> class_in(Setting | None, attrs.has).__name__
    'Setting'
    """
    found = [one for one in members_of(annotation) if isinstance(one, type) and wanted(one)]
    return found[0] if len(found) == 1 else None


def members_of(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union; of another type itself."""
    is_union = typing.get_origin(annotation) in {typing.Union, types.UnionType}
    return typing.get_args(annotation) if is_union else (annotation,)


def library_class(target: type, part: Setting) -> type | None:
    """Return the library's configuration whose fields ``trainer_args`` takes."""
    found = getattr(target, "config_class", None) if part.name == "trainer_args" else None
    return import_target(found) if isinstance(found, str) else found


def is_record(kind: Any) -> bool:
    """Whether a type is a class whose settings are written as a mapping."""
    return isinstance(kind, type) and (attrs.has(kind) or dataclasses.is_dataclass(kind))


def _fit(value: Any, kind: Any, path: KeyPath) -> Fit:
    """Fit a value to a type; one that only Python has is checked by the constructor."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return _fit(value, arguments[0], path)
    if len(members := members_of(kind)) > 1:
        return _any_of(value, members, path)
    if kind in _SIMPLE:
        allowed, expected = _SIMPLE[kind]
        fits = isinstance(value, allowed) and (kind is bool or not isinstance(value, bool))
        return (kind(value) if fits else value), [] if fits else [Mismatch(path, expected, value)]
    if (base := origin or kind) in LISTS:
        return _list(value, base, arguments, path)
    if base in MAPPINGS:
        return _dict(value, arguments, path)
    if is_record(kind):
        return _record(value, kind, path)
    if isinstance(kind, enum.EnumType):
        choices: Mapping[str, enum.Enum] = kind.__members__
        names = [one.value for one in choices.values()]
        return (kind(value), []) if value in names else _of_choices(value, names, path)
    if origin is typing.Literal:
        return _of_choices(value, arguments, path)
    if base is Callable and not callable(value):
        return value, [Mismatch(path, "callable", value)]
    if kind is types.NoneType and value is not None:
        return value, [Mismatch(path, "null", value)]
    return value, []


def _any_of(value: Any, members: Sequence[Any], path: KeyPath) -> Fit:
    """Fit a value to the first type that takes it, its own before others."""
    exact = [one for one in members if one is type(value)]
    members = [*exact, *(one for one in members if one is not types.NoneType and one not in exact)]
    if value is None and types.NoneType in exact:
        return None, []
    lists = [_base(one) in LISTS for one in members]
    problems: list[Mismatch] = []
    for one, is_list in zip(members, lists, strict=True):
        if is_list and isinstance(value, str) and not all(lists):  # a list of one is a last resort
            problems.append(Mismatch(path, f"a valid {LISTS[_base(one)]}", value))
            continue
        found, wrong = _fit(value, one, path)
        if not wrong:
            return found, []
        problems += wrong
    return value, problems


def _base(kind: Any) -> Any:
    return typing.get_origin(kind) or kind


def _list(value: Any, base: Any, arguments: tuple[Any, ...], path: KeyPath) -> Fit:
    """Fit a list; a single text is a list of one, if it may hold texts."""
    if isinstance(value, str) and (arguments or (str,))[0] in {str, Any}:
        value = [value]
    expected = f"a valid {LISTS[base]}"
    if not isinstance(value, list | tuple | set | frozenset):
        return value, [Mismatch(path, expected, value)]
    kinds: Sequence[Any] = [arguments[0] if arguments else Any] * len(value)
    if base is tuple and arguments and arguments[-1] is not ...:
        kinds = arguments
    if len(kinds) != len(value):
        return value, [Mismatch(path, f"{expected} of {len(kinds)} items", value)]
    fits = [
        _fit(one, kind, (*path, at))
        for at, (one, kind) in enumerate(zip(value, kinds, strict=True))
    ]
    make = type(value) if base is Sequence else base
    return make([one for one, _ in fits]), [one for _, wrong in fits for one in wrong]


def _dict(value: Any, arguments: tuple[Any, ...], path: KeyPath) -> Fit:
    if not isinstance(value, Mapping):
        return value, [Mismatch(path, "a valid mapping of keys to values", value)]
    key_kind, kind = arguments or (Any, Any)
    if key_kind is str and (wrong := _wrong_keys(value, path)):
        return value, wrong
    fits = {key: _fit(one, kind, (*path, key)) for key, one in value.items()}
    return {key: one for key, (one, _) in fits.items()}, [p for _, w in fits.values() for p in w]


def _wrong_keys(value: Mapping[Any, Any], path: KeyPath, owner: str = "") -> list[Mismatch]:
    who = _dotted(path) or owner
    return [
        Mismatch((*path, key), message=f"{who}: the key {key!r} must be a string; put it in quotes")
        for key in value
        if not isinstance(key, str)
    ]


def _of_choices(value: Any, choices: Sequence[Any], path: KeyPath) -> Fit:
    if any(value == one and type(value) is type(one) for one in choices):
        return value, []
    *others, last = map(repr, choices)
    expected = f"{', '.join(others)} or {last}" if others else last
    return value, [Mismatch(path, expected, value)]


def _record(value: Any, kind: type, path: KeyPath) -> Fit:
    if isinstance(value, kind):
        return value, []
    if not isinstance(value, Mapping):
        return value, [Mismatch(path, "a valid mapping of keys to values", value)]
    arguments, problems = _mapping(value, kind, path)
    if problems:
        return value, problems
    try:
        return kind(**arguments), []
    except (LeanDojoError, TypeError, ValueError) as error:
        refused = f"{_dotted(path)}: {kind.__name__} refuses this: {error}"
        return value, [Mismatch(path, message=refused)]


def _mapping(
    values: Mapping[str, Any], target: type, path: KeyPath, owner: str = ""
) -> tuple[dict[str, Any], list[Mismatch]]:
    """Fit the settings of a class, for its constructor."""
    known = {one.name: one for one in settings_of(target)}
    problems = _wrong_keys(values, path, owner)
    holder = _dotted(path) or owner
    made: dict[str, Any] = {}
    for key, value in values.items():
        here = (*path, key)
        if key in known:
            is_library = library_class(target, known[key]) is not None  # the trainer checks these
            kind = Any if is_library else known[key].opened().annotation
            made[key], wrong = _fit(value, kind, here)
            problems += wrong
        elif isinstance(key, str):
            message = f"{holder} has no setting {key!r}{_hint(key, target)}"
            problems.append(Mismatch(here, message=message))
    required = [key for key, one in known.items() if one.required and key not in values]
    return made, [*problems, *(Mismatch((*path, key), missing=True) for key in required)]


def _messages(
    problems: Iterable[Mismatch], owner: str = "", how: str = "in the file or with --set"
) -> list[tuple[KeyPath, str]]:
    """Return what is wrong at each key; in a union, the type that got furthest counts."""
    found: dict[KeyPath, list[Mismatch]] = {}
    for one in problems:
        found.setdefault(one.path, []).append(one)
    return [
        (path, _message(same, owner, how))
        for path, same in found.items()
        if not any(other[: len(path)] == path for other in found if other != path)
    ]


def _message(same: Sequence[Mismatch], owner: str, how: str) -> str:
    first = next((one for one in same if one.message or one.missing), same[0])
    path, value = first.path, first.value
    if first.missing:
        holder = _dotted(path[:-1]) or owner
        return f"{holder} needs {path[-1]}: set it {how} {_dotted(path)}=…"
    if first.message:
        return first.message
    expected = " or ".join(dict.fromkeys(one.expected for one in same))
    given = "null" if value is None else f"{reprlib.repr(value)} ({type(value).__name__})"
    return f"{_dotted(path)}: expected {expected}, got {given}"


def _dotted(path: KeyPath) -> str:
    """Write a key path as ``a.b[0]``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _hint(name: str, target: type) -> str:
    """Suggest settings with similar names, including nested ones."""
    own = settings_of(target)
    fixed = getattr(target, "fixed_args", {})  # settings of a library, each with the reason
    if name in fixed:
        return f": {fixed[name]}"
    nested = [
        f"{part.name}.{one.name}"
        for part in own
        for one in settings_of(
            library_class(target, part) or class_in(part.opened().annotation, is_record)
        )
        if one.name not in fixed
    ]
    return f".{did_you_mean(name, [part.name for part in own], nested)}"
