"""Exact top-k premises in bounded memory, and how good they are: recall and reciprocal rank."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Self

import attrs
import numpy as np
import torch

from lean_dojo_plugins.retrieval.data.corpus import Mask, Numbers

QUERIES = 64
"""Queries that are scored together; over Mathlib, their scores take 50 MB."""
METRICS = ("R@1", "R@10", "MRR")
"""Recalls in percent, and the reciprocal rank of the first positive, 0 where none was retrieved."""


def top_k(
    queries: torch.Tensor, premises: torch.Tensor, k: int, usable: Iterable[Mask]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Find the k best premises of each query by inner product, exactly, some queries at a time.

    ``queries`` are ``float32[Q, D]``, ``premises`` ``float32[P, D]``; ``usable`` are ``bool[P]``
    for each query. Returns ``scores`` ``float32[Q, min(k, P)]``, best first, and ``numbers``
    ``int64``, on the CPU; where a query has fewer usable premises, the rest is ``-inf`` and ``-1``.
    """
    masks = iter(usable)
    found = []
    for chunk in torch.split(queries, QUERIES):
        mask = np.array(list(islice(masks, len(chunk))), dtype=np.bool_)
        mask = mask.reshape(len(chunk), len(premises))
        unusable = ~torch.from_numpy(mask).to(chunk.device)
        scores = (chunk @ premises.T).masked_fill_(unusable, -torch.inf)
        best, numbers = scores.topk(min(k, len(premises)), dim=1)
        found.append((best.cpu(), numbers.masked_fill(best == -torch.inf, -1).cpu()))
    scores, numbers = (torch.cat(parts) for parts in zip(*found, strict=True))
    return scores, numbers


def measured(retrieved: Sequence[int] | Numbers, positives: Sequence[int]) -> list[float]:
    """Return the metrics of one tactic; ``retrieved`` is best first, padded with negative ones."""
    hits = np.isin(np.array(retrieved, dtype=np.int64), positives)
    recalls = [100 * float(hits[:k].sum()) / len(positives) for k in (1, 10)]
    return [*recalls, 1 / (int(np.argmax(hits)) + 1) if hits.any() else 0.0]


@attrs.frozen
class Scores:
    """Metrics over the tactics that have positives."""

    values: dict[str, float]  # the mean of each of METRICS
    margins: dict[str, float]  # half of the 95 % interval of each, over tactics (normal)

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]]) -> Self:
        """Return the means over tactics, see :func:`measured`; all 0 without any."""
        count = len(rows)
        table = np.array(rows or [[0.0] * len(METRICS)])
        spreads = table.std(axis=0, ddof=1) if count > 1 else np.zeros(len(METRICS))
        values, margins = (
            dict(zip(METRICS, one.tolist(), strict=True))
            for one in (table.mean(axis=0), 1.96 * spreads / np.sqrt(max(count, 1)))
        )
        return cls(values, margins)
