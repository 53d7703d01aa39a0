"""Token stores: many encoded texts in one file, made once, mapped into memory by every process.

Flat ids and offsets, as in an Arrow list array; held in numpy, whose rows are cut out of the map
and padded without an object or a copy each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
import torch

from lean_dojo_plugins.retrieval.data.tokenizer import PAD_ID, Tokenizer
from lean_dojo_v2.atomic import atomic_writer

Tokens: TypeAlias = npt.NDArray[Any]

TEXTS_AT_ONCE = 1024
KEPT_CACHES = 16
"""How many token files a cache folder keeps; the least recently made go."""


@attrs.define(eq=False)
class TokenStore:
    """Encoded texts by number; pickles as its file's name, so that no process copies it.

    Attributes:
        path: The file it is mapped from; ``None`` for a few texts in memory.
    """

    path: Path | None
    _tokens: Tokens = attrs.field(repr=False)
    _offsets: npt.NDArray[np.int64] = attrs.field(repr=False)

    @classmethod
    def build(
        cls, texts: Iterable[str], tokenizer: Tokenizer, max_length: int, folder: Path
    ) -> TokenStore:
        """Encode texts, or map what an earlier call with the same texts has written.

        Args:
            texts: The texts; iterated over twice where nothing is cached, so no iterator.
            tokenizer: How to encode them.
            max_length: Most tokens of a text, the end token included.
            folder: The cache folder. Files in it may be deleted at any time.
        """
        digest = hashlib.blake2b(digest_size=16)
        digest.update(f"{tokenizer.fingerprint} {max_length} 1\0".encode())
        for text in texts:
            raw = text.encode()
            digest.update(len(raw).to_bytes(8, "little"))
            digest.update(raw)
        path = folder / f"tokens-{digest.hexdigest()}.bin"
        if not path.is_file():
            _write(path, texts, tokenizer, max_length)
            _prune(folder)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> TokenStore:
        """Map a file that :meth:`build` wrote."""
        header = np.fromfile(path, dtype=np.int64, count=2)
        count, width = (int(number) for number in header)
        offsets = np.memmap(path, dtype=np.int64, mode="r", offset=16, shape=(count + 1,))
        kind = np.uint16 if width == 2 else np.int32
        total = int(offsets[-1])
        start = 16 + 8 * (count + 1)
        tokens: Tokens = (
            np.memmap(path, dtype=kind, mode="r", offset=start, shape=(total,))
            if total
            else np.zeros(0, dtype=kind)
        )
        return cls(path, tokens, offsets)

    @classmethod
    def in_memory(cls, texts: Sequence[str], tokenizer: Tokenizer, max_length: int) -> TokenStore:
        """Encode a few texts without a file."""
        rows = tokenizer.encode(texts, max_length)
        offsets = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
        return cls(None, np.concatenate(rows) if rows else np.zeros(0, np.int32), offsets)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Token counts of all texts, ``int64[N]``."""
        return np.diff(self._offsets)

    def __getitem__(self, number: int) -> Tokens:
        return self._tokens[self._offsets[number] : self._offsets[number + 1]]

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None:
            return (TokenStore, (None, self._tokens, self._offsets))
        return (TokenStore.open, (self.path,))

    def pad(self, numbers: Sequence[int] | npt.NDArray[np.int64], max_length: int) -> torch.Tensor:
        """Stack texts into ``int64[len(numbers), longest]``, padded with 0.

        Args:
            numbers: Which texts.
            max_length: Cut longer ones, keeping their end token.
        """
        rows = [self[int(number)] for number in numbers]
        longest = min(max((len(row) for row in rows), default=1), max_length)
        batch = np.full((len(rows), longest), PAD_ID, dtype=np.int64)
        for target, row in zip(batch, rows, strict=True):
            kept = min(len(row), longest)
            target[:kept] = row[:kept]
            target[kept - 1] = row[-1]
        return torch.from_numpy(batch)


def _write(path: Path, texts: Iterable[str], tokenizer: Tokenizer, max_length: int) -> None:
    kind = np.uint16 if tokenizer.vocab_size <= np.iinfo(np.uint16).max else np.int32
    lengths: list[int] = []
    parts: list[bytes] = []
    remaining = iter(texts)
    while group := list(islice(remaining, TEXTS_AT_ONCE)):
        rows = tokenizer.encode(group, max_length)
        lengths.extend(len(row) for row in rows)
        parts.append(np.concatenate([row.astype(kind) for row in rows]).tobytes())
    offsets = np.fromiter(chain([0], np.cumsum(lengths, dtype=np.int64)), dtype=np.int64)
    with atomic_writer(path) as stream:
        stream.write(np.array([len(lengths), np.dtype(kind).itemsize], dtype=np.int64).tobytes())
        stream.write(offsets.tobytes())
        stream.writelines(parts)


def _prune(folder: Path) -> None:
    """Drop the oldest caches; a process that has one mapped keeps its content."""

    def age(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except FileNotFoundError:  # another process pruned it first
            return 0.0

    for old in sorted(folder.glob("tokens-*.bin"), key=age)[:-KEPT_CACHES]:
        old.unlink(missing_ok=True)
