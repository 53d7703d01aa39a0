"""The documented import path of GRPOTrainer; see ``lean_dojo_plugins.grpo``."""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from lean_dojo_plugins.grpo.dataset import GRPODataset
    from lean_dojo_plugins.grpo.trainer import GRPOTrainer

__all__ = ["GRPODataset", "GRPOTrainer"]

__getattr__, __dir__, _ = lazy_loader.attach(
    "lean_dojo_plugins.grpo", submod_attrs={"dataset": ["GRPODataset"], "trainer": ["GRPOTrainer"]}
)
