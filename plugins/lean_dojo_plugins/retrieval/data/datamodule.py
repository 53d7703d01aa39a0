"""The Lightning data module: loaders from a split folder and a corpus."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader

from lean_dojo_core import Theorem, registry
from lean_dojo_plugins.retrieval.data.batches import (
    EvalBatch,
    LengthGroupedBatches,
    TrainBatch,
    TrainItems,
)
from lean_dojo_plugins.retrieval.data.corpus import Corpus, Numbers
from lean_dojo_plugins.retrieval.data.examples import RetrievalExamples
from lean_dojo_plugins.retrieval.data.tokenizer import load_tokenizer
from lean_dojo_plugins.retrieval.data.tokens import TokenStore
from lean_dojo_v2.errors import EmptyDatasetError

log = logging.getLogger(__name__)


class ResumableLoader(DataLoader[Any]):
    """A loader that resumes in the middle of an epoch.

    Lightning keeps ``state_dict`` in its checkpoints; earlier batches are not made again.
    """

    _done = 0
    _resume = 0

    def __iter__(self) -> Iterator[TrainBatch]:  # type: ignore[override]
        """Yield the batches of the epoch that are not done yet."""
        batches = self.batch_sampler
        assert isinstance(batches, LengthGroupedBatches)
        batches.start = self._done = self._resume
        self._resume = 0
        for batch in super().__iter__():
            self._done += 1
            yield batch
        self._done = 0

    def state_dict(self) -> dict[str, int]:
        """Return the number of batches done in this epoch."""
        return {"done": self._done % max(len(self), 1)}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Resume after that many batches."""
        self._resume = state["done"]


@attrs.define(slots=False, eq=False, repr=False)
class RetrievalDataModule(pl.LightningDataModule):
    """Training and validation data of a retriever.

    Attributes:
        data_path: Folder with ``train.json``, ``val.json`` and ``test.json``.
        corpus_path: The ``corpus.jsonl``.
        num_negatives: Negatives per training item.
        num_in_file_negatives: Of these, from the positive's file.
        tokenizer_name: The tokenizer.
        batch_size: Training items per device.
        eval_batch_size: States per validation batch.
        max_seq_len: Maximum number of tokens per text.
        num_workers: Data-loading processes; at most one per spare core.
        seed: Seed of order and negatives.
        formatter: Name of the dataset formatter.
        keep: Which theorems to train and validate on; default: all.
    """

    data_path: Path = attrs.field(converter=Path)
    corpus_path: Path = attrs.field(converter=Path)
    num_negatives: int = 3
    num_in_file_negatives: int = 1
    tokenizer_name: str = "google/byt5-small"
    batch_size: int = 4
    eval_batch_size: int = 64
    max_seq_len: int = 1024
    num_workers: int = 4
    seed: int = 3407
    formatter: str = "premise-pairs"
    keep: Callable[[Theorem], bool] | None = None
    corpus: Corpus = attrs.field(init=False)
    premises: TokenStore = attrs.field(init=False)
    train_examples: RetrievalExamples = attrs.field(init=False)
    val_examples: RetrievalExamples = attrs.field(init=False)
    val_queries: TokenStore = attrs.field(init=False)
    train_items: TrainItems = attrs.field(init=False)

    def __attrs_pre_init__(self) -> None:
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the loaded data; other processes read it themselves."""
        loaded = {field.name for field in attrs.fields(type(self)) if not field.init}
        return {name: value for name, value in vars(self).items() if name not in loaded}

    def setup(self, stage: str = "") -> None:
        """Read and tokenise, once.

        Raises:
            DataError: If a file is missing or bad.
            EmptyDatasetError: If no tactic of the training split uses a premise of the corpus.
        """
        del stage
        if "train_items" in vars(self):
            return
        self.corpus = Corpus.read(self.corpus_path)
        self.premises = self._tokens(self.corpus.texts)
        self.train_examples = self.examples("train", self.keep)
        self.val_examples = self.examples("val", self.keep)
        self.val_queries = self._tokens(self.val_examples.states)
        if not len(self.train_examples):
            raise EmptyDatasetError(
                "no tactic uses a premise of the corpus, so there is nothing to learn retrieval "
                "from (a proof that is `sorry`, or one without premises, teaches nothing)",
                path=self.data_path / "train.json",
            )
        self.train_items = self.items_of(self.train_examples)

    def _tokens(self, texts: Iterable[str]) -> TokenStore:
        tokenizer = load_tokenizer(self.tokenizer_name)
        return TokenStore.build(texts, tokenizer, self.max_seq_len)

    def examples(self, split: str, keep: Callable[[Theorem], bool] | None) -> RetrievalExamples:
        """Read the examples of a split: those of the theorems to keep, or all."""
        formatter = registry.dataset_formatters[self.formatter].create()
        file = self.data_path / f"{split}.json"
        return RetrievalExamples.read(file, self.corpus, formatter, keep)

    def items_of(self, examples: RetrievalExamples) -> TrainItems:
        """Make training items of examples of this corpus."""
        example_of, premise_of = examples.pairs()
        return TrainItems(
            visibility=self.corpus.visibility,
            example_of=example_of,
            premise_of=premise_of,
            files=examples.files,
            befores=examples.befores,
            positive_starts=examples.positive_starts,
            positives=examples.positives,
            num_negatives=self.num_negatives,
            num_in_file_negatives=self.num_in_file_negatives,
            seed=self.seed,
            queries=self._tokens(examples.states),
            premises=self.premises,
            max_length=self.max_seq_len,
        )

    def training_batches(self) -> LengthGroupedBatches:
        """Return the order of the training items for this process."""
        return LengthGroupedBatches(
            lengths=self.train_items.queries.lengths[self.train_items.example_of],
            batch_size=self.batch_size,
            seed=self.seed,
            rank=0 if self.trainer is None else self.trainer.global_rank,
            world=1 if self.trainer is None else self.trainer.world_size,
        )

    def train_dataloader(self) -> ResumableLoader:
        """Return the training loader of this process."""
        items = self.train_items
        workers = spare_workers(self.num_workers)
        return ResumableLoader(
            items,
            batch_sampler=self.training_batches(),
            collate_fn=items.collate,
            num_workers=workers,
            persistent_workers=workers > 0,
            pin_memory=torch.cuda.is_available(),
        )

    def val_dataloader(self) -> DataLoader[Any]:
        """Return this process's share of the validation states; shares are disjoint."""
        rank = 0 if self.trainer is None else self.trainer.global_rank
        world = 1 if self.trainer is None else self.trainer.world_size
        lengths = self.val_queries.lengths
        longest_first = np.argsort(-lengths, kind="stable")[rank::world]
        return DataLoader(
            longest_first,  # type: ignore[arg-type]
            batch_size=self.eval_batch_size,
            collate_fn=self.collate_evaluation,
            num_workers=0,
        )

    def collate_evaluation(self, numbers: list[Any]) -> EvalBatch:
        """Make the tensors of a validation batch."""
        examples: Numbers = np.array(numbers, dtype=np.int64)
        return EvalBatch(
            queries=self.val_queries.pad(examples, self.max_seq_len),
            examples=torch.from_numpy(examples),
        )


def spare_workers(wanted: int) -> int:
    """Limit the number of data-loading processes, leaving one core for training."""
    spare = max((os.cpu_count() or 1) - 1, 0)
    if wanted > spare:
        log.info(
            "num_workers=%d: this machine has %d core(s) to spare, using %d", wanted, spare, spare
        )
    return min(wanted, spare)
