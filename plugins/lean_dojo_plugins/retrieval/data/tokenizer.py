"""Tokenizers of the retriever: ByT5's, which needs no file, or any other by name.

``transformers.ByT5Tokenizer`` gives the same ids (a test compares them), but takes 20 times as long
for texts of 50 characters and 70 times as long for texts of 500.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lean_dojo_v2.errors import TrainingError

PAD_ID = 0
"""T5's padding; every T5-type tokenizer has it at 0."""


class ByteTokenizer:
    """ByT5's tokenizer without files: each UTF-8 byte plus 3, then the end token 1.

    The numbers are those of ``transformers.ByT5Tokenizer``, with one deliberate difference: a text
    that spells a control token (``</s>``) stays text.

    Attributes:
        vocab_size: Numbers are below this.

    >>> ByteTokenizer().encode(["⊢ a"], 512)[0].tolist()
    [229, 141, 165, 35, 100, 1]
    """

    vocab_size = 259
    _offset = 3
    _end = 1

    def encode(self, texts: Sequence[str], max_length: int) -> list[npt.NDArray[np.int32]]:
        """Encode texts, each cut to ``max_length`` tokens including the end token."""
        encoded = []
        for text in texts:
            raw = np.frombuffer(text.encode()[: max_length - 1], dtype=np.uint8)
            tokens = np.empty(len(raw) + 1, dtype=np.int32)
            np.add(raw, self._offset, out=tokens[:-1], dtype=np.int32)
            tokens[-1] = self._end
            encoded.append(tokens)
        return encoded


class HubTokenizer:
    """Any tokenizer of a T5-type model, from the hub or a folder.

    Args:
        name: Hub id or folder.

    Raises:
        TrainingError: If it cannot be loaded, for example without a network.
    """

    def __init__(self, name: str) -> None:
        from transformers import AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name)
        except (OSError, ValueError) as error:
            raise TrainingError(
                f"the tokenizer {name!r} cannot be loaded: {_first_line(error)}. Use a local "
                "folder, put it into the Hugging Face cache, or use 'google/byt5-small', which "
                "needs no files"
            ) from error
        self.vocab_size = len(self._tokenizer)

    def encode(self, texts: Sequence[str], max_length: int) -> list[npt.NDArray[np.int32]]:
        """Encode texts; see :meth:`ByteTokenizer.encode`."""
        ids = self._tokenizer(list(texts), truncation=True, max_length=max_length)["input_ids"]
        return [np.array(row, dtype=np.int32) for row in ids]


Tokenizer: TypeAlias = ByteTokenizer | HubTokenizer


def load_tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer of a model.

    Args:
        name: Hub id or folder. A name or ``tokenizer_config.json`` that
            mentions ByT5 means bytes, which need no file.

    Raises:
        TrainingError: If another tokenizer cannot be loaded.
    """
    return ByteTokenizer() if _is_byt5(name) else HubTokenizer(name)


def _is_byt5(name: str) -> bool:
    config = Path(name) / "tokenizer_config.json"
    if config.is_file():
        declared = json.loads(config.read_text(encoding="utf-8")).get("tokenizer_class", "")
        return str(declared).startswith("ByT5")
    return "byt5" in Path(name).name.lower()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
