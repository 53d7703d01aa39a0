"""The documented import path of GRPOTrainer; see ``lean_dojo_plugins.grpo``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lean_dojo_v2.trainer.documented import load

if TYPE_CHECKING:
    from lean_dojo_plugins.grpo.dataset import GRPODataset
    from lean_dojo_plugins.grpo.trainer import GRPOTrainer

__all__ = ["GRPODataset", "GRPOTrainer"]


def __getattr__(name: str) -> Any:
    """Load what the documents import from here (PEP 562)."""
    return load(__name__, __all__, name, trainer="grpo")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
