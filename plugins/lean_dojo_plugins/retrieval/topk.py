"""Exact top-k premises in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import attrs
import numpy as np
import torch

from lean_dojo_plugins.retrieval.corpus import Numbers, Visibility

Usable: TypeAlias = Callable[[slice, slice], torch.Tensor]
"""(queries, premises) → ``bool[q, p]``: which premises count for which queries."""

QUERY_CHUNK = 256
PREMISE_CHUNK = 8192


@attrs.frozen(eq=False)
class UsableAt:
    """Which premises theorems at given places may use, chunk by chunk.

    Attributes:
        visibility: Who may see what.
        files: ``int64[Q]``: file of each query's theorem.
        befores: ``int64[Q]``: packed start of each query's theorem.
    """

    visibility: Visibility
    files: Numbers
    befores: Numbers

    def __call__(self, queries: slice, premises: slice) -> torch.Tensor:
        """Give the mask ``bool[q, p]`` of a chunk."""
        seeing = self.visibility
        places, row_of = np.unique(
            np.stack([self.files[queries], self.befores[queries]]), axis=1, return_inverse=True
        )
        files, file_of_row = np.unique(places[0], return_inverse=True)
        seen = np.stack([seeing.files_seen(int(file)) for file in files])
        mask = seen[:, seeing.file_of[premises]][file_of_row]
        for row, (file, before) in enumerate(places.T):
            first, last = seeing.file_starts[file], seeing.file_starts[file + 1]
            if last > premises.start and first < premises.stop:
                own = seeing.in_file(int(file), int(before))
                own = own[(own >= premises.start) & (own < premises.stop)]
                mask[row, own - premises.start] = True
        return torch.from_numpy(mask[row_of.ravel()])


def top_k(
    queries: torch.Tensor,
    premises: torch.Tensor,
    k: int,
    usable: Usable | None = None,
    *,
    query_chunk: int = QUERY_CHUNK,
    premise_chunk: int = PREMISE_CHUNK,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Find the k best premises of each query by inner product, exactly.

    Never holds more than ``query_chunk × premise_chunk`` scores.

    Args:
        queries: ``float32[Q, D]``.
        premises: ``float32[P, D]``, on the same device.
        k: How many; fewer come back where there are fewer premises.
        usable: Which premises count for which queries; ``None``: all.
        query_chunk: Queries at a time.
        premise_chunk: Premises at a time.

    Returns:
        ``scores`` ``float32[Q, min(k, P)]``, best first, and ``numbers`` ``int64`` of that shape.
        Where a query has fewer usable premises, the rest is ``-inf`` and ``-1``.
    """
    width = min(k, len(premises))
    all_scores = queries.new_full((len(queries), width), -torch.inf)
    all_numbers = torch.full((len(queries), width), -1, dtype=torch.int64, device=queries.device)
    for first_query in range(0, len(queries), query_chunk):
        rows = slice(first_query, min(first_query + query_chunk, len(queries)))
        best, numbers = all_scores[rows], all_numbers[rows]
        for first in range(0, len(premises), premise_chunk):
            columns = slice(first, min(first + premise_chunk, len(premises)))
            scores = queries[rows] @ premises[columns].T
            if usable is not None:
                mask = usable(rows, columns)
                scores.masked_fill_(~mask.to(scores.device), -torch.inf)
            top, place = scores.topk(min(width, scores.shape[1]), dim=1)
            merged = torch.cat([best, top], dim=1)
            candidates = torch.cat([numbers, place + first], dim=1)
            best, chosen = merged.topk(width, dim=1)
            numbers = candidates.gather(1, chosen)
        all_scores[rows] = best
        all_numbers[rows] = numbers.masked_fill(best == -torch.inf, -1)
    return all_scores, all_numbers
