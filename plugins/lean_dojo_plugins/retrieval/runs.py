"""A run of the retrieval trainer, whose record spans several checkpoints.

Every step leaves its own checkpoint, with EWC's state; a call after a finished run starts another
run from the latest checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import attrs
import orjson

from lean_dojo_core import Repository
from lean_dojo_plugins.retrieval.model import checkpoints
from lean_dojo_plugins.training.run_folder import (
    FinishedStep,
    RunFolder,
    RunState,
    check_same_trainer,
)
from lean_dojo_plugins.training.settings import default_settings
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.runs import metrics

TRAINER = "RetrievalTrainer"
_STEP_FOLDER = re.compile(r"run(\d+)-")


@attrs.define
class RetrievalRun:
    """One call of ``train``, in a folder of checkpoints.

    Attributes:
        folder: The checkpoint folder.
        curriculum: The repositories of each step.
        state: The record: the settings; the number of the run, its start and the request;
            and for each finished repository the model of its step. One that had nothing to train on
            has none.
    """

    folder: Path
    curriculum: Sequence[Sequence[Repository]]
    state: RunState

    @classmethod
    def open(
        cls,
        folder: Path,
        curriculum: Sequence[Sequence[Repository]],
        settings: dict[str, Any],
        asked_start: Path | str | None,
    ) -> RetrievalRun:
        """Resume the folder's run if it has the same request and is unfinished; else begin anew.

        Args:
            folder: The checkpoint folder.
            curriculum: The repositories of each step.
            settings: The trainer's settings.
            asked_start: The checkpoint that the call names; a new run starts at the folder's latest
                one if it names none.

        Raises:
            CheckpointError: If the record is broken.
            UsageError: If another trainer worked in the folder.
        """
        asked = {
            "curriculum": [[[str(one.url), str(one.commit)] for one in new] for new in curriculum],
            "asked_start": None if asked_start is None else str(asked_start),
        }
        state = RunFolder(folder).load()
        if state is not None:
            check_same_trainer(state, TRAINER, folder)
            before = cls(folder, curriculum, state)
            if before._asks_for(settings, asked) and before.done < len(curriculum):
                return before
        start = asked_start or checkpoints.find_latest(folder)
        steps = (_STEP_FOLDER.match(one.name) for one in folder.glob("run*"))
        numbers = [int(one[1]) for one in steps if one]
        if state is not None:
            numbers.append(state.run["number"])
        run = {"number": max(numbers, default=0) + 1, "start": start and str(start), **asked}
        return cls(folder, curriculum, RunState(TRAINER, settings, run=run))

    @property
    def number(self) -> int:
        """The number of the run in its folder."""
        return int(self.state.run["number"])

    @property
    def done(self) -> int:
        """Number of finished steps."""
        ends = accumulate(map(len, self.curriculum))
        return sum(end <= len(self.state.finished) for end in ends)

    @property
    def has_learned(self) -> bool:
        """Whether any repository so far had something to train on."""
        return any(step.model for step in self.state.finished)

    def checkpoint(self) -> Path | None:
        """Return the newest checkpoint of the run: of the last finished step, else the start."""
        for step in reversed(self.state.finished):
            if step.model is not None:
                return self.folder / step.model
        start = self.state.run["start"]
        return None if start is None else Path(start)

    def save(self) -> None:
        """Write the record."""
        RunFolder(self.folder).save(self.state)

    def records(self, number: int, checkpoint: Path | None) -> list[FinishedStep]:
        """Return the records of a finished step."""
        items = reached = 0
        data, model = "", None
        if checkpoint is not None:
            folder, model = checkpoint.parent, checkpoint.relative_to(self.folder).as_posix()
            record = self.folder / f"{folder.name}.json"
            told = orjson.loads(record.read_bytes()) if record.is_file() else {}
            items, data = told.get("items", 0), told.get("corpus", "")
            reached = max((row["step"] for row in metrics.read(folder)), default=0)
        new = self.curriculum[number]
        return [
            FinishedStep(
                str(repo.url),
                str(repo.commit),
                *((items, reached) if repo is new[-1] else (0, 0)),
                data=data,
                model=model,
            )
            for repo in new
        ]

    def _asks_for(self, settings: dict[str, Any], asked: dict[str, Any]) -> bool:
        """Whether it is the same request; what an older run lacks counts as the default."""
        same = {key: self.state.run.get(key) for key in asked} == asked
        before = {**default_settings(TrainingConfig), **self.state.settings}
        return same and all(before.get(key) == value for key, value in settings.items())
