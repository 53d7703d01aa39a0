"""Batches: tokens of texts, training items, and the tensors of a batch."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Self, TypeAlias, TypedDict

import attrs
import numpy as np
import numpy.typing as npt
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset
from transformers import ByT5Tokenizer, PreTrainedTokenizerBase

from lean_dojo_plugins import training
from lean_dojo_plugins.retrieval.data.corpus import Mask, Numbers, Visibility
from lean_dojo_plugins.retrieval.data.examples import Example

PAD_ID = 0
"""T5's padding; every T5-type tokenizer has it at 0."""


def load_tokenizer(name: str) -> PreTrainedTokenizerBase:
    """Load a tokenizer; a hub id with ``byt5`` in it, or a folder without one, means ByT5's."""
    folder = Path(name)
    own = training.has_tokenizer(folder) if folder.is_dir() else "byt5" not in folder.name.lower()
    # A text that spells a special token, such as </s>, stays text.
    return training.fetch_tokenizer(name) if own else ByT5Tokenizer(split_special_tokens=True)


@attrs.frozen(eq=False)
class TokenStore:
    """Encoded texts by number; torch shares its tensors with data-loading processes."""

    tokens: torch.Tensor = attrs.field(repr=False)  # int32: one text after the other
    offsets: torch.Tensor = attrs.field(repr=False)  # int64[N + 1]: where each text starts

    @classmethod
    def build(cls, texts: Iterable[str], tokenizer: str, max_length: int) -> Self:
        """Encode texts, each cut to ``max_length`` tokens including the end token."""
        encode = load_tokenizer(tokenizer)
        lengths, parts = [0], [np.zeros(0, np.int32)]
        for group in training.chunks(texts, training.CHUNK_SIZE):
            rows = encode(group, truncation=True, max_length=max_length)["input_ids"]
            lengths += map(len, rows)
            parts.append(np.fromiter(chain.from_iterable(rows), np.int32))
        return cls(torch.from_numpy(np.concatenate(parts)), torch.tensor(lengths).cumsum(0))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Token counts of all texts, ``int64[N]``."""
        return np.diff(self.offsets.numpy())

    def pad(self, numbers: Sequence[int] | npt.NDArray[np.int64]) -> torch.Tensor:
        """Stack the texts of these numbers into ``int64[len(numbers), longest]``, padded with 0."""
        offsets = self.offsets.numpy()
        rows = [self.tokens[offsets[number] : offsets[number + 1]] for number in numbers]
        return pad_sequence(rows, batch_first=True, padding_value=PAD_ID).long()


Key: TypeAlias = tuple[int, int]
"""(epoch, item): with the seed, this determines a training item."""


class TrainBatch(TypedDict):
    """A training batch of B items, with N negatives each.

    ``B`` rows (states) meet ``C = B * (1 + N)`` columns: the B positives, then for each ``j`` the
    ``j``-th negative of every row. Texts that occur more than once are held, and encoded, once.
    """

    queries: torch.Tensor
    """``int64[U, L]``: the different states."""
    rows: torch.Tensor
    """``int64[B]``: the state of each row, as an index into ``queries``."""
    premises: torch.Tensor
    """``int64[V, M]``: the different premises."""
    columns: torch.Tensor
    """``int64[C]``: the premise of each column, as an index into ``premises``."""
    labels: torch.Tensor
    """``float32[B, C]``: 1 where the column is a positive of the row."""
    weights: torch.Tensor
    """``float32[B, C]``: 0 where the column is neither positive nor usable for the row, or where a
    row had fewer than N negatives; those entries do not count."""


class EvalBatch(TypedDict):
    """States to evaluate: ``queries`` ``int64[B, L]`` and their example numbers ``int64[B]``."""

    queries: torch.Tensor
    examples: torch.Tensor


@attrs.frozen(eq=False)
class TrainItems(Dataset[tuple[int, Numbers]]):
    """The training items of some examples: (tactic, one positive premise), with fresh negatives.

    An item depends only on the seed and its key, so it is the same in every process.
    """

    visibility: Visibility
    examples: Sequence[Example]
    num_negatives: int
    num_in_file_negatives: int
    seed: int
    queries: TokenStore
    premises: TokenStore
    pairs: list[tuple[int, int]] = attrs.field(init=False, repr=False)
    """For each item, the number of its example, and its positive premise."""

    @pairs.default
    def _pairs(self) -> list[tuple[int, int]]:
        return [(n, premise) for n, one in enumerate(self.examples) for premise in one.positives]

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def lengths(self) -> Numbers:
        """Tokens of each item's state."""
        return self.queries.lengths[[number for number, _ in self.pairs]]

    def __getitem__(self, key: Key) -> tuple[int, Numbers]:
        """Return the item's number and its negatives for an epoch."""
        epoch, item = key
        number, positive = self.pairs[item]
        example = self.examples[number]
        negatives = sample_negatives(
            self.visibility,
            usable=self.visibility.mask(example.file, example.before),
            positive=positive,
            positives=example.positives,
            count=self.num_negatives,
            in_file=self.num_in_file_negatives,
            rng=np.random.default_rng([self.seed, epoch, item]),
        )
        return item, negatives

    def collate(self, items: Sequence[tuple[int, Numbers]]) -> TrainBatch:
        """Make the tensors of a batch."""
        numbers, positives = np.array([self.pairs[item] for item, _ in items]).T
        columns = np.full((1 + self.num_negatives, len(items)), -1, dtype=np.int64)
        columns[0] = positives
        for row, (_, negatives) in enumerate(items):
            columns[1 : 1 + len(negatives), row] = negatives
        flat = columns.ravel()
        # A missing negative is a column like any other that weighs nothing.
        filled = np.where(flat < 0, columns[0, 0], flat)
        unique_premises, column_index = np.unique(filled, return_inverse=True)
        unique_queries, rows = np.unique(numbers, return_inverse=True)
        labels = np.zeros((len(items), len(flat)), dtype=np.float32)
        weights = np.zeros_like(labels)
        for row, number in enumerate(numbers):
            example = self.examples[number]
            labels[row] = np.isin(flat, example.positives)
            usable = self.visibility.mask(example.file, example.before)[filled]
            weights[row] = (usable & (flat >= 0)) | (labels[row] > 0)
        return TrainBatch(
            queries=self.queries.pad(unique_queries),
            rows=torch.from_numpy(rows),
            premises=self.premises.pad(unique_premises),
            columns=torch.from_numpy(column_index),
            labels=torch.from_numpy(labels),
            weights=torch.from_numpy(weights),
        )


def sample_negatives(
    visibility: Visibility,
    *,
    usable: Mask,
    positive: int,
    positives: Sequence[int],
    count: int,
    in_file: int,
    rng: np.random.Generator,
) -> Numbers:
    """Draw at most ``count`` premises that a theorem may use and that its tactic does not use.

    ``in_file`` are from the file of ``positive``; if one kind runs short the other fills up.
    """
    seen = np.flatnonzero(usable)
    home = visibility.file_of(positive)
    inside = slice(*np.searchsorted(seen, visibility.file_starts[home : home + 2]))
    near = rng.permutation(seen[inside][~np.isin(seen[inside], positives)])
    wanted = count - min(in_file, count, len(near))
    others = np.delete(seen, inside)
    # Enough draws that all positives may be among them.
    far = rng.choice(others, min(len(others), wanted + len(positives)), replace=False)
    far = far[~np.isin(far, positives)][:wanted]
    return np.concatenate([near[: count - len(far)], far])


@attrs.define(eq=False)
class LengthGroupedBatches:
    """Groups items of similar length into batches, in random order.

    The order follows from (seed, epoch) alone. Batches are dealt out to the processes in turn,
    equally many to each (the first ones fill up a last incomplete round). ``start`` of them are
    skipped.
    """

    lengths: Numbers
    batch_size: int
    seed: int
    rank: int = 0
    world: int = 1
    epoch: int = 0
    start: int = 0

    @property
    def sampler(self) -> Self:
        """This object, where Lightning looks for ``set_epoch``."""
        return self

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return math.ceil(self._count() / self.world)

    def __iter__(self) -> Iterator[list[Key]]:
        groups = training.LengthGroups(self.lengths, self.batch_size, self.seed)
        groups.set_epoch(self.epoch)
        items = list(groups)
        batches = np.resize(np.arange(self._count()), len(self) * self.world)
        for batch in batches[self.rank :: self.world][self.start :]:
            chosen = items[batch * self.batch_size : (batch + 1) * self.batch_size]
            yield [(self.epoch, item) for item in chosen]

    def _count(self) -> int:
        return math.ceil(len(self.lengths) / self.batch_size)
