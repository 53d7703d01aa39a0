"""Exact top-k premises in bounded memory."""

from __future__ import annotations

import attrs
import numpy as np
import torch

from lean_dojo_plugins.retrieval.data.corpus import Numbers, Visibility

QUERY_CHUNK = 256
PREMISE_CHUNK = 8192
WORTH_GATHERING = 0.8
"""Below this share of accessible premises, copying them costs less than multiplying all."""


@attrs.frozen(eq=False)
class UsableAt:
    """Accessible premises of theorems at given places, chunk by chunk.

    Attributes:
        visibility: The accessible premises of each file.
        files: ``int64[Q]``: file of each query's theorem.
        befores: ``int64[Q]``: packed start of each query's theorem.
    """

    visibility: Visibility
    files: Numbers
    befores: Numbers

    def mask(self, queries: Numbers, premises: slice) -> torch.Tensor:
        """Return the mask ``bool[q, p]`` of some queries and a range of premises."""
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
    usable: UsableAt | None = None,
    *,
    query_chunk: int = QUERY_CHUNK,
    premise_chunk: int = PREMISE_CHUNK,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Find the k best premises of each query by inner product, exactly.

    Never holds more than ``query_chunk × premise_chunk`` scores. Queries of one file go together,
    and premises that none of a chunk's queries may use are not multiplied.

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
    order = np.arange(len(queries)) if usable is None else np.argsort(usable.files, kind="stable")
    for first_query in range(0, len(queries), query_chunk):
        rows = order[first_query : first_query + query_chunk]
        chunk = queries[torch.from_numpy(rows).to(queries.device)]
        best = chunk.new_full((len(rows), width), -torch.inf)
        numbers = torch.full((len(rows), width), -1, dtype=torch.int64, device=queries.device)
        for first in range(0, len(premises), premise_chunk):
            columns = slice(first, min(first + premise_chunk, len(premises)))
            mask = None if usable is None else usable.mask(rows, columns).to(queries.device)
            scores, places = _scores(chunk, premises[columns], mask)
            top, place = scores.topk(min(width, scores.shape[1]), dim=1)
            merged = torch.cat([best, top], dim=1)
            candidates = torch.cat([numbers, places[place] + first], dim=1)
            best, chosen = merged.topk(width, dim=1)
            numbers = candidates.gather(1, chosen)
        all_scores[rows] = best
        all_numbers[rows] = numbers.masked_fill(best == -torch.inf, -1)
    return all_scores, all_numbers


def _scores(
    queries: torch.Tensor, premises: torch.Tensor, mask: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Score a chunk: ``float32[q, n]`` and the places ``int64[n]`` of its columns."""
    places = torch.arange(len(premises), device=queries.device)
    if mask is None:
        return queries @ premises.T, places
    wanted = mask.any(dim=0)
    if int(wanted.sum()) < WORTH_GATHERING * len(premises):
        places = places[wanted]
        premises, mask = premises[places], mask[:, places]
    scores = queries @ premises.T
    return scores.masked_fill_(~mask, -torch.inf), places
