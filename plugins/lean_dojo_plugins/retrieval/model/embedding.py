"""Encode many texts, sorted by length, in batches of similar size, with progress."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from tqdm import tqdm

from lean_dojo_plugins.retrieval.data.corpus import Numbers
from lean_dojo_plugins.retrieval.data.tokens import TokenStore
from lean_dojo_plugins.retrieval.model.hardware import inference_autocast

TOKENS_PER_BATCH = {"cuda": 1 << 17, "cpu": 1 << 13}
"""Padded tokens per batch: many on a GPU, as many as fit the caches on a CPU."""


class Embedder(Protocol):
    """An encoder of token batches, such as the retriever."""

    max_seq_len: int

    @property
    def device(self) -> torch.device:
        """Its device."""

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """Encode ``int64[B, L]`` to ``float[B, D]``, normalised."""


def length_sorted_batches(lengths: Numbers, tokens: int) -> list[Numbers]:
    """Split texts into batches, longest first, each of at most ``tokens`` padded tokens.

    >>> [batch.tolist() for batch in length_sorted_batches(np.array([1, 9, 2, 2]), 9)]
    [[1], [2, 3, 0]]
    """
    order = np.argsort(-lengths, kind="stable")
    batches = []
    first = 0
    while first < len(order):
        size = max(tokens // max(int(lengths[order[first]]), 1), 1)
        batches.append(order[first : first + size])
        first += size
    return batches


@torch.inference_mode()
def embed_all(
    model: Embedder,
    store: TokenStore,
    *,
    numbers: Numbers | None = None,
    description: str | None = None,
) -> torch.Tensor:
    """Encode texts of a store.

    Args:
        model: The encoder, in evaluation mode.
        store: The texts' tokens.
        numbers: Which texts; default all.
        description: Of the progress bar (shown on a terminal only); ``None``: no bar.

    Returns:
        ``float32[len(numbers), D]`` on the model's device, in the order asked for.
    """
    chosen = np.arange(len(store)) if numbers is None else numbers
    lengths = np.minimum(store.lengths[chosen], model.max_seq_len)
    batches = length_sorted_batches(lengths, TOKENS_PER_BATCH[model.device.type])
    bar = tqdm(
        total=len(chosen),
        desc=description,
        unit="text",
        disable=True if description is None else None,
    )
    result: torch.Tensor | None = None
    with bar, inference_autocast(model.device):
        for batch in batches:
            ids = store.pad(chosen[batch], model.max_seq_len).to(model.device)
            vectors = model.embed(ids).float()
            if result is None:
                result = vectors.new_empty((len(chosen), vectors.shape[1]))
            result[torch.from_numpy(batch).to(result.device)] = vectors
            bar.update(len(batch))
    return torch.empty((0, 0), device=model.device) if result is None else result
