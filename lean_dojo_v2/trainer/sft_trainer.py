"""The documented import path of SFTTrainer; see ``lean_dojo_plugins.sft``."""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from lean_dojo_plugins.sft import SFTDataset, SFTTrainer

__all__ = ["SFTDataset", "SFTTrainer"]

__getattr__, __dir__, _ = lazy_loader.attach("lean_dojo_plugins", None, {"sft": __all__})
