"""The numbers of benchmarks: intervals, pass@k, a paired test, proofs against expansions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from statistics import NormalDist, fmean, pvariance

import attrs

CONFIDENCE = 0.95


@attrs.frozen
class Share:
    """How many of some theorems were proved.

    Attributes:
        proved: How many.
        tried: Of how many.
        low: Lower end of the 95 % interval of the share (Wilson 1927).
        high: Its upper end.
    """

    proved: int
    tried: int
    low: float
    high: float

    @classmethod
    def of(cls, proved: int, tried: int) -> Share:
        """Compute the interval; for zero attempts it is from 0 to 1.

        >>> share = Share.of(7, 10)
        >>> round(share.low, 3), round(share.high, 3)
        (0.397, 0.892)
        """
        if tried == 0:
            return cls(0, 0, 0.0, 1.0)
        from scipy.stats import binomtest

        interval = binomtest(proved, tried).proportion_ci(CONFIDENCE, method="wilson")
        return cls(proved, tried, float(interval.low), float(interval.high))

    def __str__(self) -> str:
        if self.tried == 0:
            return "0 of 0"
        percent = 100 * self.proved / self.tried
        return (
            f"{self.proved} of {self.tried} ({percent:.1f} %, 95 % interval "
            f"{100 * self.low:.1f}..{100 * self.high:.1f})"
        )


@attrs.frozen
class Estimate:
    """An estimated share of theorems.

    Attributes:
        value: The share.
        low: Lower end of its 95 % interval.
        high: Its upper end.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, shares: Sequence[float]) -> Estimate:
        """Average shares, each of one theorem; the interval is about theorems as a sample.

        It is Wilson's, for as many theorems as would scatter so much were each proved or not
        (Korn & Graubard 1998); where each is, that of :class:`Share`.

        >>> print(Estimate.of([1.0] * 7 + [0.0] * 3), "|", Share.of(7, 10))
        70.0 % (39.7..89.2) | 7 of 10 (70.0 %, 95 % interval 39.7..89.2)
        """
        count = float(len(shares))
        if not count:
            return cls(0.0, 0.0, 1.0)
        mean = fmean(shares)
        if (spread := pvariance(shares, mean)) > 0:
            count *= mean * (1 - mean) / spread
        squared = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2
        middle = (mean + squared / (2 * count)) / (1 + squared / count)
        half = math.sqrt(squared * (mean * (1 - mean) + squared / (4 * count)) / count)
        half /= 1 + squared / count
        return cls(mean, max(0.0, middle - half), min(1.0, middle + half))

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f}..{100 * self.high:.1f})"


def pass_at(k: int, tries: Sequence[tuple[int, int]]) -> Estimate:
    """Estimate the share of theorems that at least one of ``k`` attempts proves, without bias.

    Chen et al. 2021, arXiv:2107.03374: ``1 - C(n - c, k) / C(n, k)``, averaged over theorems.

    Args:
        k: Attempts.
        tries: For each theorem how many attempts were made, at least ``k``, and how many proved it.

    >>> pass_at(1, [(4, 2), (4, 0)]).value, round(pass_at(2, [(4, 2)]).value, 3)
    (0.25, 0.833)
    """
    return Estimate.of(
        [1 - math.comb(made - proved, k) / math.comb(made, k) for made, proved in tries]
    )


def curve(expansions: Iterable[int], weight: float = 1.0) -> list[tuple[int, float]]:
    """Return proofs against expansions.

    Args:
        expansions: What each proof took.
        weight: What a proof counts: 1, or the inverse of the attempts at each theorem.

    Returns:
        The numbers of expansions at which proofs were found, rising, each with the proofs found
        within so many.

    >>> curve([2, 1, 2, 5])
    [(1, 1.0), (2, 3.0), (5, 4.0)]
    """
    counted: dict[int, float] = {}
    for number in sorted(expansions):
        counted[number] = counted.get(number, 0.0) + weight
    return list(zip(counted, accumulate(counted.values()), strict=True))


@attrs.frozen
class Comparison:
    """Two runs over the same theorems.

    Attributes:
        both: Theorems that both proved.
        only_first: Those that the first alone proved.
        only_second: Those that the second alone proved.
        neither: Those that neither proved.
        p: Two-sided p-value of the exact paired test (McNemar with the binomial distribution).
        difference: The first's share of all theorems less the second's.
        low: Lower end of its 95 % interval, given how many theorems only one of them proved: by the
            exact interval (Clopper & Pearson 1934) of the part of these that is the first's.
        high: Its upper end.
    """

    both: int
    only_first: int
    only_second: int
    neither: int
    p: float
    difference: float
    low: float
    high: float

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Comparison:
        """Compare theorem by theorem.

        >>> found = Comparison.of([(True, False)] * 6 + [(True, True)])
        >>> found.only_first, found.both, round(found.p, 5)
        (6, 1, 0.03125)
        >>> round(found.difference, 3), round(found.low, 3), round(found.high, 3)
        (0.857, 0.07, 0.857)
        """
        counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
        for first, second in pairs:
            counts[first, second] += 1
        one, other = counts[True, False], counts[False, True]
        differ, tried = one + other, sum(counts.values())
        p, low, high = 1.0, 0.0, 0.0
        if differ:
            from scipy.stats import binomtest

            test = binomtest(one, differ, 0.5)
            part = test.proportion_ci(CONFIDENCE)
            p = float(test.pvalue)
            low, high = ((2 * float(end) - 1) * differ / tried for end in (part.low, part.high))
        difference = (one - other) / tried if tried else 0.0
        return cls(counts[True, True], one, other, counts[False, False], p, difference, low, high)

    @property
    def gain(self) -> str:
        """Say by how much the first proves more, in points, with the interval.

        >>> Comparison.of([(True, False)] * 6 + [(True, True)]).gain
        '+85.7 points, 95 % interval +7.0..+85.7; p = 0.0312'
        """
        return (
            f"{100 * self.difference:+.1f} points, 95 % interval {100 * self.low:+.1f}.."
            f"{100 * self.high:+.1f}; p = {self.p:.3g}"
        )
