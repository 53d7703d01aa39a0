"""Retrieval metrics: recall at k and mean reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt


@attrs.frozen
class Scores:
    """Metrics over the tactics that have positives.

    Attributes:
        recall_at_1: Percent.
        recall_at_10: Percent.
        mrr: Mean reciprocal rank of the first positive, 0 where none was retrieved.
        count: Number of tactics.
    """

    recall_at_1: float
    recall_at_10: float
    mrr: float
    count: int

    def as_dict(self) -> dict[str, float]:
        """Return the documented names: ``R@1``, ``R@10`` (percent) and ``MRR``."""
        return {"R@1": self.recall_at_1, "R@10": self.recall_at_10, "MRR": self.mrr}


@attrs.define
class Tally:
    """Sums of per-tactic metrics; tallies of several processes add up.

    ``sums`` is ``float64[4]``: recall at 1, recall at 10, reciprocal rank, count.
    """

    sums: npt.NDArray[np.float64] = attrs.field(factory=lambda: np.zeros(4))

    def add(self, retrieved: Sequence[int], positives: npt.NDArray[np.int64]) -> None:
        """Count one tactic.

        Args:
            retrieved: Premise numbers, best first; negative ones are no premises.
            positives: The right ones; with none, the tactic is skipped.
        """
        if not len(positives):
            return
        ranked = np.array(retrieved, dtype=np.int64)
        hits = np.isin(ranked, positives)
        first = int(np.argmax(hits)) if hits.any() else None
        self.sums += [
            hits[:1].sum() / len(positives),
            hits[:10].sum() / len(positives),
            0.0 if first is None else 1.0 / (first + 1),
            1.0,
        ]

    def scores(self) -> Scores:
        """Return the means; all 0 if nothing was counted."""
        count = int(self.sums[3])
        first, tenth, reciprocal = (float(value) for value in self.sums[:3] / max(count, 1))
        return Scores(100 * first, 100 * tenth, reciprocal, count)
