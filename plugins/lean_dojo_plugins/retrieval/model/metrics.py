"""Retrieval metrics: recall at any k, and mean reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

RECALLS = (1, 10)
"""The k of the documented ``R@k``."""


@attrs.frozen
class Scores:
    """Metrics over the tactics that have positives.

    Attributes:
        values: ``R@k`` in percent for each k, and ``MRR``: the mean reciprocal rank of the first
            positive, 0 where none was retrieved.
        margins: Half of the 95 % interval of each, over tactics (normal).
        count: Number of tactics.
    """

    values: dict[str, float]
    margins: dict[str, float]
    count: int


@attrs.define
class Tally:
    """Sums of per-tactic metrics; those of several processes can be added.

    Args:
        recalls: Each k of a recall.
        sums: ``float64[3, len(recalls) + 1]``: for each recall and the reciprocal rank the sum, the
            sum of squares and the count.
    """

    recalls: Sequence[int] = RECALLS
    sums: npt.NDArray[np.float64] = attrs.field(
        default=attrs.Factory(lambda self: np.zeros((3, len(self.recalls) + 1)), takes_self=True)
    )

    def add(self, retrieved: Sequence[int], positives: npt.NDArray[np.int64]) -> None:
        """Count one tactic.

        Args:
            retrieved: Premise numbers, best first; negative ones are padding.
            positives: The correct ones; without any, the tactic is skipped.
        """
        if not len(positives):
            return
        hits = np.isin(np.array(retrieved, dtype=np.int64), positives)
        rank = 1.0 / (int(np.argmax(hits)) + 1) if hits.any() else 0.0
        values = np.array([*(hits[:k].sum() / len(positives) for k in self.recalls), rank])
        self.sums += [values, values**2, np.ones_like(values)]

    def scores(self) -> Scores:
        """Return the means; all 0 if nothing was counted."""
        count = round(float(self.sums[2, 0]))
        means, squares = self.sums[:2] / max(count, 1)
        margins = 1.96 * np.sqrt(np.maximum(squares - means**2, 0.0) / max(count - 1, 1))
        scale = np.array([*(100.0 for _ in self.recalls), 1.0])
        names = [*(f"R@{k}" for k in self.recalls), "MRR"]
        values, halves = (
            dict(zip(names, (one * scale).tolist(), strict=True)) for one in (means, margins)
        )
        return Scores(values, halves, count)
