"""Check further trainer settings against the configuration class that takes them."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Collection, Mapping
from typing import Any

from lean_dojo_core.errors import ConfigError

_PRIMITIVES = (bool, int, float, str)


def check_trainer_args(
    config_class: type[Any], args: Mapping[str, Any], fixed: Mapping[str, str]
) -> None:
    """Refuse settings that do not exist, have a wrong type, or are not the user's to set.

    Args:
        config_class: The dataclass, for example ``trl.SFTConfig``.
        args: Settings by name.
        fixed: Settings that may not be given, with the reason and the way to go instead.

    Raises:
        ConfigError: Names the key and suggests near ones.
    """
    fields = {field.name: field for field in dataclasses.fields(config_class) if field.init}
    hints = typing.get_type_hints(config_class)
    for key, value in args.items():
        if key in fixed:
            raise ConfigError(f"trainer_args.{key} cannot be set: {fixed[key]}")
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise ConfigError(
                f"trainer_args.{key}: {config_class.__name__} has no such setting{hint}"
            )
        allowed = _primitives_of(hints[key])
        if allowed and not _fits(value, allowed):
            names = " or ".join(sorted(kind.__name__ for kind in allowed))
            raise ConfigError(f"trainer_args.{key}: {value!r} is not of type {names}")


def _primitives_of(hint: Any) -> Collection[type]:
    """Give the primitive types that a hint allows; empty if it allows others too."""
    if typing.get_origin(hint) in {typing.Union, types.UnionType}:
        parts = typing.get_args(hint)
    else:
        parts = (hint,)
    return set(parts) if all(p in (*_PRIMITIVES, types.NoneType) for p in parts) else ()


def _fits(value: Any, allowed: Collection[type]) -> bool:
    if isinstance(value, bool):
        return bool in allowed
    if isinstance(value, int) and float in allowed:
        return True
    return isinstance(value, tuple(allowed))
