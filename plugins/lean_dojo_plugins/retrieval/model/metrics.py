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
        margins: Half of the 95 % interval of each of the three, over tactics (normal).
    """

    recall_at_1: float
    recall_at_10: float
    mrr: float
    count: int
    margins: tuple[float, float, float]

    def as_dict(self) -> dict[str, float]:
        """Return the documented names: ``R@1``, ``R@10`` (percent) and ``MRR``."""
        return {"R@1": self.recall_at_1, "R@10": self.recall_at_10, "MRR": self.mrr}


@attrs.define
class Tally:
    """Sums of per-tactic metrics; tallies of several processes add up.

    ``sums`` is ``float64[7]``: recall at 1, recall at 10, reciprocal rank; their squares; count.
    """

    sums: npt.NDArray[np.float64] = attrs.field(factory=lambda: np.zeros(7))

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
        values = np.array(
            [
                hits[:1].sum() / len(positives),
                hits[:10].sum() / len(positives),
                0.0 if first is None else 1.0 / (first + 1),
            ]
        )
        self.sums += [*values, *values**2, 1.0]

    def scores(self) -> Scores:
        """Return the means; all 0 if nothing was counted."""
        count = round(float(self.sums[6]))
        means, squares = self.sums[:3] / max(count, 1), self.sums[3:6] / max(count, 1)
        scale = np.array([100.0, 100.0, 1.0])
        variances = np.maximum(squares - means**2, 0.0) / max(count - 1, 1)
        first, tenth, reciprocal = (means * scale).tolist()
        margins = (1.96 * np.sqrt(variances) * scale).tolist()
        return Scores(first, tenth, reciprocal, count, tuple(margins))
