"""Forgetting: a metric on every repository so far, after each step of a curriculum."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import attrs
import orjson

from lean_dojo_core.errors import DataError
from lean_dojo_v2.files import atomic_write_bytes
from lean_dojo_v2.runs import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORGETTING_FILE = "forgetting.json"
"""Name of the matrix's file in a run's folder."""
PICTURE = "forgetting.svg"


@attrs.define
class Forgetting:
    """A matrix: a row for each trained repository, a column for each measured one.

    Attributes:
        metric: The metric, on held-out theorems (val and test of the random split).
        higher_is_better: Whether higher values of the metric are better.
        run: Number of the run, if a folder holds several.
        repositories: The columns: every repository so far, in training order.
        steps: The rows: ``{"after": repository, "checkpoint": name, "values": {…}}`` with the
            metric by repository, ``None`` for one without held-out tactics.
    """

    metric: str
    higher_is_better: bool
    run: int = 1
    repositories: list[str] = attrs.field(factory=list)
    steps: list[dict[str, Any]] = attrs.field(factory=list)

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read a matrix; a ``DataError`` if the file is broken."""
        try:
            values = orjson.loads(file.read_bytes())
            values.pop("split", None)
            found = cls(**values)
            for step in found.steps:
                step["after"], step["values"].keys()
        except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
            raise DataError(f"not a forgetting matrix; delete it ({error})", path=file) from error
        return found

    def resumed(self, folder: Path) -> Self:
        """Return the matrix in a folder if it is of this metric and run, else this one."""
        file = folder / FORGETTING_FILE
        found = self.load(file) if file.is_file() else self
        same = (found.metric, found.run) == (self.metric, self.run)
        return found if same else self

    def add(self, after: str, checkpoint: str, values: Mapping[str, float | None]) -> None:
        """Add a step's row, replacing one for the same repository."""
        self.steps = [step for step in self.steps if step["after"] != after]
        self.steps.append({"after": after, "checkpoint": checkpoint, "values": dict(values)})
        self.repositories = list(dict.fromkeys((*self.repositories, *values)))

    def forgotten(self) -> float | None:
        """Return the mean loss against the best value that each earlier repository ever had.

        Defined as in Chaudhry et al. 2018, "Riemannian Walk for Incremental Learning"
        (arXiv:1801.10112), in units of the metric; negative if earlier repositories gained, and
        ``None`` before the second step.
        """
        if len(self.steps) < 2:
            return None
        losses = []
        for name in self.repositories:
            *before, last = [step["values"].get(name) for step in self.steps]
            known = [value for value in before if value is not None]
            if known and last is not None:
                best = max(known) if self.higher_is_better else min(known)
                losses.append(best - last if self.higher_is_better else last - best)
        return sum(losses) / len(losses) if losses else None

    def matrix(self) -> list[list[float | None]]:
        """Return the values, row by row; ``None`` where nothing was measured."""
        return [[step["values"].get(name) for name in self.repositories] for step in self.steps]

    def write(self, folder: Path) -> None:
        """Write ``forgetting.json`` and the heat map ``forgetting.svg``."""
        values = {"split": "val+test", **attrs.asdict(self)}
        atomic_write_bytes(
            folder / FORGETTING_FILE, orjson.dumps(values, option=orjson.OPT_INDENT_2)
        )
        figures.save_figure(self.draw(), folder / PICTURE)

    def draw(self) -> Figure | None:
        """Draw the heat map; grey where nothing was measured."""
        matrix = self.matrix()
        known = [value for row in matrix for value in row if value is not None]
        if not known:
            return None
        columns = len(self.repositories)
        names = self.repositories
        longest = max(map(len, names))
        figure, axes = figures.new_figure(
            max(6.0, 2.5 + 0.08 * longest + 0.95 * columns),
            max(3.4, 1.6 + 0.04 * longest + 0.5 * len(matrix)),
        )
        missing = float("nan")
        low, high = _limits(known)
        middle = low + 0.6 * (high - low) if self.higher_is_better else low + 0.4 * (high - low)
        picture = axes.imshow(
            [[missing if value is None else value for value in row] for row in matrix],
            cmap="viridis" if self.higher_is_better else "viridis_r",
            aspect="auto",
            vmin=low,
            vmax=high,
        )
        axes.set_facecolor("#e5e7eb")
        axes.set_xticks(range(columns), names, rotation=25, ha="right", rotation_mode="anchor")
        after = [f"after {step['after']}" for step in self.steps]
        axes.set_yticks(range(len(after)), after)
        axes.set_xlabel("measured on")
        axes.tick_params(labelsize="small", length=0)
        axes.spines[:].set_visible(False)
        for y, row in enumerate(matrix):
            for x, value in enumerate(row):
                if value is not None:
                    colour = "white" if (value > middle) != self.higher_is_better else "#010101"
                    axes.text(x, y, f"{value:.3g}", ha="center", va="center", color=colour)
        figure.colorbar(picture, label=self.metric)
        return figure


def _limits(known: list[float]) -> tuple[float, float]:
    """Return a colour scale that does not exaggerate tiny differences."""
    low, high = min(known), max(known)
    wanted = max(high - low, 0.1 * abs(high), 1e-6)
    middle = (low + high) / 2
    return middle - wanted / 2, middle + wanted / 2
