"""What a model forgets: R@10 on every earlier repository after each step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core.errors import DataError
from lean_dojo_v2.atomic import atomic_write_bytes, atomic_writer

FILE = "forgetting.json"
PICTURE = "forgetting.png"


@attrs.define
class Forgetting:
    """A matrix of R@10 (percent) on held-out theorems (val and test of the random split).

    Attributes:
        run: Number of the run that it describes.
        repositories: The columns: every repository so far, in training order.
        steps: The rows: ``{"after": repository, "checkpoint": name, "recall": {…}}`` with R@10 by
            repository, ``None`` for one without held-out tactics.
    """

    run: int
    repositories: list[str] = attrs.field(factory=list)
    steps: list[dict[str, Any]] = attrs.field(factory=list)

    @classmethod
    def read(cls, folder: Path, run: int) -> Forgetting:
        """Read the matrix of a run; a new one where there is none or it is another run's.

        Raises:
            DataError: If the file is broken.
        """
        file = folder / FILE
        if not file.is_file():
            return cls(run)
        try:
            values = orjson.loads(file.read_bytes())
            found = cls(values["run"], values["repositories"], values["steps"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"not a forgetting matrix; delete it ({error})", path=file) from error
        return found if found.run == run else cls(run)

    def add(self, after: str, checkpoint: str, recall: dict[str, float | None]) -> None:
        """Add a step's row, in place of one for the same repository."""
        self.steps = [step for step in self.steps if step["after"] != after]
        self.steps.append({"after": after, "checkpoint": checkpoint, "recall": recall})
        self.repositories = list(dict.fromkeys((*self.repositories, *recall)))

    def write(self, folder: Path) -> None:
        """Write ``forgetting.json`` and the heat map ``forgetting.png``."""
        values = {"metric": "R@10", "split": "val+test", **attrs.asdict(self)}
        atomic_write_bytes(folder / FILE, orjson.dumps(values, option=orjson.OPT_INDENT_2))
        self._draw(folder / PICTURE)

    def _draw(self, path: Path) -> None:
        from matplotlib.figure import Figure

        missing = float("nan")
        matrix = [
            [
                missing if (value := step["recall"].get(name)) is None else value
                for name in self.repositories
            ]
            for step in self.steps
        ]
        size = max(4.0, 1.0 + 0.9 * len(self.repositories))
        figure = Figure(
            figsize=(size + 1.5, max(3.0, 1.5 + 0.6 * len(self.steps))), layout="constrained"
        )
        axes = figure.subplots()
        picture = axes.imshow(matrix, vmin=0, vmax=100, cmap="viridis", aspect="auto")
        axes.set_xticks(range(len(self.repositories)), self.repositories, rotation=30, ha="right")
        axes.set_yticks(range(len(self.steps)), [f"after {step['after']}" for step in self.steps])
        axes.set_xlabel("evaluated on")
        for row, values in enumerate(matrix):
            for column, value in enumerate(values):
                if value == value:  # noqa: PLR0124 - NaN: not evaluated
                    colour = "white" if value < 60 else "black"
                    axes.text(column, row, f"{value:.1f}", ha="center", va="center", color=colour)
        figure.colorbar(picture, label="R@10 (percent)")
        with atomic_writer(path) as stream:
            figure.savefig(stream, format="png", dpi=120)
