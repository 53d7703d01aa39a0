"""transformers' trainer with batches of similar length."""

from __future__ import annotations

from typing import Any, cast

from datasets import Dataset
from transformers import (
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from lean_dojo_plugins.training.batches import LengthGroups


class GroupingTrainer(Trainer):
    """Puts rows of similar ``length`` into a batch, in an order that all processes agree on.

    The library's own sampler draws from each process's random numbers, which drift apart with
    dropout: some rows would then be trained on twice in an epoch, and others not at all.
    """

    def _get_train_sampler(self, train_dataset: Dataset | None = None) -> Any:
        if self.args.train_sampling_strategy != "group_by_length":
            return super()._get_train_sampler(train_dataset)
        # By now transformers has dropped the columns that the model does not take from its copy.
        lengths = cast("Dataset", self.train_dataset)["length"][:]
        per_step = self.args.train_batch_size * self.args.gradient_accumulation_steps
        sampler = LengthGroups(lengths, per_step * self.args.world_size, self.args.seed)
        self.add_callback(_EpochOrder(sampler))
        return sampler


class _EpochOrder(TrainerCallback):
    """Tells the sampler the epoch; accelerate does not reach it behind skipped batches."""

    def __init__(self, sampler: LengthGroups) -> None:
        self.sampler = sampler

    def on_epoch_begin(
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,
        control: TrainerControl,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        """Choose the order of the epoch that begins."""
        self.sampler.set_epoch(int(state.epoch or 0))
