"""Metrics and plots of a training, beside its checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytorch_lightning as pl

from lean_dojo_plugins.training.reporting import PICTURE_FILE
from lean_dojo_v2.runs import figures, metrics

RECALL_PICTURE = "recall.svg"


class Curves(pl.Callback):
    """Writes a line per logged step and per validation, and draws both at the end.

    Args:
        folder: The folder of the step's checkpoints.
        name: The step's name.
        every: Optimiser steps between lines.
    """

    def __init__(self, folder: Path, name: str, every: int) -> None:
        self.folder = folder
        self.name = name
        self.every = every
        self._written = 0

    def on_train_start(self, trainer: pl.Trainer, *_: Any) -> None:
        """Drop what a killed run reported after the checkpoint that this run resumes from."""
        self._written = trainer.global_step
        if trainer.is_global_zero and (self.folder / metrics.FILE).exists():
            metrics.forget_after(self.folder, trainer.global_step)

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any, **__: Any) -> None:
        """Write the loss."""
        step = trainer.global_step
        if step != self._written and step % self.every == 0:
            self._written = step
            self._write(trainer, {"loss": "loss_train", "ewc_penalty": "ewc_penalty"})

    def on_validation_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Write the metrics."""
        names = ("Recall@1_val", "Recall@10_val", "MRR")
        self._write(trainer, {name: name for name in names})

    def on_fit_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Draw."""
        if trainer.is_global_zero:
            rows = metrics.read(self.folder)
            figures.save(figures.loss(rows), self.folder / PICTURE_FILE)
            figures.save(figures.recall(rows), self.folder / RECALL_PICTURE)

    def _write(self, trainer: pl.Trainer, names: dict[str, str]) -> None:
        found = {key: trainer.callback_metrics.get(name) for key, name in names.items()}
        numbers = metrics.numbers_of({k: float(v) for k, v in found.items() if v is not None})
        if trainer.is_global_zero and numbers:
            self.folder.mkdir(parents=True, exist_ok=True)
            metrics.append(self.folder, trainer.global_step, self.name, numbers)
