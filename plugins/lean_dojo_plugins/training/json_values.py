"""A trainer's settings in plain form, which identifies a run."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

# Settings of the library that change output, not what is learned.
_ARGS_WITHOUT_EFFECT = {
    "dataloader_num_workers",
    "disable_tqdm",
    "logging_first_step",
    "logging_steps",
    "logging_strategy",
    "save_steps",
    "save_strategy",
    "save_total_limit",
}


def plain_settings(trainer: Any) -> dict[str, Any]:
    """Return every field of a trainer (an attrs object) that shapes its result, JSON-ready."""
    settings = {
        one.name: to_json_value(getattr(trainer, one.name)) for one in _shaping(type(trainer))
    }
    if isinstance(args := settings.get("trainer_args"), dict):
        settings["trainer_args"] = {
            key: value for key, value in args.items() if key not in _ARGS_WITHOUT_EFFECT
        }
    return settings


def default_settings(kind: type) -> dict[str, Any]:
    """Return the same for a class's defaults, the values in runs older than a setting."""
    found = {}
    for one in _shaping(kind):
        default: Any = one.default
        if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
            default = default.factory()
        if default is not attrs.NOTHING:
            found[one.name] = to_json_value(default)
    return found


def _shaping(kind: type) -> list[attrs.Attribute[Any]]:
    fields = attrs.fields(kind) if attrs.has(kind) else ()
    return [one for one in fields if one.init and one.metadata.get("shapes_result", True)]


def to_json_value(value: Any) -> Any:
    """Convert a value to JSON types; other objects become their qualified names.

    >>> to_json_value({"b": {2, 1}, "a": (Path("x"), None)})
    {'a': ['x', None], 'b': [1, 2]}
    >>> to_json_value(len)
    'builtins.len'
    """
    if isinstance(value, enum.Enum):
        return to_json_value(value.value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_json_value(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, set | frozenset):
        return sorted((to_json_value(item) for item in value), key=str)
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    if hasattr(value, "peft_type"):  # a LoraConfig: only what differs from the defaults
        default = type(value)()
        return {
            key: to_json_value(item)
            for key, item in sorted(vars(value).items())
            if item is not None
            and to_json_value(item) != to_json_value(getattr(default, key, None))
        }
    if attrs.has(type(value)):
        return {_name_of(type(value)): to_json_value(attrs.asdict(value, recurse=False))}
    return _name_of(value if hasattr(value, "__qualname__") else type(value))


def _name_of(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"
