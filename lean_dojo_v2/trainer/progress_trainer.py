"""The documented import path of ProgressTrainer; see ``lean_dojo_plugins.progress``."""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from lean_dojo_plugins.progress import ProgressDataset, ProgressTrainer

__all__ = ["ProgressDataset", "ProgressTrainer"]

__getattr__, __dir__, _ = lazy_loader.attach("lean_dojo_plugins", None, {"progress": __all__})
