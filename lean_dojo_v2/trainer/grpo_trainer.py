"""The documented import path of GRPOTrainer; see ``lean_dojo_plugins.grpo``."""

from typing import TYPE_CHECKING

from lean_dojo_v2.trainer.documented import attach

if TYPE_CHECKING:
    from lean_dojo_plugins.grpo.dataset import GRPODataset
    from lean_dojo_plugins.grpo.trainer import GRPOTrainer

__all__ = ["GRPODataset", "GRPOTrainer"]

__getattr__, __dir__ = attach(__name__, __all__)
