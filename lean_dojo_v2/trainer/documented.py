"""Reach the built-in trainers' classes from below, by name."""

from __future__ import annotations

import importlib
from collections.abc import Collection
from typing import Any

from lean_dojo_core import registry


def load(module: str, names: Collection[str], name: str, *, trainer: str) -> Any:
    """Return a class of a built-in trainer's plugin.

    Args:
        module: The documented module, for the error message.
        names: What it offers.
        name: What is asked for: the trainer's class, or its dataset's (``…Dataset``), which lives
            in the plugin's ``dataset`` module.
        trainer: The built-in's name.

    Raises:
        AttributeError: If the module does not offer that name.
    """
    if name not in names:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    target = registry.builtin(registry.trainers, trainer)
    if not name.endswith("Dataset"):
        return target
    package = target.__module__.rpartition(".")[0]
    return getattr(importlib.import_module(f"{package}.dataset"), name)
