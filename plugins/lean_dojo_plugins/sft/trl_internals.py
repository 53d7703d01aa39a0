"""What SFT uses of TRL's inside: its count of tokens, and the output of its fused LM head.

See :mod:`lean_dojo_plugins.training.trl_version`.
"""

from functools import partial
from typing import Any

import torch

from lean_dojo_plugins.causal_lm import IGNORED
from lean_dojo_plugins.sft.step_trainer import SFTStepTrainer

RELIED_ON = {
    "trl.trainer.sft_trainer:SFTTrainer.compute_loss": "ca448211ff65",
    "trl.trainer.sft_trainer:SFTTrainer.log": "0d4c8e5d64f8",
}
"""Hashes of the source of what this module relies on; a test names what changed."""


class WeightedStepTrainer(SFTStepTrainer):
    """A step's trainer that weighs prompts in the loss, and counts tokens across resumed runs."""

    @property
    def _total_train_tokens(self) -> int:
        """Tokens so far, kept in checkpoints, unlike TRL's own count."""
        return int(self.state.num_input_tokens_seen)

    @_total_train_tokens.setter
    def _total_train_tokens(self, count: int) -> None:
        self.state.num_input_tokens_seen = count

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Compute the loss of the tactics and, by its weight, of the prompts."""
        compute: Any = super().compute_loss
        scored = partial(_weighted, model, self.prompt_weight) if self.prompt_weight else model
        return compute(scored, inputs, return_outputs, num_items_in_batch)


def _weighted(
    model: Any, prompt_weight: float, *, labels: torch.Tensor, **inputs: torch.Tensor
) -> Any:
    """Add the prompts' loss; TRL's metrics cover only the tactics' tokens."""
    everything = inputs["input_ids"].clone()
    if (mask := inputs.get("attention_mask")) is not None:
        everything[mask == 0] = IGNORED
    if (positions := inputs.get("position_ids")) is not None:  # padding-free
        everything[positions == 0] = IGNORED
    outputs = model(labels=everything, **inputs)
    is_tactic = labels[:, 1:] != IGNORED
    weights = torch.where(is_tactic, 1.0, prompt_weight) * outputs.label_mask
    # TRL divides the sum by the number of the tactics' tokens, here or in an optimiser step.
    outputs.log_probs = outputs.log_probs * weights * (is_tactic.sum() / weights.sum())
    outputs.entropy = outputs.entropy * is_tactic
    outputs.is_top1 = outputs.is_top1 & is_tactic
    outputs.label_mask = is_tactic
    return outputs
