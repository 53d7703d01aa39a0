"""Settings that are records, such as ``lora_config``, made from mappings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import attrs
from peft import LoraConfig

from lean_dojo_v2.config import Settings, resolve
from lean_dojo_v2.fields import about

__all__ = ["about", "lora_of", "record_of"]

Record = TypeVar("Record")


def record_of(kind: type[Record], value: Record | Mapping[str, Any], name: str) -> Record:
    """Make a record from a mapping of its settings.

    Raises:
        ConfigError: Names the wrong setting with ``name.`` before it.
    """
    if isinstance(value, kind):
        return value
    trainer = attrs.make_class("Trainer", {name: attrs.field(type=kind)})
    made: Record = resolve(Settings({name: value}), trainer, owner="the trainer")[name]
    return made


def lora_of(value: LoraConfig | Mapping[str, Any] | None) -> LoraConfig | None:
    """Convert the setting ``lora_config``; raises as :func:`record_of`."""
    return None if value is None else record_of(LoraConfig, value, "lora_config")
