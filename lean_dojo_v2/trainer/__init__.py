"""The documented import path of the trainers; they live in plugins and are loaded on first use.

>>> import lean_dojo_v2.trainer
>>> "SFTTrainer" in dir(lean_dojo_v2.trainer)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lean_dojo_plugins.grpo.trainer import GRPOTrainer
    from lean_dojo_plugins.progress.trainer import ProgressTrainer
    from lean_dojo_plugins.retrieval.trainer import RetrievalTrainer
    from lean_dojo_plugins.sft.trainer import SFTTrainer

_NAMES = {
    "GRPOTrainer": "grpo",
    "ProgressTrainer": "progress",
    "RetrievalTrainer": "retrieval",
    "SFTTrainer": "sft",
}

__all__ = ["GRPOTrainer", "ProgressTrainer", "RetrievalTrainer", "SFTTrainer"]


def __getattr__(name: str) -> Any:
    """Load a trainer of that name (PEP 562)."""
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lean_dojo_core import registry

    return registry.builtin(registry.trainers, _NAMES[name])


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
