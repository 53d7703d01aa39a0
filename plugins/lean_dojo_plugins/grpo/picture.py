"""A picture of a run: mean reward, verified rate and refusals over the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lean_dojo_plugins.causal_lm.reporting import Reporter
from lean_dojo_v2.atomic import atomic_writer

PICTURE_FILE = "rewards.svg"


def draw_rewards(output_dir: Path | str) -> None:
    """Draw ``rewards.svg`` from the run's ``metrics.jsonl``; nothing where there are no rewards.

    Args:
        output_dir: The run's output folder.
    """
    folder = Path(output_dir)
    rows = [row for row in Reporter(folder, tensorboard=False).rows() if "reward" in row]
    if not rows:
        return
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    shares = sorted({key for row in rows for key in row if key.startswith("lean/")})
    figure = Figure(figsize=(8, 6 if shares else 4), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots(2 if shares else 1, 1, sharex=True, squeeze=False)[:, 0]
    means = sorted(
        {k for row in rows for k in row if k.startswith("rewards/") and k.endswith("mean")}
    )
    _lines(axes[0], rows, {"reward": "total", **{k: k.split("/")[1] for k in means}})
    axes[0].set(ylabel="mean reward", title="Rewards")
    if shares:
        _lines(axes[1], rows, {key: key.removeprefix("lean/") for key in shares})
        axes[1].set(ylabel="share of completions", ylim=(-0.02, 1.02))
    axes[-1].set(xlabel="optimiser step")
    with atomic_writer(folder / PICTURE_FILE) as stream:
        figure.savefig(stream, format="svg", metadata={"Date": None})


def _lines(axes: Any, rows: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> None:
    for key, label in names.items():
        points = [(row["step"], row[key]) for row in rows if key in row]
        axes.plot(*zip(*points, strict=True), marker="." if len(points) < 50 else None, label=label)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
