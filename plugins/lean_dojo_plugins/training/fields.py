"""The LoRA configuration of trainers; what all settings share is in :mod:`lean_dojo_v2.fields`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from peft import LoraConfig

from lean_dojo_core.errors import ConfigError
from lean_dojo_v2.fields import about
from lean_dojo_v2.structuring import suggestion

__all__ = ["about", "lora_of"]


def lora_of(value: LoraConfig | Mapping[str, Any] | None) -> LoraConfig | None:
    """Convert a mapping of fields (from a file) to a ``peft.LoraConfig``.

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
