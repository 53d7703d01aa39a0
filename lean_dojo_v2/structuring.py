"""Plain values (YAML, JSON) as the typed settings of a class, strictly: ``"3"`` is not an integer.

pydantic checks the values and writes the JSON Schema. A setting that is an attrs class or a
dataclass, such as ``peft.LoraConfig``, is written as a mapping of its own settings.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import reprlib
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import attrs

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_core.settings import Setting, settings_of
from lean_dojo_core.suggestions import suggestion

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

KeyPath: TypeAlias = tuple[str | int, ...]

_LISTS = {list, tuple, set, frozenset, Sequence}
_MAPPINGS = {dict, Mapping}


def structure(
    values: Mapping[str, Any], target: type, *, owner: str, how: str
) -> tuple[dict[str, Any], list[tuple[KeyPath, str]]]:
    """Turn values into the types of a class's settings; see :func:`.config.resolve`.

    Returns:
        The constructor's arguments; and for each unknown, missing or ill-typed setting the keys
        and indices that lead to it, and a message.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(_mapping(target)).validate_python(values), []
    except ValidationError as error:
        found = _errors(error, values)
        return {}, [(path, _message(path, found[path], target, owner, how)) for path in found]


def json_schema(target: type) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a mapping of a class's settings."""
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

    class Schema(GenerateJsonSchema):
        def handle_invalid_for_json_schema(self, *_: object) -> dict[str, Any]:
            return {}  # a value that can only be given in Python

    return TypeAdapter(_mapping(target)).json_schema(schema_generator=Schema)


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
    members = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    found = [one for one in members if isinstance(one, type) and wanted(one)]
    return found[0] if len(found) == 1 else None


def _mapping(target: type, outer: tuple[type, ...] = ()) -> Any:
    """Return the type of a mapping of a class's settings; ``outer`` are the classes it is in."""
    from pydantic import BeforeValidator, ConfigDict, Field, WrapValidator
    from typing_extensions import TypedDict

    fields: dict[str, Any] = {}
    plain: Any
    make: Any = TypedDict  # with a name and fields that are known only here
    for one in settings_of(target):
        if library := _library_class(target, one):  # for the schema: the trainer checks these
            plain = Annotated[_mapping(library), WrapValidator(lambda value, _: value)]
        else:
            plain = _plain(one.annotation, (*outer, target))
        if _is_of_texts(plain):  # a single one is a list of one
            plain = Annotated[plain, BeforeValidator(lambda v: [v] if isinstance(v, str) else v)]
        default = isinstance(one.default, bool | int | float | str)
        extra = {"default": one.default} if default else None
        about = Field(description=one.help or None, json_schema_extra=extra)
        need: Any = typing.Required if one.required else typing.NotRequired
        fields[one.name] = need[Annotated[plain, about]]
    found = make(target.__name__, fields)
    found.__doc__ = (inspect.getdoc(target) or "").partition("\n")[0]
    found.__pydantic_config__ = ConfigDict(extra="forbid")
    return found


def _library_class(target: type, part: Setting) -> type | None:
    """Return the library's configuration whose fields ``trainer_args`` takes."""
    return getattr(target, "config_class", None) if part.name == "trainer_args" else None


def _inner_class(target: Any, key: str | int) -> type | None:
    """Return the class whose settings are the keys of a setting's mapping; ``None`` if unknown."""
    part = next((one for one in settings_of(target) if one.name == key), None)
    if part is None:
        return None
    return _library_class(target, part) or class_in(part.annotation, _is_record)


def _plain(annotation: Any, outer: tuple[type, ...]) -> Any:
    """Return a type whose values a file can hold: strict, and with mappings for records.

    It is ``Any`` for types that only Python has: the constructor checks their values.
    """
    from pydantic import AfterValidator, Strict, WrapValidator

    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (bool, int, float, str):
        return Annotated[annotation, Strict()]
    if _is_record(annotation) and annotation not in outer:
        make = AfterValidator(functools.partial(_make, annotation))
        made = WrapValidator(lambda one, make: one if isinstance(one, annotation) else make(one))
        return Annotated[_mapping(annotation, outer), make, made]
    if origin is Annotated:
        return _plain(arguments[0], outer)
    if origin in {typing.Literal, Callable} or isinstance(annotation, enum.EnumType):
        return annotation
    if annotation in (Path, types.NoneType, *_LISTS, *_MAPPINGS):
        return annotation
    inner = tuple(one if one is ... else _plain(one, outer) for one in arguments)
    if _is_union(annotation):
        return typing.Union[inner]  # noqa: UP007 - of types known only here
    return origin[inner] if origin in _LISTS | _MAPPINGS and arguments else Any


def _is_of_texts(plain: Any) -> bool:
    """Whether it is the type of a list that may hold texts, or ``None``, and of nothing else."""
    members = typing.get_args(plain) if _is_union(plain) else (plain,)
    lists = [one for one in members if one is not types.NoneType]
    return all(
        typing.get_origin(one) in _LISTS and typing.get_args(one)[0] in (Any, _plain(str, ()))
        for one in lists
    )


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in {typing.Union, types.UnionType}


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (attrs.has(kind) or dataclasses.is_dataclass(kind))


def _make(kind: type, arguments: dict[str, Any]) -> Any:
    try:
        return kind(**arguments)
    except (LeanDojoError, TypeError, ValueError) as error:
        raise ValueError(f"{kind.__name__} refuses this: {error}") from error


def _errors(error: ValidationError, values: Any) -> dict[KeyPath, list[ErrorDetails]]:
    """Return what is wrong at each key; in a union, the type that got furthest counts."""
    found: dict[KeyPath, list[ErrorDetails]] = {}
    for one in error.errors():
        path: KeyPath = ()
        part = values
        for key in one["loc"]:
            try:
                part = part[key]
            except (KeyError, IndexError, TypeError):  # a missing key, or a type of a union
                continue
            path = (*path, key)
        if one["type"] == "missing":
            path = (*path, one["loc"][-1])
        found.setdefault(path, []).append(one)
    return {
        path: errors
        for path, errors in found.items()
        if not any(other[: len(path)] == path for other in found if other != path)
    }


def _dotted(path: KeyPath) -> str:
    """Write a key path as ``a.b[0]``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _message(
    path: KeyPath, errors: Sequence[ErrorDetails], target: Any, owner: str, how: str
) -> str:
    kind, key = errors[0]["type"], str(path[-1])
    holder = _dotted(path[:-1]) or owner
    if kind == "missing":
        return f"{holder} needs {key}: set it {how} {_dotted(path)}=…"
    if kind == "extra_forbidden":
        inner = functools.reduce(_inner_class, path[:-1], target)
        return f"{holder} has no setting {key!r}{_hint(key, inner)}"
    if kind == "invalid_key" or errors[0]["loc"][-1] == "[key]":
        return f"{holder}: the key {path[-1]!r} must be a string; put it in quotes"
    if kind == "value_error":
        return f"{_dotted(path)}: {errors[0]['ctx']['error']}"
    expected = " or ".join(one["msg"].removeprefix("Input should be ") for one in errors)
    expected = expected.replace("dictionary", "mapping of keys to values")
    value = errors[0]["input"]
    given = "null" if value is None else f"{reprlib.repr(value)} ({type(value).__name__})"
    return f"{_dotted(path)}: expected {expected}, got {given}"


def _hint(name: str, target: Any) -> str:
    """Suggest settings with similar names, including nested ones."""
    own = [part.name for part in settings_of(target)]
    fixed = getattr(target, "fixed_args", {})  # settings of a library, each with the reason
    if name in fixed:
        return f": {fixed[name]}"
    nested = [
        f"{part}.{one.name}"
        for part in own
        for one in settings_of(_inner_class(target, part))
        if one.name not in fixed
    ]
    return f".{suggestion(name, own, nested)}"
