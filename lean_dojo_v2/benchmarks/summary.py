"""The results of a benchmark run, and their picture."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import attrs

from lean_dojo_v2.benchmarks.attempts import Attempt, AttemptFolder, differences
from lean_dojo_v2.benchmarks.statistics import Comparison, Estimate, Share, curve, pass_at
from lean_dojo_v2.prover import Failure
from lean_dojo_v2.runs import COLOURS, titled_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROVER = "prover"
"""Name of the prover's attempts in a run's folder."""
AUTOMATION = "automation"
"""Name of the attempts of automation alone."""
CURVE = "curve.svg"
"""Name of the picture in it."""


@attrs.frozen
class Summary:
    """The results of attempts at some theorems.

    Attributes:
        proved: Theorems that at least one attempt proved.
        groups: The same for each split of the benchmark.
        attempts: Attempts at each theorem.
        pass_at: Estimated share of theorems that ``k`` attempts prove, by ``k``.
        curve: Increasing expansions, each with the proofs found within that many by one attempt
            (the mean over attempts). For whole proofs: attempts, each with the theorems that so
            many prove.
        expansions: States expanded, in all.
        samples: Tactics or proofs sampled, in all.
        lean_calls: Lean calls, in all.
        refused_proofs: Finished proofs that full verification refused, in all.
        seconds: Time spent on the theorems, in all.
        reasons: Number of attempts without a proof, by reason.
        ended_by_clock: Theorems for which a limit in seconds was hit.
        cannot_open: Theorems that Lean does not open, which count as not proved, each with the
            reason.
        not_counted: Theorems whose attempts an engine or an endpoint failed.
    """

    proved: Share
    groups: Mapping[str, Share]
    attempts: int
    pass_at: Mapping[int, Estimate]
    curve: Sequence[tuple[int, float]]
    expansions: int
    samples: int
    lean_calls: int
    refused_proofs: int
    seconds: float
    reasons: Mapping[str, int]
    ended_by_clock: tuple[str, ...]
    cannot_open: Mapping[str, str]
    not_counted: tuple[str, ...]

    @classmethod
    def of(cls, attempts: Sequence[Attempt], failed: Sequence[Attempt] = ()) -> Self:
        """Summarise the attempts that count, beside those that an engine or endpoint failed."""
        by_name: dict[str, list[Attempt]] = defaultdict(list)
        for attempt in attempts:
            by_name[attempt.name].append(attempt)
        most = min(map(len, by_name.values()), default=0)
        tries = [(len(mine), sum(a.success for a in mine)) for mine in by_name.values()]
        ks = [k for k in (1, 2, 4, 8, 16, 32, 64, 128) if k < most] + ([most] if most else [])
        groups: dict[str, list[bool]] = defaultdict(list)
        for mine in by_name.values():
            groups[mine[0].group or ""].append(any(a.success for a in mine))
        passed = {k: pass_at(k, tries) for k in ks}
        proofs = [attempt.expansions for attempt in attempts if attempt.success]
        points = curve(proofs, 1 / most if most else 1.0)
        if not any(attempt.expansions for attempt in attempts):
            points = [(k, one.value * len(tries)) for k, one in passed.items()]
        return cls(
            proved=_share(proved_by(attempts).values()),
            groups={name: _share(found) for name, found in groups.items() if name},
            attempts=most,
            pass_at=passed,
            curve=points,
            expansions=sum(a.expansions for a in attempts),
            samples=sum(a.samples for a in attempts),
            lean_calls=sum(a.lean_calls for a in attempts),
            refused_proofs=sum(a.refused_proofs for a in attempts),
            seconds=round(sum(a.seconds for a in attempts), 1),
            reasons=dict(Counter(a.reason for a in attempts if a.reason)),
            ended_by_clock=_names(a for a in attempts if a.ended_by_clock),
            cannot_open={a.name: a.detail for a in attempts if a.reason == Failure.CANNOT_OPEN},
            not_counted=_names(failed),
        )


def _share(found: Any) -> Share:
    values = list(found)
    return Share.of(sum(values), len(values))


def _names(attempts: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(attempt.name for attempt in attempts))


def proved_by(attempts: Sequence[Attempt]) -> dict[str, bool]:
    """Return for each theorem whether an attempt proved it."""
    found: dict[str, bool] = {}
    for attempt in attempts:
        found[attempt.name] = found.get(attempt.name, False) or attempt.success
    return found


@attrs.frozen
class Compared:
    """A comparison of two runs on the theorems that both tried.

    Attributes:
        run: The other run's folder.
        attempts: Attempts compared per theorem: the first ones, as many as both runs have
            made.
        differences: Settings other than the prover's that differ there, by their dotted names.
        theorems: Theorems that both tried.
        counts: Which proved what; ``first`` is this run.
        gained: Theorems that this run alone proved.
        lost: Theorems that the other alone proved.
    """

    run: str
    attempts: int
    differences: tuple[str, ...]
    theorems: int
    counts: Comparison
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@attrs.frozen
class Report:
    """Results of a benchmark run.

    Attributes:
        request: The request.
        prover: The prover's results.
        automation: Results of Lean's automation alone; ``None`` if it was not run.
        beyond: Theorems that the prover proved and automation does not.
        missed: Theorems that automation proves and the prover did not.
        compared: The comparison with another run, if any.
    """

    request: Mapping[str, Any]
    prover: Summary
    automation: Summary | None
    beyond: tuple[str, ...]
    missed: tuple[str, ...]
    compared: Compared | None


def read_report(folder: AttemptFolder, other: AttemptFolder | None = None) -> Report:
    """Read a run's results so far, compared with another's; ``DataError`` if one is no run."""
    mine = folder.attempts(PROVER)
    lean = folder.attempts(AUTOMATION)
    proved, automatic = proved_by(mine), proved_by(lean)
    both = [name for name in proved if name in automatic]
    return Report(
        request=folder.request(),
        prover=Summary.of(mine, folder.failed(PROVER)),
        automation=Summary.of(lean, folder.failed(AUTOMATION)) if lean else None,
        beyond=tuple(name for name in both if proved[name] and not automatic[name]),
        missed=tuple(name for name in both if automatic[name] and not proved[name]),
        compared=None if other is None else _compare(folder, other),
    )


def _compare(folder: AttemptFolder, other: AttemptFolder) -> Compared:
    first, second = folder.attempts(PROVER), other.attempts(PROVER)
    # More attempts prove more.
    fewest = min(max((a.number + 1 for a in made), default=0) for made in (first, second))
    mine, theirs = (
        proved_by([one for one in made if one.number < fewest]) for made in (first, second)
    )
    names = [name for name in mine if name in theirs]
    here, there = ({**one.request(), "prover": None} for one in (folder, other))
    return Compared(
        run=str(other.path),
        attempts=fewest,
        differences=tuple(differences(here, there)),
        theorems=len(names),
        counts=Comparison.of((mine[name], theirs[name]) for name in names),
        gained=tuple(name for name in names if mine[name] and not theirs[name]),
        lost=tuple(name for name in names if theirs[name] and not mine[name]),
    )


def draw_summary(lines: Mapping[str, Summary]) -> "Figure":
    """Plot for each named prover the theorems proved within a number of expansions.

    For a prover of whole proofs: within a number of attempts.
    """
    searched = all(summary.expansions for summary in lines.values() if summary.attempts)
    effort = "states expanded" if searched else "states expanded, or proofs written,"
    figure, axes = titled_figure(
        "Proofs against effort", "theorems proved", f"{effort} for a theorem", (8, 3.8)
    )
    tried = max((summary.proved.tried for summary in lines.values()), default=0)
    last = max((point[0] for s in lines.values() for point in s.curve), default=1)
    for (name, summary), colour in zip(lines.items(), COLOURS, strict=False):
        points = [(0, 0.0), *summary.curve]
        points.append((last, points[-1][1]))
        steps, proofs = zip(*points, strict=True)
        label = f"{name}: {proofs[-1]:g} of {tried}"
        axes.step(steps, proofs, where="post", label=label, color=colour, linewidth=1.8)
    axes.set_xlim(0, last)
    axes.set_ylim(0, max(tried, 1))
    axes.locator_params(axis="both", integer=True)
    if lines:
        figure.legend(fontsize="small", frameon=False, loc="outside lower left", ncols=3)
    return figure
