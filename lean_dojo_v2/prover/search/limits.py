"""The limits of a search, and its order."""

from __future__ import annotations

import attrs

HEARTBEATS = 20_000
"""Heartbeats of one tactic: a tenth of what Lean itself allows a declaration."""


@attrs.frozen(kw_only=True)
class Limits:
    """Limits of the search for one theorem.

    The limits are counts, so the same seeds give the same proofs on a slow, a fast and a busy
    machine. The seconds are a safety net: what they end is told in the result.

    Attributes:
        samples: Tactics sampled at a state each time it is expanded.
        expansions: States that may be expanded; ``None`` for no limit.
        heartbeats: Lean's heartbeats (thousands of small allocations) that one tactic may take;
            ``None`` for Lean's own limit.
        seconds: Spent on the theorem: its share of the generation, and trying its tactics. Waiting
            for other theorems does not count. A finished proof is still checked.
        tactic_seconds: Seconds that Lean may take for one tactic.
    """

    samples: int = 64
    expansions: int | None = None
    heartbeats: int | None = HEARTBEATS
    seconds: float = 600.0
    tactic_seconds: float = 60.0


@attrs.frozen(kw_only=True)
class SearchSettings:
    """Limits, order and seed of a search.

    Attributes:
        limits: What may be spent on each theorem.
        batch_size: States of different theorems that are expanded together.
        length_exponent: The cumulative log-probability is divided by ``depth ** length_exponent``;
            0 leaves it as it is, 1 takes the mean.
        progress_weight: What an estimator's number is multiplied by, in units of log-probability:
            the cost of a step that remains.
        visits: How often a state may be expanded, each time with another draw of tactics.
        revisit_cost: What each earlier visit costs a state that waits for its next one, in units of
            log-probability; it stays open beside its children. ``None``: states are visited again
            only when all have been expanded.
        seed: Seed of the sampling. A draw is seeded by this, the theorem, the tactics that led to
            the state and the number of the visit: it does not depend on what is searched beside it.
    """

    limits: Limits = attrs.Factory(Limits)
    batch_size: int = 12
    length_exponent: float = 0.0
    progress_weight: float = 0.5
    visits: int = 1
    revisit_cost: float | None = None
    seed: int = 0
