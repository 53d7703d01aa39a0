"""TRL's SFT trainer, with batches of similar length and a choice of Muon."""

from __future__ import annotations

from typing import cast

import torch
from trl.trainer.sft_trainer import SFTTrainer

from lean_dojo_plugins.sft.muon import MuonWithAdamW
from lean_dojo_plugins.training import GroupingTrainer


class SFTStepTrainer(GroupingTrainer, SFTTrainer):
    """One curriculum step's trainer; uses only what TRL documents."""

    uses_muon: bool = False

    def create_optimizer(self, model: torch.nn.Module | None = None) -> torch.optim.Optimizer:
        """Make the optimiser, once."""
        if not self.uses_muon:
            return super().create_optimizer(model)
        if self.optimizer is None:
            chosen = cast("torch.nn.Module", model or self.model)
            self.optimizer = MuonWithAdamW(chosen, self.args.learning_rate, self.args.weight_decay)
        return self.optimizer
