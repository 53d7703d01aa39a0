"""The contract of LeanDojo-v2's plugins: hooks, descriptors, registries, records, errors."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lean_dojo_core import registry
    from lean_dojo_core.discovery import PluginInfo
    from lean_dojo_core.errors import LeanDojoError
    from lean_dojo_core.hookspecs import API_VERSION, hookimpl
    from lean_dojo_core.protocols import DatasetFormatter, Message, RewardFunction, Row, Trainer
    from lean_dojo_core.records import (
        Annotation,
        Position,
        Premise,
        PremiseFile,
        Theorem,
        TracedTactic,
        contains_sorry,
        remove_marks,
    )
    from lean_dojo_core.specs import DatasetFormatterSpec, RewardFunctionSpec, TrainerSpec

# Imported when first used: a manifest that imports two names pays for two.
_PLACES = {
    "discovery": ("PluginInfo",),
    "errors": ("LeanDojoError",),
    "hookspecs": ("API_VERSION", "hookimpl"),
    "protocols": ("DatasetFormatter", "Message", "RewardFunction", "Row", "Trainer"),
    "records": (
        "Annotation",
        "Position",
        "Premise",
        "PremiseFile",
        "Theorem",
        "TracedTactic",
        "contains_sorry",
        "remove_marks",
    ),
    "specs": ("DatasetFormatterSpec", "RewardFunctionSpec", "TrainerSpec"),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "API_VERSION",
    "Annotation",
    "DatasetFormatter",
    "DatasetFormatterSpec",
    "LeanDojoError",
    "Message",
    "PluginInfo",
    "Position",
    "Premise",
    "PremiseFile",
    "RewardFunction",
    "RewardFunctionSpec",
    "Row",
    "Theorem",
    "TracedTactic",
    "Trainer",
    "TrainerSpec",
    "contains_sorry",
    "hookimpl",
    "registry",
    "remove_marks",
]


def __getattr__(name: str) -> Any:
    if name == "registry":
        return importlib.import_module("lean_dojo_core.registry")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"lean_dojo_core.{_MODULE_OF[name]}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
