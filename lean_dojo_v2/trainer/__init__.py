"""The documented import path of the trainers; they live in plugins and are loaded on first use.

>>> import lean_dojo_v2.trainer
>>> "SFTTrainer" in dir(lean_dojo_v2.trainer)
True
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from lean_dojo_plugins.grpo import GRPOTrainer
    from lean_dojo_plugins.progress import ProgressTrainer
    from lean_dojo_plugins.retrieval import RetrievalTrainer
    from lean_dojo_plugins.sft import SFTTrainer

__all__ = ["GRPOTrainer", "ProgressTrainer", "RetrievalTrainer", "SFTTrainer"]

__getattr__, __dir__, _ = lazy_loader.attach(
    "lean_dojo_plugins",
    submod_attrs={
        "grpo": ["GRPOTrainer"],
        "progress": ["ProgressTrainer"],
        "retrieval": ["RetrievalTrainer"],
        "sft": ["SFTTrainer"],
    },
)
