"""Fields of trainers: each with its help text, checked when the trainer is made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import attrs
from peft import LoraConfig

from lean_dojo_core.errors import ConfigError


def about(text: str) -> dict[str, str]:
    """Return a field's metadata: one line of help for ``lean-dojo show``."""
    return {"help": text}


def positive_int(_owner: Any, field: attrs.Attribute[Any], value: Any) -> None:
    """Accept whole numbers from 1 on.

    Raises:
        ConfigError: For anything else.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f"{field.name} must be a whole number of at least 1, not {value!r}")


def not_negative_int(_owner: Any, field: attrs.Attribute[Any], value: Any) -> None:
    """Accept whole numbers from 0 on.

    Raises:
        ConfigError: For anything else.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ConfigError(f"{field.name} must be a whole number of at least 0, not {value!r}")


def positive_int_or_none(owner: Any, field: attrs.Attribute[Any], value: Any) -> None:
    """Accept whole numbers from 1 on, and ``None``.

    Raises:
        ConfigError: For anything else.
    """
    if value is not None:
        positive_int(owner, field, value)


def positive(_owner: Any, field: attrs.Attribute[Any], value: Any) -> None:
    """Accept numbers above 0.

    Raises:
        ConfigError: For anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ConfigError(f"{field.name} must be a number above 0, not {value!r}")


def not_negative(_owner: Any, field: attrs.Attribute[Any], value: Any) -> None:
    """Accept numbers from 0 on.

    Raises:
        ConfigError: For anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ConfigError(f"{field.name} must be a number of at least 0, not {value!r}")


def text_of_path(value: str | os.PathLike[str]) -> str:
    """Return a path as text; anything else as it is, for the validator to refuse."""
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def non_empty_text(_owner: Any, field: attrs.Attribute[Any], value: Any) -> None:
    """Accept text that is not empty.

    Raises:
        ConfigError: For anything else.
    """
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{field.name} must be a name or path, not {value!r}")


def lora_of(value: LoraConfig | Mapping[str, Any] | None) -> LoraConfig | None:
    """Take a ``peft.LoraConfig``, or its fields as a mapping (from a configuration file).

    Raises:
        ConfigError: For anything else.
    """
    if value is None or isinstance(value, LoraConfig):
        return value
    if not isinstance(value, Mapping):
        raise ConfigError(f"lora_config must be a peft.LoraConfig or a mapping, not {value!r}")
    try:
        config = LoraConfig(**value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"lora_config: {error}") from error
    return config
