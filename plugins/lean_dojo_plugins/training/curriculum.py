"""Trainers along a curriculum, and the loop that runs them: export, format, train, save; resumable.

Several processes: ``accelerate launch`` on GPUs or ``torchrun`` anywhere. The main process exports
and saves; all read the same file and split every batch. (On CPUs
``accelerate launch --cpu`` starts several processes through ``mpirun`` only; ``torchrun
--nproc_per_node 2`` needs nothing else.)
"""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from accelerate import PartialState
from datasets import Dataset
from transformers import PreTrainedModel, Trainer, TrainerCallback, TrainingArguments

from lean_dojo_core import Database, Repository
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.training.callbacks import Callbacks, callbacks_setting, resolve_callbacks
from lean_dojo_plugins.training.checkpoints import (
    STEP_FILE,
    SealCheckpoints,
    keep_fitting_checkpoints,
    last_checkpoint,
)
from lean_dojo_plugins.training.data import repository_name, split_file
from lean_dojo_plugins.training.devices import Device, choose_device, keep_environment_steady
from lean_dojo_plugins.training.hub import require_model
from lean_dojo_plugins.training.lock import export_lock
from lean_dojo_plugins.training.model_card import write_model_card
from lean_dojo_plugins.training.reporting import (
    NOTHING,
    REPOSITORIES,
    CurriculumProgress,
    Reporter,
    bars_on_terminals_only,
    show_only_a_bar,
)
from lean_dojo_plugins.training.rows import TooLong, Written, nothing_fits, open_rows, write_rows
from lean_dojo_plugins.training.run_folder import FinishedStep, RunFolder, RunState
from lean_dojo_plugins.training.settings import (
    check_gathering,
    check_loggers,
    check_optimizer,
    plain_settings,
)
from lean_dojo_v2.atomic import require_writable
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.fields import about, setting
from lean_dojo_v2.runs.environment import record_environment
from lean_dojo_v2.runs.files import copy_metadata
from lean_dojo_v2.wording import counted


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


class _ByPosition:
    """Settings that each trainer declares itself: they are documented by their position."""

    model_name: str
    output_dir: str
    max_length: int | None
    seed: int


@attrs.define(slots=False, eq=False, kw_only=True)
class CurriculumTrainer(_ByPosition, ABC):
    """Base class of the trainers that the common loop runs."""

    trainer_args: Mapping[str, Any] = attrs.field(
        factory=dict, metadata=about("Further settings of the library's trainer, by name.")
    )
    resume: bool = setting(
        True, "Go on with an interrupted run in output_dir.", shapes_result=False
    )
    report_to: str = setting(
        "tensorboard",
        "Where metrics go besides metrics.jsonl: comma-separated, or 'none'.",
        shapes_result=False,
    )
    device: str = setting("auto", "'auto', 'cpu', 'cuda' or 'mps'.", shapes_result=False)
    callbacks: Callbacks = callbacks_setting()
    too_long: TooLong = attrs.field(factory=TooLong, init=False, repr=False)
    _model: PreTrainedModel | None = attrs.field(default=None, init=False, repr=False)

    @abstractmethod
    def card(self) -> dict[str, str]:
        """Describe the model for the model card; see :func:`.write_model_card`."""

    @abstractmethod
    def rows(self, data_path: Path) -> Iterator[dict[str, Any]]:
        """Stream the rows of the training dataset, made of the data that were exported there."""

    @abstractmethod
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

    def check_ready(self, config: TrainingArguments) -> None:
        """Check the model, the folder, the loggers, the optimiser and the callbacks."""
        require_model(self.model_name)
        require_writable(Path(self.output_dir), "output_dir")
        check_loggers(self.reports())
        check_optimizer(config)
        resolve_callbacks(self.callbacks)

    def train_with(
        self, trainer: Trainer, callbacks: Sequence[TrainerCallback], checkpoint: Path | None
    ) -> None:
        """Train with a trainer of transformers, and with the user's callbacks."""
        check_gathering(trainer)
        show_only_a_bar(trainer)
        for callback in (*callbacks, *resolve_callbacks(self.callbacks)):
            trainer.add_callback(callback)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)

    def save_whole(self, trainer: Trainer, target: Path) -> None:
        """Save the weights as one model, also when the processes hold parts of them."""
        sharded: Any = trainer.accelerator.state.fsdp_plugin if trainer.is_fsdp_enabled else None
        if sharded is None:
            trainer.save_model(str(target))
        else:  # checkpoints may be in parts, and those of the next repository are again
            kind = sharded.state_dict_type
            sharded.set_state_dict_type("FULL_STATE_DICT")
            trainer.save_model(str(target))
            sharded.set_state_dict_type(kind)

    @property
    def chosen_device(self) -> Device:
        """The device and precision that this trainer runs on."""
        return choose_device(self.device)

    @property
    def processes(self) -> PartialState:
        """The state of the processes; read anew, since each trainer run resets it."""
        return PartialState(cpu=self.chosen_device.name == "cpu")

    def reports(self) -> list[str]:
        """Return the names in ``report_to``."""
        return [name.strip() for name in self.report_to.split(",") if name.strip()]

    def settings(self) -> dict[str, Any]:
        """Return all settings that affect the result; a run resumes only with the same."""
        return plain_settings(self)

    def forget_model(self) -> None:
        """Release the model; the next use loads it again."""
        self._model = None


_ROWS_FILE = "rows.arrow"


class Loop:
    """Runs a trainer's curriculum on the data that a database exports to ``data_path``.

    Args:
        noun: Noun for a step in messages, singular and plural.
        make_ready: Called by every process before the main one exports the data of a step.
    """

    def __init__(
        self,
        trainer: CurriculumTrainer,
        repos: list[Repository],
        database: Database,
        data_path: Path,
        *,
        noun: tuple[str, str] = REPOSITORIES,
        make_ready: Callable[[CurriculumStep], None] = lambda _: None,
    ) -> None:
        self.trainer = trainer
        self.repos = repos
        self.database = database
        self.make_ready = make_ready
        # Absolute, since third-party code may change the current folder.
        self.data_path = data_path.absolute()
        self.folder = RunFolder(Path(trainer.output_dir).absolute())
        self.progress = CurriculumProgress(
            folder=self.folder.path,
            names=[repository_name(repo) for repo in repos],
            is_main=self.trainer.processes.is_main_process,
            noun=noun,
        )
        self.reporter = Reporter(self.folder.path, tensorboard="tensorboard" in trainer.reports())
        self.skipped: list[FinishedStep] = []
        self.too_long = TooLong()  # of the current step

    def run(self) -> None:
        """Run the curriculum; EmptyDatasetError if no repository gives anything to learn from."""
        state = self._open()
        done = self._already_done(state)
        if done == len(self.repos):
            self.progress.say(
                f"{self.folder.path}: already trained; {counted(done, *self.progress.noun)} done, "
                "none left (resume=False trains anew)"
            )
            return
        if done:
            self.progress.say_done(done)
        try:
            with bars_on_terminals_only():
                for index in self.progress.steps(done):
                    self._run_step(state, self._step(index, state))
        finally:
            self.reporter.close()
        if not state.finished:
            raise EmptyDatasetError(
                f"nothing to train on in {', '.join(self.progress.names)}: {self._why_nothing()}",
                path=split_file(self.data_path),
            )

    def _why_nothing(self) -> str:
        """Return why the last step, with the data of all repositories, had no rows."""
        if self.too_long.skipped:
            return nothing_fits(self.too_long.skipped, self.trainer.max_length)
        return "no theorem has a one-line tactic without sorry"

    def _open(self) -> RunState:
        """Prepare the output folder and read the state of an earlier run."""
        if self.trainer.processes.is_main_process:
            self.folder.begin(
                type(self.trainer), self.trainer.settings(), resume=self.trainer.resume
            )
        self.trainer.processes.wait_for_everyone()
        if not self.trainer.resume:
            self.trainer.forget_model()
        state = self.folder.load()
        assert state is not None
        return state

    def _already_done(self, state: RunState) -> int:
        wanted = [(str(repo.url), str(repo.commit)) for repo in self.repos]
        done = [(step.url, step.commit) for step in state.finished]
        if wanted[: len(done)] == done:
            return len(done)
        if done[: len(wanted)] == wanted:
            return len(wanted)
        first = next(
            i for i, pair in enumerate(zip(wanted, done, strict=False)) if pair[0] != pair[1]
        )
        raise UsageError(
            f"output_dir {self.folder.path} holds a run over other repositories: number "
            f"{first + 1} was {' at '.join(done[first])} and is {' at '.join(wanted[first])}. Use "
            "another output_dir, or resume=False to start anew."
        )

    def _step(self, index: int, state: RunState) -> CurriculumStep:
        number = len(state.finished) + len(self.skipped)
        return CurriculumStep(
            index=index,
            total=len(self.repos),
            repositories=tuple(self.repos[: index + 1]),
            folder=self.folder.step_folder(number, self.progress.names[index]),
            seed=self.trainer.seed + number,
            processes=self.trainer.processes.num_processes,
        )

    def _run_step(self, state: RunState, step: CurriculumStep) -> None:
        written = self._make_data(step)
        if cut := self.too_long.describe(self.trainer.max_length):
            self.progress.say_of(step.index, cut)
        if written.rows == 0:
            self.progress.say_of(step.index, NOTHING)
            self.skipped.append(_finished(step, written, 0))
            return
        checkpoint = last_checkpoint(step.folder)
        going_on = f", going on from {checkpoint.name}" if checkpoint else ""
        self.progress.say_of(step.index, f"{written.rows} rows{going_on}")
        steps = self._fit(state, step, checkpoint)
        if self.trainer.processes.is_main_process:
            finished = [*self.skipped, _finished(step, written, steps)]
            # A pickle with local paths, not needed to load the model.
            (self.folder.staging / "training_args.bin").unlink(missing_ok=True)
            self.reporter.draw()
            write_model_card(self.folder.staging, self.trainer, [*state.finished, *finished])
            self.folder.publish(state, finished)
            self.progress.say_of(step.index, f"saved to {self.folder.path}")
        self.trainer.processes.wait_for_everyone()
        self.skipped = []
        reread = self.folder.load()
        assert reread is not None
        state.finished = reread.finished

    def _make_data(self, step: CurriculumStep) -> Written:
        """Export and format on the main process; all processes read the result."""
        note = step.folder / STEP_FILE
        self.make_ready(step)
        self.trainer.processes.wait_for_everyone()
        if self.trainer.processes.is_main_process:
            record_environment(self.folder.path)
            self.trainer.too_long = TooLong()
            with export_lock(self.data_path):
                self.database.export_merged_data(list(step.repositories), self.data_path)
                copy_metadata(self.data_path, self.folder.path)
                written = write_rows(self.trainer.rows(self.data_path), step.folder / _ROWS_FILE)
            told = {**attrs.asdict(written), **attrs.asdict(self.trainer.too_long)}
            keep_fitting_checkpoints(step.folder, told, step.processes)
        self.trainer.processes.wait_for_everyone()
        data = json.loads(note.read_text())
        self.too_long = TooLong(data["shortened"], data["skipped"])
        return Written(data["rows"], data["digest"])

    def _fit(self, state: RunState, step: CurriculumStep, checkpoint: Path | None) -> int:
        """Train one step, leaving its model in the staging folder; return optimiser steps."""
        if self.trainer.processes.is_main_process:
            shutil.rmtree(self.folder.staging, ignore_errors=True)
            reached = int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0
            self.reporter.begin(step.name, state.optimizer_steps, reached)
        keep_environment_steady()
        steps = self.trainer.fit(
            open_rows(step.folder / _ROWS_FILE),
            step,
            callbacks=(SealCheckpoints(), self.reporter),
            checkpoint=checkpoint,
            target=self.folder.staging,
        )
        self.trainer.processes.wait_for_everyone()
        return steps


def _finished(step: CurriculumStep, written: Written, steps: int) -> FinishedStep:
    repository = step.repository
    return FinishedStep(
        str(repository.url), str(repository.commit), written.rows, steps, written.digest
    )
