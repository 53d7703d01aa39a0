"""Batches of rows of similar length."""

from collections.abc import Iterator
from typing import Any, ClassVar, cast

import attrs
import numpy as np
from datasets import Dataset
from torch.utils.data import Sampler
from transformers import Trainer, TrainerCallback, TrainerState


@attrs.define(eq=False, slots=False)
class LengthGroups(Sampler[int]):
    """Shuffles, then sorts within blocks of batches, so that a batch needs little padding.

    A block has fifty batches, or fewer in a small dataset: there are at least four blocks, so that
    epochs have different batches. A batch has the rows of an optimiser step in all processes.

    The order follows from ``(seed, epoch)`` alone: every process computes the same one, and a
    run resumed in the middle of an epoch continues the same one.
    """

    lengths: np.ndarray[Any, Any] = attrs.field(converter=np.asarray)
    batch_size: int
    seed: int
    epoch: int = 0
    longest_block: ClassVar[int] = 50

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next iteration."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng([self.seed, self.epoch])
        order = rng.permutation(len(self.lengths))
        if self.batch_size == 1:
            return iter(order.tolist())
        batches_a_block = min(self.longest_block, len(order) // (4 * self.batch_size))
        size = self.batch_size * max(1, batches_a_block)
        batches: list[np.ndarray] = []
        for start in range(0, len(order), size):
            block = order[start : start + size]
            block = block[np.argsort(-self.lengths[block], kind="stable")]
            batches.extend(
                block[at : at + self.batch_size] for at in range(0, len(block), self.batch_size)
            )
        # A short last batch stays last, or it would shift all later batches.
        tail = [batches.pop()] if len(batches[-1]) < self.batch_size else []
        shuffled = [batches[index] for index in rng.permutation(len(batches))]
        return iter(np.concatenate([*shuffled, *tail]).tolist())


class GroupingTrainer(Trainer):
    """Puts rows of similar ``length`` into a batch, in an order that all processes agree on.

    The library's own sampler draws from each process's random numbers, which drift apart with
    dropout: some rows would then be trained on twice in an epoch, and others not at all.
    """

    def _get_train_sampler(self, train_dataset: Dataset | None = None) -> Any:
        if self.args.train_sampling_strategy != "group_by_length":
            return super()._get_train_sampler(train_dataset)
        # transformers has dropped the model's unused columns from its copy.
        lengths = cast("Dataset", self.train_dataset)["length"][:]
        per_step = self.args.train_batch_size * self.args.gradient_accumulation_steps
        sampler = LengthGroups(lengths, per_step * self.args.world_size, self.args.seed)
        self.add_callback(_EpochOrder(sampler))
        return sampler


@attrs.define(eq=False, slots=False)
class _EpochOrder(TrainerCallback):
    """Passes the epoch to the sampler, which accelerate does not reach behind skipped batches."""

    sampler: LengthGroups

    def on_epoch_begin(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Set the epoch."""
        self.sampler.set_epoch(int(state.epoch or 0))
