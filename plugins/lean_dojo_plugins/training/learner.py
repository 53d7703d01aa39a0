"""The interface between trainers and the common loop: rows, fitting, evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import attrs
from datasets import Dataset
from transformers import TrainerCallback

from lean_dojo_core import Repository
from lean_dojo_plugins.training.data import repository_name
from lean_dojo_plugins.training.devices import Device
from lean_dojo_plugins.training.model_card import CardSubject
from lean_dojo_plugins.training.truncation import TooLong


@attrs.frozen
class CurriculumStep:
    """One step of a curriculum.

    Attributes:
        index: Number of the step, from 0.
        total: Steps of the whole curriculum.
        repositories: All repositories so far, this step's last.
        folder: Folder of the step's data and checkpoints while it runs.
        seed: Seed of this step.
        processes: Number of processes.
    """

    index: int
    total: int
    repositories: tuple[Repository, ...]
    folder: Path
    seed: int
    processes: int

    @property
    def repository(self) -> Repository:
        """The repository that this step adds."""
        return self.repositories[-1]

    @property
    def name(self) -> str:
        """Its name, safe for file names."""
        return repository_name(self.repository)


class Learner(CardSubject, Protocol):
    """A trainer as used by the common loop."""

    output_dir: str
    resume: bool
    seed: int
    too_long: TooLong

    @property
    def max_length(self) -> int | None:
        """Longest example, in tokens."""

    @property
    def chosen_device(self) -> Device:
        """Its device."""

    def reports(self) -> Sequence[str]:
        """Name the loggers."""

    def rows(self, data_path: Path) -> Iterator[dict[str, Any]]:
        """Stream the rows of the training dataset, made of the data that were exported there."""

    def fit(
        self,
        dataset: Dataset,
        step: CurriculumStep,
        *,
        callbacks: Sequence[TrainerCallback],
        checkpoint: Path | None,
        target: Path,
    ) -> int:
        """Train one step, from a checkpoint if there is one, and save the model to ``target``.

        Returns:
            Steps of the optimiser, those before ``checkpoint`` among them.
        """

    def forget_model(self) -> None:
        """Release the model; the next use loads it again."""
