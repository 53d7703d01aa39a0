"""The order of the training data: random, or batches of similar length; a function of the seed.

transformers' own sampler draws from a generator that a run which goes on inside an epoch does not
have any more; this order follows from seed and epoch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from torch.utils.data import Sampler


class LengthGroups(Sampler[int]):
    """Shuffles, then sorts within blocks of batches, so that a batch needs little padding.

    A block has fifty batches, in a small dataset fewer: there are at least four blocks, so that no
    two epochs have the same batches.

    The order follows from ``(seed, epoch)`` alone: every process computes the same one, and a
    run resumed in the middle of an epoch continues the same one.

    Args:
        lengths: Length of each item, in tokens.
        batch_size: Items per optimiser step and process, times processes.
        seed: Seed of the order.
    """

    longest_block = 50

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int) -> None:
        self.lengths = np.asarray(lengths)
        self.batch_size = batch_size
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order the next iteration gives."""
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
        # A short last batch stays last: in the middle it would shift all later batches.
        tail = [batches.pop()] if len(batches[-1]) < self.batch_size else []
        shuffled = [batches[index] for index in rng.permutation(len(batches))]
        return iter(np.concatenate([*shuffled, *tail]).tolist())
