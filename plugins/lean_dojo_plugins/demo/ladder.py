"""Results of the demo: what each prover proves, with intervals, and their chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from lean_dojo_v2.benchmarks.statistics import Comparison, Share
from lean_dojo_v2.runs.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILE = "ladder.svg"


@attrs.frozen
class DemoStage:
    """One prover's results on the held-out theorems.

    Attributes:
        stage: Its name; all but the first are models with automation beside them.
        share: Its share of theorems proved.
        seconds: Seconds of search, in all.
        gain: Its comparison with automation alone; ``None`` for automation.
    """

    stage: str
    share: Share
    seconds: float
    gain: Comparison | None = None

    @property
    def headline(self) -> str:
        """Describe what the model adds to automation."""
        assert self.gain is not None
        return (
            f"{self.stage} adds to automation: {self.gain.only_first} theorems gained, "
            f"{self.gain.only_second} lost ({self.gain.gain})"
        )

    def row(self) -> dict[str, Any]:
        """Return it as a row of the report."""
        return {
            "stage": self.stage,
            "proved": {"held-out": self.share.proved},
            "tried": {"held-out": self.share.tried},
            "low": round(self.share.low, 4),
            "high": round(self.share.high, 4),
            "seconds": round(self.seconds, 1),
            "gain": None if self.gain is None else attrs.asdict(self.gain),
        }


def draw(stages: Sequence[DemoStage], lean_calls: int) -> Figure:
    """Draw a bar for each prover, with the 95 % interval of its share and what it gained."""
    figure, axes = new_figure(8, 2.6)
    tried = max((stage.share.tried for stage in stages), default=0)
    for place, (stage, colour) in enumerate(zip(stages, COLOURS, strict=False)):
        proved, of = stage.share.proved, stage.share.tried
        ends = [[proved - stage.share.low * of], [stage.share.high * of - proved]]
        axes.barh(place, proved, color=colour, height=0.62, alpha=0.85)
        axes.errorbar(proved, place, xerr=ends, color="black", capsize=4, linewidth=1.2)
        axes.annotate(f" {proved}", (0, place), va="center", color="white", fontweight="bold")
        if (gain := stage.gain) is not None:
            told = f"+{gain.only_first} −{gain.only_second}, p = {gain.p:.2g}"
            axes.annotate(told, (tried, place), va="center", ha="right", fontsize="small")
    names = [stage.stage if stage.gain is None else f"with {stage.stage}" for stage in stages]
    axes.set_yticks(range(len(stages)), names)
    axes.invert_yaxis()
    title = f"Held-out theorems proved, of {tried}, at {lean_calls} Lean calls each"
    axes.set_title(title, loc="left", fontsize="medium", fontweight="bold")
    axes.set_xlim(0, max(tried, 1))
    axes.locator_params(axis="x", integer=True)
    axes.grid(axis="x", alpha=0.25)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
