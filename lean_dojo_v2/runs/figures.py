"""Figures of a run, drawn from the numbers it logged.

Trainers save them beside their models, and the report shows the same: each function takes the rows
of a ``metrics.jsonl`` and returns a figure, or ``None`` if the rows lack its data.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from lean_dojo_v2.files import atomic_write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows: TypeAlias = Sequence[Mapping[str, Any]]
Points: TypeAlias = list[tuple[float, float]]

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#b8b000",
    "#7f7f7f",
)  # fmt: skip
"""Okabe and Ito's palette, suitable for colour-blind readers."""
REFUSALS = ("lean/refused/", "lean/unparsed/")
"""Prefixes of the metrics of refusals, before the reason."""
_REASONS_DRAWN = 8
_WIDEST = 9.0
"""Maximum width in inches that is readable on a narrow page."""
_MOST_POINTS = 400
_SMOOTHED_FROM = 40


def plot_loss(rows: Rows) -> Figure | None:
    """Plot the training loss, one colour per repository, and the held-out loss if any."""
    lines = {
        name: _points([row for row in rows if str(row.get("repository", "")) == name], "loss")
        for name in dict.fromkeys(str(row.get("repository", "")) for row in rows)
    }
    lines = {name or "loss": line for name, line in lines.items() if line}
    if held_out := _points(rows, "eval_loss"):
        lines["held out"] = held_out
    return _lines(lines, "Training loss", "loss")


def plot_rewards(rows: Rows) -> Figure | None:
    """Draw the mean reward, in total and of each reward function."""
    parts = sorted(
        {k for row in rows for k in row if k.startswith("rewards/") and k.endswith("/mean")}
    )
    names = {"reward": "total", **{key: key.split("/")[1] for key in parts}}
    if len(parts) == 1:  # the same number twice, except for its weight
        names.pop(parts[0])
    return _lines(_named(rows, names), "Reward", "mean reward")


def plot_verified(rows: Rows) -> Figure | None:
    """Draw the share of completions that Lean verified, and of those that leave no goal."""
    names = {"lean/verified": "verified: nearer to a proof", "lean/solved": "leaves no goal"}
    figure = _lines(_named(rows, names), "Verified by Lean", "share of completions")
    if figure is not None:
        figure.axes[0].set_ylim(-0.02, 1.02)
    return figure


def plot_recall(rows: Rows) -> Figure | None:
    """Plot a retriever's validation metrics."""
    names = {"Recall@10_val": "R@10", "Recall@1_val": "R@1"}
    return _lines(_named(rows, names), "Validation", "recall (percent)")


def plot_refusals(rows: Rows) -> Figure | None:
    """Plot the share of completions that the most frequent reasons refused."""
    shown = list(refusal_shares(rows) or ())[:_REASONS_DRAWN]
    names = {key: key.rpartition("/")[2] for key in shown}
    counted = [
        {**dict.fromkeys(names, 0.0), **row}
        for row in rows
        if any(key.startswith(REFUSALS) for key in row)
    ]
    return _lines(_named(counted, names), "Refused completions by reason", "share of completions")


def refusal_shares(rows: Rows) -> dict[str, float] | None:
    """Return the mean share of the completions that each reason refused, the largest first.

    The keys are the metrics' names; ``None`` if reasons were not logged.
    """
    counted = [row for row in rows if any(key.startswith(REFUSALS) for key in row)]
    if not counted:
        return None
    keys = {key for row in counted for key in row if key.startswith(REFUSALS)}
    means = {key: fmean(row.get(key, 0.0) for row in counted) for key in keys}
    return {k: v for k, v in sorted(means.items(), key=lambda item: (-item[1], item[0])) if v > 0}


def svg(figure: Figure, **how: Any) -> bytes:
    """Return a figure as an SVG document; equal figures give equal bytes."""
    import matplotlib as mpl

    stream = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "lean-dojo"}):
        figure.savefig(stream, format="svg", metadata={"Date": None}, **how)
    return stream.getvalue()


def inline_svg(figure: Figure) -> str:
    """Return a figure as markup for a page, in the page's colours."""
    text = svg(figure, transparent=True).decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    head, rest = text.split(">", 1)
    head = re.sub(r' (?:width|height|xmlns(?::\w+)?|version)="[^"]*"', "", head)
    rest = rest.replace("stroke: #000000", "stroke: currentColor")
    rest = rest.replace("fill: #000000", "fill: currentColor").replace("xlink:href", "href")
    width = figure.get_size_inches()[0]
    # Wide figures scroll; others shrink with the page.
    style = f' style="min-width: {5.2 * width:.0f}rem"' if width > _WIDEST else ""
    return f'{head} fill="currentColor"{style}>{rest}'


def save_figure(figure: Figure | None, path: Path) -> None:
    """Write a figure as an SVG file; nothing for ``None``."""
    if figure is not None:
        atomic_write_bytes(path, svg(figure))


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return an empty figure, sized in inches, in the common style; no global state is used."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def titled_figure(
    title: str,
    ylabel: str,
    xlabel: str = "optimiser step",
    size: tuple[float, float] = (6.8, 3.3),
) -> tuple[Figure, Axes]:
    """Return an empty figure with a title, labels and a grid, with sizes in inches."""
    figure, axes = new_figure(*size)
    axes.set_title(title, loc="left", fontsize="medium", fontweight="bold")
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _named(rows: Rows, names: Mapping[str, str]) -> dict[str, Points]:
    lines = {label: _points(rows, key) for key, label in names.items()}
    return {label: line for label, line in lines.items() if line}


def _lines(lines: Mapping[str, Points], title: str, ylabel: str) -> Figure | None:
    if not lines:
        return None
    figure, axes = titled_figure(title, ylabel)
    for number, (label, line) in enumerate(lines.items()):
        drawn = _thinned(line)
        steps, values = zip(*drawn, strict=True)
        style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "linewidth": 1.6}
        if len(drawn) < _SMOOTHED_FROM:
            axes.plot(steps, values, marker="o", markersize=3.5, label=label, **style)
        else:
            axes.plot(steps, values, alpha=0.25, **{**style, "linewidth": 1})
            axes.plot(steps, _smoothed(values), label=label, **style)
    axes.locator_params(axis="x", integer=True)
    figure.legend(fontsize="small", frameon=False, loc="outside lower left", ncols=4)
    return figure


def _points(rows: Rows, key: str) -> Points:
    """Return a metric over the steps, with the last value of a repeated step."""
    return sorted({row["step"]: row[key] for row in rows if key in row}.items())


def _thinned(line: Points) -> Points:
    """Average neighbouring points if there are too many to show."""
    size = -(-len(line) // _MOST_POINTS)
    if size <= 1:
        return line
    groups = [line[start : start + size] for start in range(0, len(line), size)]
    return [(group[-1][0], fmean(value for _, value in group)) for group in groups]


def _smoothed(values: Sequence[float]) -> list[float]:
    """Return the mean of each value and its neighbours, over a tenth of the line."""
    reach = max(1, len(values) // 20)
    return [fmean(values[max(0, i - reach) : i + reach + 1]) for i in range(len(values))]
