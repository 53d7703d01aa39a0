"""The LeanProgress dataset: a JSONL file, split by theorem and tokenised as a stream."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from datasets import Dataset
from transformers import PreTrainedTokenizerBase

from lean_dojo_plugins.training import CHUNK_SIZE, Stage, chunks
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.lean_progress import ProgressExample, read_examples


@attrs.frozen(eq=False)
class ExampleRows:
    """Examples of a file, read on each iteration, since each carries its whole prefix."""

    path: Path
    chosen: np.ndarray[Any, Any]  # which of its examples, bool[N]

    def __len__(self) -> int:
        return int(self.chosen.sum())

    def __iter__(self) -> Iterator[ProgressExample]:
        return compress(read_examples(self.path), self.chosen)


class ProgressDataset:
    """A LeanProgress dataset; its file is checked once and read again on use.

    Each line of the JSONL file has ``goal``, ``tactic``, ``steps_remaining`` and, optionally,
    ``prefix`` and ``theorem``. ``commit`` is the SHA-256 of the examples. To the training loop it
    is a source of a single stage.

    Raises:
        DataError: With the line's number, for a bad line.
        EmptyDatasetError: If the file has no example.
    """

    def __init__(self, data_path: str | Path) -> None:
        self.data_path = Path(data_path)
        count, digest = 0, hashlib.sha256()
        for example in read_examples(self.data_path):
            count += 1
            digest.update(repr(example).encode())
        if not count:
            raise EmptyDatasetError("the file has no examples", path=data_path)
        self.examples = ExampleRows(self.data_path, np.ones(count, bool))
        self.commit = digest.hexdigest()

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def stages(self) -> list[Stage]:
        """The whole dataset."""
        return [Stage("progress", self.commit)]

    def export(self, stages: int, folder: Path) -> None:
        """Do nothing: the examples are read from their file."""

    def to_hf(self) -> Dataset:
        """Return a dataset in memory with the columns ``text`` and ``label``."""
        return Dataset.from_list([{"text": one.text, "label": one.label} for one in self.examples])

    def split(self, eval_ratio: float, seed: int) -> tuple[ExampleRows, ExampleRows]:
        """Split into training and evaluation examples, at least one of each.

        All examples of one proof go to the same side; an example without a theorem's name is a
        group of its own. EmptyDatasetError with fewer than two groups.
        """
        names = (one.theorem or f"#{index}" for index, one in enumerate(self.examples))
        of_each = np.fromiter((_place(name, seed) for name in names), np.uint64, len(self))
        places, sizes = np.unique(of_each, return_counts=True)
        if len(places) < 2:
            raise EmptyDatasetError(
                "all examples are of one proof, so none can be held out for evaluation",
                path=self.data_path,
            )
        wanted = min(max(1, round(eval_ratio * len(self))), len(self) - 1)
        taken = 1 + int(np.searchsorted(np.cumsum(sizes[::-1]), wanted))
        held_out = of_each >= places[-min(taken, len(places) - 1)]
        return ExampleRows(self.data_path, ~held_out), ExampleRows(self.data_path, held_out)


def _place(theorem: str, seed: int) -> int:
    """Return a theorem's place in the seed's order, a number of 64 bits."""
    return int.from_bytes(hashlib.sha256(f"{seed}\n{theorem}".encode()).digest()[:8], "big")


def tokenised(
    examples: Iterable[ProgressExample], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> Iterator[dict[str, Any]]:
    """Tokenise to rows of the tokenizer's columns, unpadded, ``label`` (steps) and ``length``."""
    for chunk in chunks(examples, CHUNK_SIZE):
        columns = encode([example.text for example in chunk], tokenizer, max_length)
        for index, example in enumerate(chunk):
            yield {
                **{name: values[index] for name, values in columns.items()},
                "label": example.label,
                "length": len(columns["input_ids"][index]),
            }


def encode(
    texts: Sequence[str], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> dict[str, list[list[int]]]:
    """Tokenise texts, cutting long ones at their beginning; goal and candidate are at the end."""
    tokenizer.truncation_side = "left"
    tokenizer.padding_side = "right"  # an encoder counts its positions from the first column
    return dict(tokenizer(list(texts), truncation=True, max_length=max_length))
