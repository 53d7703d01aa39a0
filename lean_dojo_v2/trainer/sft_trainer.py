"""The documented import path of SFTTrainer; see ``lean_dojo_plugins.sft``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lean_dojo_v2.trainer.documented import load

if TYPE_CHECKING:
    from lean_dojo_plugins.sft.dataset import SFTDataset
    from lean_dojo_plugins.sft.trainer import SFTTrainer

__all__ = ["SFTDataset", "SFTTrainer"]


def __getattr__(name: str) -> Any:
    """Load what the documents import from here (PEP 562)."""
    return load(__name__, __all__, name, trainer="sft")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
