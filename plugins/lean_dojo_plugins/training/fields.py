"""Fields of trainers: each with its help text, checked when the trainer is made."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from peft import LoraConfig

from lean_dojo_core.errors import ConfigError
from lean_dojo_v2.structuring import suggestion

Validator: TypeAlias = Callable[[Any, "attrs.Attribute[Any]", Any], None]


def about(text: str, *, shapes_result: bool = True) -> dict[str, Any]:
    """Return a field's metadata: one line of help, and whether it makes another run.

    A run goes on whatever has changed of the settings that do not shape its result.
    """
    return {"help": text, "shapes_result": shapes_result}


def setting(
    default: Any,
    text: str,
    validator: Validator | None = None,
    *,
    shapes_result: bool = True,
    **options: Any,
) -> Any:
    """Make a field of a default, its help text and its validator; other options are those of attrs.

    Type checkers take its place among the arguments, and whether it is one by name only, from the
    class; a field with a converter is better made by ``attrs.field``, whose type they follow.
    """
    metadata = about(text, shapes_result=shapes_result)
    return attrs.field(default=default, validator=validator, metadata=metadata, **options)


def must_be(what: str, fits: Callable[[Any], bool]) -> Validator:
    """Make a validator, which raises a ``ConfigError`` that says what a value must be."""

    def check(_owner: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if not fits(value):
            raise ConfigError(f"{field.name} must be {what}, not {value!r}")

    return check


def is_int(value: Any) -> bool:
    """Whether a value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, float) or is_int(value)


positive_int = must_be("a whole number of at least 1", lambda v: is_int(v) and v >= 1)
not_negative_int = must_be("a whole number of at least 0", lambda v: is_int(v) and v >= 0)
positive_int_or_none = attrs.validators.optional(positive_int)
positive = must_be("a number above 0", lambda v: is_number(v) and v > 0)
not_negative = must_be("a number of at least 0", lambda v: is_number(v) and v >= 0)
share = must_be("a number from 0 to 1", lambda v: is_number(v) and 0 <= v <= 1)
non_empty_text = must_be("a name or path", lambda v: isinstance(v, str) and bool(v.strip()))


def text_of_path(value: str | os.PathLike[str]) -> str:
    """Return a path as text; anything else as it is, for the validator to refuse."""
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def folders(value: Mapping[str, str | Path]) -> dict[str, Path]:
    """Take folders of repositories, by address."""
    return {url: Path(path) for url, path in value.items()}


def lora_of(value: LoraConfig | Mapping[str, Any] | None) -> LoraConfig | None:
    """Take a ``peft.LoraConfig``, or its fields as a mapping (from a configuration file).

    Raises:
        ConfigError: For anything else.
    """
    if value is None or isinstance(value, LoraConfig):
        return value
    if not isinstance(value, Mapping):
        raise ConfigError(f"lora_config must be a peft.LoraConfig or a mapping, not {value!r}")
    known = [one.name for one in dataclasses.fields(LoraConfig) if one.init]
    for key in value:
        if key not in known:
            hint = suggestion(str(key), known)
            raise ConfigError(f"lora_config.{key}: LoraConfig has no key {key!r}.{hint}")
    try:
        return LoraConfig(**value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"lora_config: {error}") from error
