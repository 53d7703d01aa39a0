"""Rows of a training dataset: on disk, counted by length, in batches of similar length.

Rows are streamed into an Arrow file and opened as a dataset, in bounded memory.
`Dataset.from_generator` caches by the generator's code, not by its rows, and provides no digest of
the rows, by which a resumed run recognises its data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

import attrs
import datasets
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from datasets import Dataset
from torch.utils.data import Sampler
from transformers import Trainer, TrainerCallback, TrainerState

from lean_dojo_core.errors import DataError
from lean_dojo_v2.atomic import atomic_writer

CHUNK = 1000
"""Rows tokenised and written at once."""

Item = TypeVar("Item")


@attrs.frozen
class Written:
    """A written file: its number of rows, and the SHA-256 of their content in this order."""

    rows: int
    digest: str


def write_rows(rows: Iterable[dict[str, Any]], path: Path) -> Written:
    """Write rows to an Arrow stream file, atomically.

    Args:
        rows: Flat or nested rows, all with the same keys.
        path: The file to write.

    Raises:
        DataError: If a column changes its type from one row to another.
    """
    count = 0
    schema: pa.Schema | None = None
    with atomic_writer(path) as stream:
        writer: Any = None
        for chunk in chunks(rows, CHUNK):
            try:
                if schema is None:
                    schema = _without_nulls(pa.Table.from_pylist(chunk).schema)
                    writer = pa.ipc.new_stream(stream, schema)
                writer.write_table(pa.Table.from_pylist(chunk, schema=schema))
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise DataError(
                    f"the formatter's rows do not have one type per column: {error}",
                    place=f"rows {count}-{count + len(chunk)}",
                ) from error
            count += len(chunk)
        if writer is not None:
            writer.close()
    with path.open("rb") as written:
        return Written(count, hashlib.file_digest(written, "sha256").hexdigest())


def open_rows(path: Path) -> datasets.Dataset:
    """Open a file of :func:`write_rows` without reading it into memory."""
    return datasets.Dataset.from_file(str(path))


def _without_nulls(schema: pa.Schema) -> pa.Schema:
    """Type columns that were empty in the first rows (``None``, ``[]``) as text."""
    return pa.schema([field.with_type(_concrete(field.type)) for field in schema])


def _concrete(kind: Any) -> Any:
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_concrete(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_concrete(field.type)) for field in kind])
    return kind


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Split a stream into lists of at most ``size`` items."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


@attrs.define
class TooLong:
    """Counts of the examples that were too long.

    Attributes:
        shortened: Examples whose goal was shortened.
        skipped: Examples that did not fit even then, and were left out.

    >>> TooLong(shortened=12, skipped=3).describe(1024)
    'max_length=1024: 12 goals shortened, 3 examples left out'
    """

    shortened: int = 0
    skipped: int = 0

    def describe(self, max_length: int | None) -> str:
        """Describe both numbers; empty if both are zero."""
        if not self.shortened and not self.skipped:
            return ""
        return (
            f"max_length={max_length}: {self.shortened} goals shortened, "
            f"{self.skipped} examples left out"
        )


def nothing_fits(examples: int, max_length: int | None) -> str:
    """Return the message that all examples were too long."""
    return (
        f"none of {examples} examples fits into max_length={max_length}, even with its goal "
        "shortened; raise max_length"
    )


class LengthGroups(Sampler[int]):
    """Shuffles, then sorts within blocks of batches, so that a batch needs little padding.

    A block has fifty batches, or fewer in a small dataset: there are at least four blocks, so that
    epochs have different batches. A batch has the rows of an optimiser step in all processes.

    The order follows from ``(seed, epoch)`` alone: every process computes the same one, and a
    run resumed in the middle of an epoch continues the same one.
    """

    longest_block = 50

    def __init__(
        self, lengths: Sequence[int] | np.ndarray[Any, Any], batch_size: int, seed: int
    ) -> None:
        self.lengths = np.asarray(lengths)
        self.batch_size = batch_size
        self.seed = seed
        self.epoch = 0

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


class _EpochOrder(TrainerCallback):
    """Passes the epoch to the sampler, which accelerate does not reach behind skipped batches."""

    def __init__(self, sampler: LengthGroups) -> None:
        self.sampler = sampler

    def on_epoch_begin(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Set the epoch."""
        self.sampler.set_epoch(int(state.epoch or 0))
