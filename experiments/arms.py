"""What arms of an experiment prove, compared theorem by theorem over seeds; read and drawn.

An arm is a model, or a way of making one; each of its seeds was measured by ``lean-dojo bench``.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.stats import bootstrap, permutation_test

from lean_dojo_v2.benchmarks.attempts import AttemptFolder
from lean_dojo_v2.benchmarks.statistics import Comparison
from lean_dojo_v2.benchmarks.summary import PROVER
from lean_dojo_v2.files import atomic_write_text
from lean_dojo_v2.runs.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WITHIN = (1, 2, 4, 8, 16)
"""Expansions, at which the report looks: a search that is cut short there found as much."""

OUTCOMES = "outcomes.csv"
"""File of a folder with all outcomes: a row for each theorem, a column for each arm and seed."""

Outcomes: TypeAlias = dict[int, dict[str, bool]]
"""For each seed which theorems were proved."""
Found: TypeAlias = dict[tuple[str, int], dict[str, int]]
"""For each arm and seed what every theorem took: a number of expansions; ``NOT_PROVED`` else."""
NOT_PROVED = 0
ATTEMPTS = "attempts"


def bench_folder(folder: Path, arm: str, seed: int) -> Path:
    """Give the folder of a measurement."""
    return folder / "bench" / f"{arm}-{seed}"


def measured(folder: Path, counted: str = "expansions") -> Found:
    """Read what was measured: the outcomes of before, and what was run in this folder since.

    ``counted`` is the field of an attempt that gives a proof's cost, or ``ATTEMPTS``: the number of
    attempts until the first proof.
    """
    found = read_outcomes(folder / OUTCOMES)
    for done in sorted((folder / "bench").glob("*.measured")):
        arm, _, seed = done.stem.rpartition("-")
        took: dict[str, int] = {}
        attempts = AttemptFolder(done.with_suffix("")).attempts(PROVER)
        for one in sorted(attempts, key=lambda one: one.number):
            if not took.get(one.name):
                cost = one.number + 1 if counted == ATTEMPTS else max(1, getattr(one, counted))
                took[one.name] = cost if one.success else NOT_PROVED
        found[arm, int(seed)] = took
    return found


def read_outcomes(file: Path) -> Found:
    """Read a table of outcomes; none is an empty one."""
    found: Found = defaultdict(dict)
    if file.exists():
        with file.open(newline="") as stream:
            for row in csv.DictReader(stream):
                name = row.pop("theorem")
                for column, value in row.items():
                    arm, _, seed = column.rpartition("-")
                    if value:
                        found[arm, int(seed)][name] = int(value)
    return dict(found)


def write_outcomes(file: Path, found: Found) -> None:
    """Write a table of outcomes; a theorem that was not tried has an empty cell."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    runs = sorted(found)
    rows.writerow(["theorem", *(f"{arm}-{seed}" for arm, seed in runs)])
    for name in sorted({name for mine in found.values() for name in mine}):
        rows.writerow([name, *(found[run].get(name, "") for run in runs)])
    atomic_write_text(file, text.getvalue())


def outcomes(found: Found, arm: str, within: int = WITHIN[-1]) -> Outcomes:
    """Say for each seed that was measured which theorems an arm proves with so much."""
    return {
        seed: {name: NOT_PROVED < took <= within for name, took in mine.items()}
        for (one, seed), mine in sorted(found.items())
        if one == arm
    }


def compared(ours: Outcomes, theirs: Outcomes) -> Any:
    """Compare two arms over the seeds and theorems that both have.

    The difference of the shares proved, with the 95 % interval of a bootstrap over theorems, and
    the two-sided p-value of a permutation test over theorems; beside it each seed's exact test.
    """
    seeds = sorted(ours.keys() & theirs.keys())
    names = sorted(set.intersection(*(set(arm[s]) for s in seeds for arm in (ours, theirs))))
    a, b = (_means(arm, seeds, names) for arm in (ours, theirs))
    p = 1.0
    if not np.array_equal(a, b):
        rng = np.random.default_rng(0)
        test = permutation_test(
            (a, b), _difference, vectorized=True, permutation_type="samples", rng=rng
        )
        p = float(test.pvalue)
    each = [Comparison.of((ours[s][n], theirs[s][n]) for n in names) for s in seeds]
    return {"seeds": seeds, **_interval(a - b), "p": p, "p of each seed": [one.p for one in each]}


def _means(arm: Mapping[int, dict[str, bool]], seeds: Sequence[int], names: Sequence[str]) -> Any:
    """Give for each theorem the share of the seeds that prove it."""
    return np.array([np.mean([arm[seed][name] for seed in seeds]) for name in names])


def _interval(values: np.ndarray) -> dict[str, float]:
    """Give the mean over theorems in points, with the 95 % interval of a bootstrap."""
    low = high = mean = float(np.mean(values))
    if np.ptp(values):
        rng = np.random.default_rng(0)
        ends = bootstrap((values,), np.mean, method="percentile", rng=rng).confidence_interval
        low, high = float(ends.low), float(ends.high)
    return {"points": 100 * mean, "low": 100 * low, "high": 100 * high}


def _difference(a: np.ndarray, b: np.ndarray, axis: int = -1) -> Any:
    return np.mean(a - b, axis=axis)


def report(
    measured: Found,
    arms: Sequence[str],
    comparisons: Sequence[tuple[str, str]],
    limits: Sequence[int] = WITHIN,
) -> dict[str, Any]:
    """Give all that is measured so far, at each limit of what a proof may take."""
    return {str(limit): _report_within(measured, arms, comparisons, limit) for limit in limits}


def _report_within(
    measured: Found, names: Sequence[str], comparisons: Sequence[tuple[str, str]], within: int
) -> dict[str, Any]:
    arms = {arm: outcomes(measured, arm, within) for arm in names}
    arms = {arm: found for arm, found in arms.items() if found}
    return {
        "arms": {arm: _counts(found) for arm, found in arms.items()},
        "comparisons": {
            f"{ours} - {theirs}": compared(arms[ours], arms[theirs])
            for ours, theirs in comparisons
            if ours in arms and theirs in arms and arms[ours].keys() & arms[theirs].keys()
        },
    }


def _counts(found: Outcomes) -> dict[str, Any]:
    seeds = sorted(found)
    names = sorted(set.intersection(*(set(found[seed]) for seed in seeds)))
    proved = {str(seed): sum(found[seed].values()) for seed in seeds}
    return {"proved": proved, "tried": len(names), **_interval(_means(found, seeds, names))}


def table(found: Mapping[str, Any], unit: str = "expansions") -> str:
    """Write the report for people; ``unit`` is what its limits count."""
    limits = list(found)
    last = found[limits[-1]]
    text = _table(
        ("arm", "proved, seed by seed", "of", "share", "95 % interval"),
        (
            (
                arm, ", ".join(map(str, one["proved"].values())), one["tried"],
                f"{one['points']:.1f} %", f"{one['low']:.1f} to {one['high']:.1f}",
            )
            for arm, one in last["arms"].items()
        ),
    )  # fmt: skip
    text += _table(
        ("compared", "points", "95 % interval", "p", "p of each seed"),
        (
            (
                name, f"{one['points']:+.1f}", f"{one['low']:+.1f} to {one['high']:+.1f}",
                f"{one['p']:.2g}", ", ".join(f"{p:.2g}" for p in one["p of each seed"]),
            )
            for name, one in last["comparisons"].items()
        ),
    )  # fmt: skip
    text += _table(
        (f"share within so many {unit}, %", *limits),
        (
            (arm, *(f"{found[n]['arms'][arm]['points']:.1f}" for n in limits))
            for arm in last["arms"]
        ),
    )
    return text + _table(
        ("compared within so many", *limits),
        (
            (name, *(_points(found[n]["comparisons"][name]) for n in limits))
            for name in last["comparisons"]
        ),
    )


def _points(one: Mapping[str, Any]) -> str:
    return f"{one['points']:+.1f} ({one['low']:+.1f} to {one['high']:+.1f})"


def _table(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n\n"


def draw(found: Mapping[str, Any]) -> Figure:
    """Draw what each arm proves, with its interval and its seeds, and how early it proves it."""
    arms = found[str(WITHIN[-1])]["arms"]
    figure, bars = new_figure(9, 1 + 0.36 * len(arms))
    grid = figure.add_gridspec(1, 2, width_ratios=(3, 2))
    bars.set_subplotspec(grid[0])
    curves = figure.add_subplot(grid[1])
    for place, ((arm, one), colour) in enumerate(zip(arms.items(), cycle(COLOURS), strict=False)):
        ends = [[one["points"] - one["low"]], [one["high"] - one["points"]]]
        bars.barh(place, one["points"], color=colour, height=0.62, alpha=0.7)
        bars.errorbar(one["points"], place, xerr=ends, color="black", capsize=4, linewidth=1.2)
        points = [100 * proved / one["tried"] for proved in one["proved"].values()]
        bars.plot(points, [place] * len(points), "o", color="black", markersize=3, alpha=0.6)
        shares = [found[str(within)]["arms"][arm]["points"] for within in WITHIN]
        curves.plot(range(len(WITHIN)), shares, "o-", color=colour, markersize=3, linewidth=1.6)
    bars.set_yticks(range(len(arms)), list(arms))
    bars.invert_yaxis()
    bars.set_xlim(left=0)
    bars.grid(axis="x", alpha=0.25)
    curves.set_xticks(range(len(WITHIN)), list(map(str, WITHIN)))
    curves.set_xlabel("expansions")
    curves.set_ylim(bottom=0)
    curves.grid(alpha=0.25)
    for axes, title in (
        (bars, "Theorems proved, %: mean of seeds, 95 % interval"),
        (curves, "within so many expansions, %"),
    ):
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title(title, loc="left", fontsize="small", fontweight="bold")
    return figure
