"""The progress dataset: lines of a JSONL file, split by theorem, tokenised once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from datasets import Dataset
from transformers import PreTrainedTokenizerBase

from lean_dojo_core.errors import EmptyDatasetError
from lean_dojo_v2.lean_progress.examples import ProgressExample, read_examples


class ProgressDataset:
    """A LeanProgress dataset.

    Args:
        data_path: A JSONL file with ``goal``, ``tactic``, ``steps_remaining`` and, optionally,
            ``prefix`` and ``theorem`` on each line.

    Raises:
        DataError: With the line's number, for a bad line.
        EmptyDatasetError: If the file has no example.
    """

    def __init__(self, data_path: str | Path) -> None:
        self.data_path = Path(data_path)
        self.examples: list[ProgressExample] = list(read_examples(data_path))
        if not self.examples:
            raise EmptyDatasetError("the file has no examples", path=data_path)

    def __len__(self) -> int:
        return len(self.examples)

    def to_hf(self) -> Dataset:
        """Give a dataset with the columns ``text`` and ``label`` (steps remaining)."""
        return Dataset.from_dict(
            {
                "text": [example.text for example in self.examples],
                "label": [float(example.steps_remaining) for example in self.examples],
            }
        )

    def split(self, eval_ratio: float, seed: int) -> tuple[list[ProgressExample], ...]:
        """Split into training and evaluation examples.

        All examples of one proof go to the same side; without a theorem's name every example
        stands for itself. At least one example is held out, and one is kept.

        Args:
            eval_ratio: Share to hold out, between 0 and 1.
            seed: Changes which.

        Raises:
            EmptyDatasetError: With fewer than two groups there is nothing to split.
        """
        groups: dict[str, list[ProgressExample]] = {}
        for index, example in enumerate(self.examples):
            groups.setdefault(example.theorem or f"#{index}", []).append(example)
        if len(groups) < 2:
            raise EmptyDatasetError(
                "all examples are of one proof, so none can be held out for evaluation",
                path=self.data_path,
            )
        order = sorted(groups, key=lambda name: hashlib.sha256(f"{seed}\n{name}".encode()).digest())
        wanted = min(max(1, round(eval_ratio * len(self.examples))), len(self.examples) - 1)
        held_out: list[ProgressExample] = []
        while len(held_out) < wanted and len(order) > 1:
            held_out += groups[order.pop()]
        return [example for name in order for example in groups[name]], held_out


def tokenised(
    examples: Sequence[ProgressExample], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> Dataset:
    """Tokenise once, without padding.

    Args:
        examples: The examples.
        tokenizer: The encoder's tokenizer.
        max_length: Tokens at most.

    Returns:
        The tokenizer's columns, ``label`` (steps) and ``length`` (tokens).
    """
    columns = encode([example.text for example in examples], tokenizer, max_length)
    return Dataset.from_dict(
        {
            **columns,
            "label": [float(example.steps_remaining) for example in examples],
            "length": [len(ids) for ids in columns["input_ids"]],
        }
    )


def encode(
    texts: Sequence[str], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> dict[str, list[list[int]]]:
    """Tokenise texts; a long one loses its beginning, never the candidate tactic at its end."""
    tokenizer.truncation_side = "left"
    return dict(tokenizer(list(texts), truncation=True, max_length=max_length))
