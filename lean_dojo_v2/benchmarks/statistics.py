"""Statistics of benchmarks: intervals, pass@k, a paired test, proofs against expansions."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from statistics import NormalDist, fmean, pvariance
from typing import Self

import attrs

QUANTILE = 0.975
NORMAL = NormalDist().inv_cdf(QUANTILE)
"""Quantiles of 95 % intervals."""


def _wilson(share: float, count: float) -> tuple[float, float]:
    """Return the ends of Wilson's 95 % interval of a share among ``count`` items."""
    if not count:
        return 0.0, 1.0
    squared = NORMAL**2 / count
    middle = (share + squared / 2) / (1 + squared)
    half = math.sqrt(squared * (share * (1 - share) + squared / 4)) / (1 + squared)
    return max(0.0, middle - half), min(1.0, middle + half)


@attrs.frozen
class Share:
    """A share of theorems proved.

    Attributes:
        proved: Theorems proved.
        tried: Theorems tried.
        low: Lower end of the 95 % interval of the share (Wilson 1927).
        high: Its upper end.
    """

    proved: int
    tried: int
    low: float
    high: float

    @classmethod
    def of(cls, proved: int, tried: int) -> Self:
        """Compute the interval; for zero attempts it is from 0 to 1.

        >>> share = Share.of(7, 10)
        >>> round(share.low, 3), round(share.high, 3)
        (0.397, 0.892)
        """
        return cls(proved, tried, *_wilson(proved / tried if tried else 0.0, tried))

    @property
    def below(self) -> float:
        """How far the interval reaches below the share."""
        return self.proved / self.tried - self.low

    @property
    def above(self) -> float:
        """How far it reaches above it."""
        return self.high - self.proved / self.tried

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
    def of(cls, shares: Sequence[float]) -> Self:
        """Average the theorems' shares; the interval treats theorems as a sample.

        It is Wilson's for an effective number of theorems, by the variance of the shares, reduced
        if that is estimated from few (Korn & Graubard 1998); if each is proved or not, it is that
        of :class:`Share`.

        >>> print(Estimate.of([1.0] * 7 + [0.0] * 3), "|", Share.of(7, 10))
        70.0 % (39.7..89.2) | 7 of 10 (70.0 %, 95 % interval 39.7..89.2)
        """
        if not shares:
            return cls(0.0, 0.0, 1.0)
        count = float(len(shares))
        mean = fmean(shares)
        if (spread := pvariance(shares, mean)) > 0:
            count *= mean * (1 - mean) / spread
        if any(0 < share < 1 for share in shares) and len(shares) > 1:
            from scipy.special import stdtrit

            count *= (NORMAL / float(stdtrit(len(shares) - 1, QUANTILE))) ** 2
        return cls(mean, *_wilson(mean, count))

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f}..{100 * self.high:.1f})"


def pass_at(k: int, tries: Sequence[tuple[int, int]]) -> Estimate:
    """Estimate without bias the share of theorems proved by at least one of ``k`` attempts.

    Chen et al. 2021, arXiv:2107.03374: ``1 - C(n - c, k) / C(n, k)``, averaged over theorems.
    ``tries`` has for each theorem the number of attempts, at least ``k``, and of successes.

    >>> pass_at(1, [(4, 2), (4, 0)]).value, round(pass_at(2, [(4, 2)]).value, 3)
    (0.25, 0.833)
    """
    return Estimate.of(
        [1 - math.comb(made - proved, k) / math.comb(made, k) for made, proved in tries]
    )


def curve(expansions: Iterable[int], weight: float = 1.0) -> list[tuple[int, float]]:
    """Return increasing numbers of expansions, each with the proofs found within that many.

    ``expansions`` is the cost of each proof. A proof weighs 1, or the inverse of the attempts per
    theorem.

    >>> curve([2, 1, 2, 5])
    [(1, 1.0), (2, 3.0), (5, 4.0)]
    """
    counts = sorted(Counter(expansions).items())
    found = accumulate(count for _, count in counts)
    return [(number, weight * total) for (number, _), total in zip(counts, found, strict=True)]


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
        low: Lower end of its 95 % interval over theorems (Newcombe 1998, for paired shares, from
            Wilson's intervals). Near p = 0.05 it may exclude 0 although the conservative exact test
            is not significant.
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
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Self:
        """Compare theorem by theorem.

        >>> found = Comparison.of([(True, False)] * 6 + [(True, True)])
        >>> found.only_first, found.both, round(found.p, 5)
        (6, 1, 0.03125)
        >>> pairs = {(True, True): 36, (True, False): 12, (False, True): 2}  # Newcombe's example
        >>> found = Comparison.of(pair for pair, count in pairs.items() for _ in range(count))
        >>> round(found.low, 4), round(found.high, 4)
        (0.0569, 0.3404)
        """
        counts = Counter(pairs)
        one, other = counts[True, False], counts[False, True]
        both, neither = counts[True, True], counts[False, False]
        p, difference, low, high = 1.0, 0.0, -1.0, 1.0
        if one or other:
            from scipy.stats import binomtest

            p = float(binomtest(one, one + other, 0.5).pvalue)
        if tried := sum(counts.values()):
            mine, theirs = Share.of(both + one, tried), Share.of(both + other, tried)
            together = _correlation(both, one, other, neither)
            difference = (one - other) / tried
            low = difference - _end(mine.below, theirs.above, together)
            high = difference + _end(mine.above, theirs.below, together)
        return cls(both, one, other, neither, p, difference, low, high)

    @property
    def gain(self) -> str:
        """Describe the gain of the first, in points, with the interval.

        >>> Comparison.of([(True, False)] * 6 + [(True, True)]).gain
        '+85.7 points, 95 % interval +34.5..+97.4; p = 0.0312'
        """
        return (
            f"{100 * self.difference:+.1f} points, 95 % interval {100 * self.low:+.1f}.."
            f"{100 * self.high:+.1f}; p = {self.p:.3g}"
        )


def _end(one: float, other: float, together: float) -> float:
    """Return the reach of the interval of a difference, from those of two shares."""
    return math.sqrt(max(0.0, one**2 - 2 * together * one * other + other**2))


def _correlation(both: int, one: int, other: int, neither: int) -> float:
    """Return the correlation of two runs' proofs; corrected for continuity if positive."""
    product = (both + one) * (other + neither) * (both + other) * (one + neither)
    if not product:
        return 0.0
    excess = float(both * neither - one * other)
    if excess > 0:
        excess = max(0.0, excess - (both + one + other + neither) / 2)
    return excess / math.sqrt(product)
