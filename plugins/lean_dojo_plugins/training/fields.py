"""The LoRA configuration of trainers; what all settings share is in :mod:`lean_dojo_v2.fields`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from peft import LoraConfig

from lean_dojo_core.errors import ConfigError
from lean_dojo_v2.config import Settings, construct
from lean_dojo_v2.fields import about

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
    made: LoraConfig = construct(LoraConfig, Settings(dict(value)), owner="lora_config")
    return made
