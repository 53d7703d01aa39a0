"""The documented import path of RetrievalTrainer; see ``lean_dojo_plugins.retrieval``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lean_dojo_v2.trainer.documented import load

if TYPE_CHECKING:
    from lean_dojo_plugins.retrieval.trainer import RetrievalTrainer

__all__ = ["RetrievalTrainer"]


def __getattr__(name: str) -> Any:
    """Load what the documents import from here (PEP 562)."""
    return load(__name__, __all__, name, trainer="retrieval")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
