"""The Lightning data module: loaders from a split folder and a corpus."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader

from lean_dojo_core import registry
from lean_dojo_plugins.retrieval.data import batches
from lean_dojo_plugins.retrieval.data.corpus import Corpus, Numbers
from lean_dojo_plugins.retrieval.data.examples import Example, make_examples
from lean_dojo_v2.database import read_theorems
from lean_dojo_v2.errors import EmptyDatasetError

Origins: TypeAlias = frozenset[tuple[str, str]]
"""Addresses and commits of repositories."""


class ResumableLoader(DataLoader[Any]):
    """A loader whose ``state_dict``, kept in Lightning's checkpoints, resumes inside an epoch."""

    _done = 0
    _resume = 0

    def __iter__(self) -> Iterator[batches.TrainBatch]:  # type: ignore[override]
        """Yield the batches of the epoch that are not done yet."""
        sampler = self.batch_sampler
        assert isinstance(sampler, batches.LengthGroupedBatches)
        sampler.start = self._done = self._resume
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
    """Training and validation data of a retriever: of the repositories to ``keep``, or of all."""

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
    keep: Origins | None = None
    corpus: Corpus = attrs.field(init=False)
    premises: batches.TokenStore = attrs.field(init=False)
    val_examples: list[Example] = attrs.field(init=False)
    val_queries: batches.TokenStore = attrs.field(init=False)
    train_items: batches.TrainItems = attrs.field(init=False)

    def __attrs_pre_init__(self) -> None:
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the loaded data; other processes read it themselves."""
        loaded = {field.name for field in attrs.fields(type(self)) if not field.init}
        return {name: value for name, value in vars(self).items() if name not in loaded}

    def setup(self, stage: str = "") -> None:  # noqa: ARG002 - Lightning's signature
        """Read and tokenise, once; an error if no training tactic uses a premise of the corpus."""
        if "train_items" in vars(self):
            return
        self.corpus = Corpus.read(self.corpus_path)
        self.premises = self._tokens(self.corpus.texts)
        examples = self.examples("train", self.keep)
        self.val_examples = self.examples("val", self.keep)
        self.val_queries = self._tokens(one.state for one in self.val_examples)
        if not examples:
            raise EmptyDatasetError(
                "no tactic uses a premise of the corpus, so there is nothing to learn retrieval "
                "from (a proof that is `sorry`, or one without premises, teaches nothing)",
                path=self.data_path / "train.json",
            )
        self.train_items = self.items_of(examples)

    def _tokens(self, texts: Iterable[str]) -> batches.TokenStore:
        return batches.TokenStore.build(texts, self.tokenizer_name, self.max_seq_len)

    def examples(self, split: str, keep: Origins | None) -> list[Example]:
        """Read the examples of a split: those of some repositories, or all."""
        file = self.data_path / f"{split}.json"
        theorems = (
            one for one in read_theorems(file) if keep is None or (one.url, one.commit) in keep
        )
        formatter = registry.dataset_formatters[self.formatter].create()
        return make_examples(theorems, self.corpus, formatter, source=file)

    def items_of(self, examples: list[Example]) -> batches.TrainItems:
        """Make training items of examples of this corpus."""
        return batches.TrainItems(
            visibility=self.corpus.visibility,
            examples=examples,
            num_negatives=self.num_negatives,
            num_in_file_negatives=self.num_in_file_negatives,
            seed=self.seed,
            queries=self._tokens(one.state for one in examples),
            premises=self.premises,
        )

    @property
    def _rank_and_world(self) -> tuple[int, int]:
        trainer = self.trainer
        return (0, 1) if trainer is None else (trainer.global_rank, trainer.world_size)

    def training_batches(self) -> batches.LengthGroupedBatches:
        """Return the order of the training items for this process."""
        lengths = self.train_items.lengths
        return batches.LengthGroupedBatches(
            lengths, self.batch_size, self.seed, *self._rank_and_world
        )

    def train_dataloader(self) -> ResumableLoader:
        """Return the training loader of this process."""
        items = self.train_items
        spare = (os.cpu_count() or 1) - 1  # one core trains
        workers = min(self.num_workers, spare)
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
        rank, world = self._rank_and_world
        lengths = self.val_queries.lengths
        longest_first = np.argsort(-lengths, kind="stable")[rank::world]
        return DataLoader(
            longest_first,  # type: ignore[arg-type]
            batch_size=self.eval_batch_size,
            collate_fn=self._collate_evaluation,
            num_workers=0,
        )

    def _collate_evaluation(self, numbers: list[Any]) -> batches.EvalBatch:
        examples: Numbers = np.array(numbers, dtype=np.int64)
        return batches.EvalBatch(
            queries=self.val_queries.pad(examples),
            examples=torch.from_numpy(examples),
        )
