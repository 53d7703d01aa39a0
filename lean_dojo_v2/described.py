"""Descriptions of plugin objects: docstring and settings, read from the class."""

from __future__ import annotations

import dataclasses
import inspect
import json
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from lean_dojo_core import registry
from lean_dojo_core.settings import Setting, settings_of, type_text


@attrs.frozen(kw_only=True)
class Described:
    """Description of one setting.

    Attributes:
        name: The key in a file.
        type: The type as text.
        required: Whether it has no default.
        default: The default in JSON's types, or as text.
        shown: The default as Python writes it; empty for a required one.
        help: What it does.
        record: Whether ``inner`` are the fields of a record of ours, which ``show`` also prints.
        inner: The keys of its mapping, if known.
        schema: JSON Schema (2020-12) of the value.
    """

    name: str
    type: str
    required: bool
    default: Any = None
    shown: str = ""
    help: str = ""
    record: bool = False
    inner: tuple[Described, ...] = ()
    schema: Mapping[str, Any] = attrs.Factory(dict)

    def as_json(self) -> dict[str, Any]:
        """Return it for ``show --json``."""
        kept = {"name", "type", "required", "default", "help"}
        return attrs.asdict(self, filter=lambda field, _: field.name in kept)


@attrs.frozen
class Description:
    """Description of a plugin object: its docstring and settings."""

    doc: str
    settings: tuple[Described, ...]


def describe(entry: registry.Entry[Any, Any]) -> Description:
    """Describe a plugin object, which imports its libraries.

    Raises:
        PluginLoadError: If it cannot be loaded.
    """
    return of_class(entry.load())


def schema(description: Description, title: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a file with these settings."""
    shared: dict[str, Any] = {}
    found = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": description.doc.partition("\n")[0],
        **_hoisted(_object(description.settings), shared),
    }
    return {**found, "$defs": shared} if shared else found


def _hoisted(part: Any, shared: dict[str, Any]) -> Any:
    """Move the ``$defs`` of inner schemas to the root, which is where ``$ref`` looks."""
    if isinstance(part, list):
        return [_hoisted(one, shared) for one in part]
    if not isinstance(part, dict):
        return part
    for name, one in part.get("$defs", {}).items():
        shared[name] = _hoisted(one, shared)
    return {key: _hoisted(one, shared) for key, one in part.items() if key != "$defs"}


def _object(settings: tuple[Described, ...]) -> dict[str, Any]:
    properties = {}
    for one in settings:
        said = {"description": one.help} if one.help else {}
        given = {} if one.required or one.default is None else {"default": one.default}
        value = one.schema or (_object(one.inner) if one.inner else {})
        properties[one.name] = {**value, **said, **given}
    required = [one.name for one in settings if one.required]
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**found, "required": required} if required else found


def of_class(target: Any) -> Description:
    """Describe a class; a function or an instance has no settings."""
    return Description(inspect.getdoc(target) or "", tuple(_settings(target)))


def _settings(target: Any, depth: int = 0) -> Iterator[Described]:
    for part in settings_of(target):
        record = class_in(part.annotation, attrs.has)
        keys = inner_class(target, part)
        inner = tuple(_settings(keys, depth + 1)) if keys is not None and depth < 3 else ()
        computed = isinstance(part.default, attrs.Factory)  # type: ignore[arg-type]
        yield Described(
            name=part.name,
            type=part.type_text,
            required=part.required,
            default=None if part.required or computed else _plain(part.default),
            shown="" if part.required else "computed" if computed else repr(part.default),
            help=part.help,
            record=record is not None,
            inner=inner,
            schema=_schema(part.annotation, inner),
        )


def _schema(annotation: Any, inner: tuple[Described, ...]) -> dict[str, Any]:
    if inner:
        nothing = type(None) in typing.get_args(annotation)
        return {"anyOf": [_object(inner), {"type": "null"}]} if nothing else _object(inner)
    from pydantic import ConfigDict, TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        adapter = TypeAdapter(annotation, config=ConfigDict(arbitrary_types_allowed=True))
        return adapter.json_schema()
    except (PydanticUserError, TypeError, NameError):  # a type without a file form
        return {"description": type_text(annotation)}


def inner_class(target: Any, part: Setting) -> type | None:
    """Return the class whose settings are the keys of a setting's mapping; ``None`` if unknown."""
    # The library's configuration, whose fields `trainer_args` takes.
    library = getattr(target, "config_class", None) if part.name == "trainer_args" else None
    known = (class_in(part.annotation, test) for test in (attrs.has, dataclasses.is_dataclass))
    return next((one for one in known if one is not None), library)


def class_in(annotation: Any, wanted: Callable[[type], bool]) -> type | None:
    """Return the class of a type, such as ``LoraConfig | None``, if exactly one is wanted.

    >>> class_in(Described | None, attrs.has).__name__
    'Described'
    """
    members = (annotation, *typing.get_args(annotation))
    found = [one for one in members if isinstance(one, type) and wanted(one)]
    return found[0] if len(found) == 1 else None


def _plain(value: Any) -> Any:
    """Return a default in JSON's types; other values become text."""
    return json.loads(json.dumps(value, default=str))
