"""The documented import path of GRPOTrainer; see ``lean_dojo_plugins.grpo``."""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from lean_dojo_plugins.grpo import GRPODataset, GRPOTrainer

__all__ = ["GRPODataset", "GRPOTrainer"]

__getattr__, __dir__, _ = lazy_loader.attach("lean_dojo_plugins", None, {"grpo": __all__})
