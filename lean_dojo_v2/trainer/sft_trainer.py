"""The documented import path of SFTTrainer; see ``lean_dojo_plugins.sft``."""

from typing import TYPE_CHECKING

from lean_dojo_v2.trainer.documented import attach

if TYPE_CHECKING:
    from lean_dojo_plugins.sft.dataset import SFTDataset
    from lean_dojo_plugins.sft.trainer import SFTTrainer

__all__ = ["SFTDataset", "SFTTrainer"]

__getattr__, __dir__ = attach(__name__, __all__)
