"""Difficulty of theorems, and the order of repositories in a curriculum.

difficulty(theorem) = exp(number of tactics), as in LeanAgent (Kumarappan et al., 2024,
"LeanAgent: Lifelong Learning for Formal Theorem Proving"): infinite with a ``sorry``, None
without tactics. Thresholds are the 33rd and 67th percentiles of the finite difficulties of all
repositories; a repository with more Easy theorems is learned earlier.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeVar

import attrs

from lean_dojo_core.records import Theorem, contains_sorry
from lean_dojo_v2.errors import EmptyDatasetError

_K = TypeVar("_K")
_MOST_TACTICS = 709
"""Largest exponent that does not overflow a double; longer proofs get this difficulty."""


def difficulty(theorem: Theorem) -> float | None:
    """Return ``exp(number of tactics)``, bounded by ``exp(709)`` so that it stays finite.

    ``inf`` if one of them is ``sorry``; None if there are none.
    """
    tactics = [tactic.tactic for tactic in theorem.traced_tactics]
    if not tactics:
        return None
    if any(map(contains_sorry, tactics)):
        return math.inf
    return math.exp(min(len(tactics), _MOST_TACTICS))


def rated(theorem: Theorem) -> Theorem:
    """Return the theorem with its difficulty set from its tactics."""
    rating = difficulty(theorem)
    if theorem.difficulty_rating == rating:
        return theorem
    return attrs.evolve(theorem, difficulty_rating=rating)


def thresholds(ratings: Mapping[float | None, int]) -> tuple[float, float]:
    """Return the 33rd and 67th percentiles of the finite difficulties, interpolated linearly.

    ``ratings`` says how many theorems have each difficulty; an ``EmptyDatasetError`` if none has a
    finite one.
    """
    import numpy as np

    finite = {r: n for r, n in ratings.items() if r is not None and math.isfinite(r) and n}
    if not finite:
        raise EmptyDatasetError(
            "no theorem with a finished proof to rate: the database is empty, or all of its "
            "theorems are sorry or without tactics. Add a traced repository first."
        )
    every = np.repeat(list(finite), list(finite.values()))
    low, high = np.quantile(every, (0.33, 0.67))
    return float(low), float(high)


def easiest_first(ratings: Iterable[tuple[_K, Mapping[float | None, int]]]) -> list[_K]:
    """Order repositories, given with their theorems per difficulty: most Easy theorems first.

    Ties keep their order; repositories without theorems come last. An ``EmptyDatasetError`` (a
    ValueError) if no theorem has a finite difficulty.
    """
    entries = list(ratings)
    total: Counter[float | None] = Counter()
    for _, counts in entries:
        total.update(counts)
    limit, _ = thresholds(total)

    def rank(counts: Mapping[float | None, int]) -> tuple[bool, int]:
        easy = sum(n for rating, n in counts.items() if rating is not None and rating <= limit)
        return (not any(counts.values()), -easy)

    return [repository for repository, counts in sorted(entries, key=lambda e: rank(e[1]))]
