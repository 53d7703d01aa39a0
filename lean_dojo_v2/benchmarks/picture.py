"""Plot of proofs against expansions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lean_dojo_v2.benchmarks.summary import Summary
from lean_dojo_v2.runs.figures import COLOURS, titled_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILE = "curve.svg"


def draw(lines: Mapping[str, Summary]) -> Figure:
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
