"""A novelty bonus."""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs


@attrs.define(eq=False)
class Novelty:
    """Pays ``scale / sqrt(n)`` for the n-th time that a tactic is tried.

    Count-based exploration (Strehl and Littman 2008, MBIE-EB; Bellemare et al. 2016,
    arXiv:1606.01868), with the tactic as what is counted. On its own it pays for nonsense that was
    never tried: combine it, with a small weight, with a reward that asks Lean. Each process counts
    for itself.

    >>> Novelty()(["simp", "rfl", "simp"])
    [1.0, 1.0, 0.7071067811865475]
    """

    scale: float = attrs.field(
        default=1.0, converter=float, metadata={"help": "Bonus of a tactic that is new."}
    )
    by_head: bool = attrs.field(
        default=False, metadata={"help": "Count first words (simp, rw) instead of whole tactics."}
    )
    _seen: Counter[str] = attrs.field(factory=Counter, init=False, repr=False)

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        """Score a batch, and remember it.

        Args:
            completions: Tactics, as texts.
            **kwargs: Ignored.

        Returns:
            One bonus per completion, between 0 and ``scale``.
        """
        return [self._bonus(tactic) for tactic in completions]

    def _bonus(self, tactic: str) -> float:
        words = tactic.split()
        key = " ".join(words[:1] if self.by_head else words)
        self._seen[key] += 1
        return float(self.scale / self._seen[key] ** 0.5)
