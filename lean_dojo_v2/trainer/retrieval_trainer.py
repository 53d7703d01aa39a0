"""The documented import path of RetrievalTrainer; see ``lean_dojo_plugins.retrieval``."""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from lean_dojo_plugins.retrieval import RetrievalTrainer

__all__ = ["RetrievalTrainer"]

__getattr__, __dir__, _ = lazy_loader.attach("lean_dojo_plugins", None, {"retrieval": __all__})
