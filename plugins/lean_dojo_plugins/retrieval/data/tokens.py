"""Encoded texts: the tokenizer, and the tokens of many texts in one tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import ByT5Tokenizer, PreTrainedTokenizerBase

from lean_dojo_plugins.training.hub import fetch_tokenizer, has_tokenizer
from lean_dojo_plugins.training.rows import CHUNK, chunks

PAD_ID = 0
"""T5's padding; every T5-type tokenizer has it at 0."""


def load_tokenizer(name: str) -> PreTrainedTokenizerBase:
    """Load a tokenizer; ByT5's needs no files.

    Args:
        name: Hub id or folder. A hub id with ``byt5`` in it and a folder without a tokenizer mean
            ByT5's.

    Raises:
        TrainingError: If another tokenizer cannot be loaded.
    """
    folder = Path(name)
    own = has_tokenizer(folder) if folder.is_dir() else "byt5" not in folder.name.lower()
    # A text that spells a special token, such as </s>, stays text.
    return fetch_tokenizer(name) if own else ByT5Tokenizer(split_special_tokens=True)


@attrs.frozen(eq=False)
class TokenStore:
    """Encoded texts by number; torch shares its tensors with data-loading processes.

    Attributes:
        tokens: ``int32``: the tokens of all texts, one text after the other.
        offsets: ``int64[N + 1]``: where each text starts.
    """

    tokens: torch.Tensor = attrs.field(repr=False)
    offsets: torch.Tensor = attrs.field(repr=False)

    @classmethod
    def build(cls, texts: Iterable[str], tokenizer: str, max_length: int) -> TokenStore:
        """Encode texts, each cut to ``max_length`` tokens including the end token.

        Raises:
            TrainingError: If there is no tokenizer of that name.
        """
        encode = load_tokenizer(tokenizer)
        lengths, parts = [0], [np.zeros(0, np.int32)]
        for group in chunks(texts, CHUNK):
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
