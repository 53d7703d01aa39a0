"""The JSON Schema of a class's settings, with which editors check and complete files."""

import enum
import inspect
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from lean_dojo_core.settings import Setting, settings_of
from lean_dojo_v2.settings.structuring import LISTS, MAPPINGS, is_record, library_class, members_of

_SIMPLE = {
    bool: "boolean", int: "integer", float: "number", str: "string", Path: "string",
    types.NoneType: "null",
}  # fmt: skip


def json_schema(target: type, outer: tuple[type, ...] = ()) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a mapping of a class's settings.

    ``outer`` are the classes that it is in; a class inside itself is not described again.
    """
    settings = [one.opened() for one in settings_of(target)]
    return {
        "type": "object",
        "title": target.__name__,
        "description": (inspect.getdoc(target) or "").partition("\n")[0],
        "properties": {one.name: _setting(one, target, outer) for one in settings},
        "required": [one.name for one in settings if one.required],
        "additionalProperties": False,
    }


def _setting(one: Setting, target: type, outer: tuple[type, ...]) -> dict[str, Any]:
    library = library_class(target, one)
    if library is None:
        found = _value(one.annotation, (*outer, target))
    else:  # the trainer sets what the library needs
        found = {**json_schema(library, (*outer, target)), "required": []}
    default = {"default": one.default} if isinstance(one.default, bool | int | float | str) else {}
    return {**found, **({"description": one.help} if one.help else {}), **default}


def _value(kind: Any, outer: tuple[type, ...]) -> dict[str, Any]:
    """Return the schema of a value; ``{}`` for one that can only be given in Python."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return _value(arguments[0], outer)
    if len(members := members_of(kind)) > 1:
        return {"anyOf": [_value(one, outer) for one in members]}
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    if (base := origin or kind) in LISTS:
        items = _value(arguments[0] if arguments else Any, outer)
        found = {"type": "array", "items": items}
        # A single text is a list of one.
        return {"anyOf": [found, items]} if items == {"type": "string"} else found
    if base in MAPPINGS:
        return {"type": "object", "additionalProperties": _value((*arguments, Any, Any)[1], outer)}
    if is_record(kind):
        return json_schema(kind, outer) if kind not in outer else {"type": "object"}
    if isinstance(kind, enum.EnumType):
        choices: Mapping[str, enum.Enum] = kind.__members__
        return {"enum": [one.value for one in choices.values()]}
    return {"enum": list(arguments)} if origin is typing.Literal else {}
