"""The contract of LeanDojo-v2's plugins: hooks, descriptors, registries, records, errors."""

from __future__ import annotations

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
    remove_marks,
)
from lean_dojo_core.specs import DatasetFormatterSpec, RewardFunctionSpec, TrainerSpec

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
    "hookimpl",
    "registry",
    "remove_marks",
]
