"""The documented import path of ProgressTrainer; see ``lean_dojo_plugins.progress``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lean_dojo_v2.trainer.documented import load

if TYPE_CHECKING:
    from lean_dojo_plugins.progress.dataset import ProgressDataset
    from lean_dojo_plugins.progress.trainer import ProgressTrainer

__all__ = ["ProgressDataset", "ProgressTrainer"]


def __getattr__(name: str) -> Any:
    """Load what the documents import from here (PEP 562)."""
    return load(__name__, __all__, name, trainer="progress")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
