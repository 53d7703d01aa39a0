"""What a run leaves for people: ``metrics.jsonl``, TensorBoard events, a picture of the loss."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.utils import logging as transformers_logging

from lean_dojo_v2.atomic import atomic_write_text, atomic_writer

METRICS_FILE = "metrics.jsonl"
PICTURE_FILE = "loss.svg"


@contextmanager
def bars_on_terminals_only() -> Iterator[None]:
    """Keep transformers' bars for loading and saving out of logs and pipes."""
    if sys.stderr.isatty() or not transformers_logging.is_progress_bar_enabled():
        yield
        return
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


@attrs.define
class Reporter:
    """Writes a run's metrics; the steps of all repositories count through.

    Attributes:
        folder: The run's output folder.
        tensorboard: Whether to write TensorBoard events to ``runs/``.
    """

    folder: Path
    tensorboard: bool = True
    _writer: Any = None

    def resume_at(self, step: int) -> None:
        """Forget what was reported after ``step``: a resumed run reports it again."""
        kept = [row for row in self.rows() if row["step"] <= step]
        text = "".join(json.dumps(row) + "\n" for row in kept)
        atomic_write_text(self.folder / METRICS_FILE, text)
        self.close()
        if self.tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self.folder / "runs"), purge_step=step + 1)

    def write(self, step: int, repository: str, metrics: Mapping[str, Any]) -> None:
        """Report the numbers of one step."""
        numbers = {
            key: float(value)
            for key, value in metrics.items()
            if isinstance(value, int | float) and math.isfinite(value)
        }
        row = {"step": step, "repository": repository, "time": round(time.time(), 3), **numbers}
        with (self.folder / METRICS_FILE).open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        if self._writer is not None:
            for key, value in numbers.items():
                self._writer.add_scalar(f"train/{key}", value, step)
            self._writer.flush()

    def rows(self) -> list[dict[str, Any]]:
        """Read what has been reported, without a line that a killed process left half written."""
        file = self.folder / METRICS_FILE
        lines = file.read_text().splitlines() if file.exists() else []
        return [row for row in map(_parse, lines) if row is not None]

    def draw(self) -> None:
        """Draw the loss over the steps, one colour per repository."""
        rows = [row for row in self.rows() if "loss" in row]
        if not rows:
            return
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 4.5), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for name in dict.fromkeys(row["repository"] for row in rows):
            mine = [row for row in rows if row["repository"] == name]
            axes.plot(
                [row["step"] for row in mine],
                [row["loss"] for row in mine],
                marker="." if len(mine) < 50 else None,
                label=name,
            )
        axes.set(xlabel="optimiser step", ylabel="training loss", title="Training")
        axes.grid(alpha=0.3)
        axes.legend(title="repository added", fontsize="small")
        with atomic_writer(self.folder / PICTURE_FILE) as stream:
            figure.savefig(stream, format="svg", metadata={"Date": None})

    def close(self) -> None:
        """Close the TensorBoard file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _parse(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "step" in row and "repository" in row else None


class ReportCallback(TrainerCallback):
    """Passes what a trainer logs to a reporter, from the main process.

    Args:
        reporter: Where to.
        repository: Name of the repository that this step adds.
        offset: Steps of the optimiser before this repository.
    """

    def __init__(self, reporter: Reporter, repository: str, offset: int) -> None:
        self.reporter = reporter
        self.repository = repository
        self.offset = offset

    def on_log(
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,
        control: TrainerControl,  # noqa: ARG002
        logs: dict[str, Any] | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        """Report one record."""
        if state.is_world_process_zero and logs:
            self.reporter.write(self.offset + state.global_step, self.repository, logs)


class NoFinalCheckpoint(TrainerCallback):
    """Leaves out the checkpoint after the last step: the model itself is saved right then."""

    def on_step_end(
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,  # noqa: ARG002
    ) -> TrainerControl:
        """Take back what the default flow asked for."""
        if state.global_step >= state.max_steps:
            control.should_save = False
        return control
