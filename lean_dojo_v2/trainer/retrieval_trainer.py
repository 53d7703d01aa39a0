"""The documented import path of RetrievalTrainer; see ``lean_dojo_plugins.retrieval``."""

from typing import TYPE_CHECKING

from lean_dojo_v2.trainer.documented import attach

if TYPE_CHECKING:
    from lean_dojo_plugins.retrieval.trainer import RetrievalTrainer

__all__ = ["RetrievalTrainer"]

__getattr__, __dir__ = attach(__name__, __all__)
