"""Lazy access to the built-in trainers' classes, by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from typing import Any

from lean_dojo_core import registry


def attach(
    module: str, names: Collection[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a module's ``__getattr__`` and ``__dir__`` (PEP 562), like lazy_loader.

    Args:
        module: The documented module, for the error message.
        names: Its names: for the built-in ``sft`` the class ``SFTTrainer``, or ``SFTDataset`` from
            the plugin's ``dataset`` module.
    """

    def load(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        trainer = name.removesuffix("Dataset").removesuffix("Trainer").lower()
        target = registry.builtin(registry.trainers, trainer)
        if not name.endswith("Dataset"):
            return target
        package = target.__module__.rpartition(".")[0]
        return getattr(importlib.import_module(f"{package}.dataset"), name)

    return load, lambda: sorted(names)
