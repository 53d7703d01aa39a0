"""The documented import path of ProgressTrainer; see ``lean_dojo_plugins.progress``."""

from typing import TYPE_CHECKING

from lean_dojo_v2.trainer.documented import attach

if TYPE_CHECKING:
    from lean_dojo_plugins.progress.dataset import ProgressDataset
    from lean_dojo_plugins.progress.trainer import ProgressTrainer

__all__ = ["ProgressDataset", "ProgressTrainer"]

__getattr__, __dir__ = attach(__name__, __all__)
