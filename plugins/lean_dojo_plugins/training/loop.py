"""The loop that runs a trainer along a curriculum: export, format, train, save; resumable.

Several processes: ``accelerate launch`` on GPUs or ``torchrun`` anywhere. The main process exports
and saves; all read the same file and split every batch. (On CPUs
``accelerate launch --cpu`` starts several processes through ``mpirun`` only; ``torchrun
--nproc_per_node 2`` needs nothing else.)
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_core.wording import counted
from lean_dojo_plugins.training import checkpoints, reporting
from lean_dojo_plugins.training.callbacks import resolve_callbacks
from lean_dojo_plugins.training.curriculum import CurriculumStep, CurriculumTrainer, Fitting
from lean_dojo_plugins.training.data import DataSource
from lean_dojo_plugins.training.devices import keep_environment_steady
from lean_dojo_plugins.training.model_card import write_model_card
from lean_dojo_plugins.training.rows import Written, open_rows, write_rows
from lean_dojo_plugins.training.run_folder import FinishedStep, RunFolder, RunState, export_lock
from lean_dojo_plugins.training.transformers_callbacks import Reporter
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.files import copy_metadata
from lean_dojo_v2.runs import record_environment

_ROWS_FILE = "rows.arrow"


@attrs.define(eq=False, slots=False)
class Loop:
    """Runs a trainer's curriculum on the data that a source exports to ``data_path``.

    ``noun`` is a step's in messages, singular and plural. Every process calls ``make_ready`` before
    the main one exports the data of a step.
    """

    trainer: CurriculumTrainer
    source: DataSource
    data_path: Path
    noun: tuple[str, str] = reporting.REPOSITORIES
    make_ready: Callable[[CurriculumStep], None] = lambda _: None

    def __attrs_post_init__(self) -> None:
        self.stages = self.source.stages
        # Absolute, since third-party code may change the current folder.
        self.data_path = self.data_path.absolute()
        self.folder = RunFolder(Path(self.trainer.output_dir).absolute())
        self.progress = reporting.CurriculumProgress(
            folder=self.folder.path,
            names=[stage.name for stage in self.stages],
            is_main=self.trainer.processes.is_main_process,
            noun=self.noun,
        )
        tensorboard = "tensorboard" in self.trainer.reports()
        self.reporter = Reporter(self.folder.path, tensorboard)
        self.skipped: list[FinishedStep] = []
        self.too_long = reporting.TooLong()  # of the current step

    def run(self) -> None:
        """Run the curriculum; EmptyDatasetError if no repository gives anything to learn from."""
        self._open()
        done = self._already_done()
        if done == len(self.stages):
            self.progress.say(
                f"{self.folder.path}: already trained; {counted(done, *self.progress.noun)} done, "
                "none left (resume=False trains anew)"
            )
            return
        if done:
            self.progress.say_done(done)
        try:
            with reporting.bars_on_terminals_only():
                for index in self.progress.steps(done):
                    self._run_step(self._step(index))
        finally:
            self.reporter.close()
        if not self.state.finished:  # the last step had the data of all repositories
            why = "no theorem has a one-line tactic without sorry"
            if self.too_long.skipped:
                why = reporting.nothing_fits(self.too_long.skipped, self.trainer.max_length)
            raise EmptyDatasetError(
                f"nothing to train on in {', '.join(self.progress.names)}: {why}",
                path=self.data_path,
            )

    @property
    def state(self) -> RunState:
        """The state of the run, read anew: the main process writes it."""
        state = self.folder.load()
        assert state is not None
        return state

    def _open(self) -> None:
        """Prepare the output folder, for a new run or an earlier one."""
        if self.trainer.processes.is_main_process:
            self.folder.begin(
                type(self.trainer), self.trainer.settings(), resume=self.trainer.resume
            )
        self.trainer.processes.wait_for_everyone()
        if not self.trainer.resume:
            self.trainer.forget_model()

    def _already_done(self) -> int:
        wanted = [(stage.url, stage.commit) for stage in self.stages]
        done = [(step.url, step.commit) for step in self.state.finished]
        for number, (now, before) in enumerate(zip(wanted, done, strict=False), 1):
            if now != before:
                raise UsageError(
                    f"output_dir {self.folder.path} holds a run over other repositories: number "
                    f"{number} was {' at '.join(before)} and is {' at '.join(now)}. Use another "
                    "output_dir, or resume=False to start anew."
                )
        return min(len(wanted), len(done))

    def _step(self, index: int) -> CurriculumStep:
        number = len(self.state.finished) + len(self.skipped)
        return CurriculumStep(
            index=index,
            total=len(self.stages),
            stages=tuple(self.stages[: index + 1]),
            folder=self.folder.step_folder(number, self.progress.names[index]),
            seed=self.trainer.seed + number,
            processes=self.trainer.processes.num_processes,
        )

    def _run_step(self, step: CurriculumStep) -> None:
        written = self._make_data(step)
        if cut := self.too_long.describe(self.trainer.max_length):
            self.progress.say_of(step.index, cut)
        if written.rows == 0:
            self.progress.say_of(step.index, reporting.NOTHING_TO_LEARN)
            self.skipped.append(_finished(step, written, 0))
            return
        checkpoint = checkpoints.last_checkpoint(step.folder)
        going_on = f", going on from {checkpoint.name}" if checkpoint else ""
        self.progress.say_of(step.index, f"{written.rows} rows{going_on}")
        steps = self._fit(step, checkpoint)
        if self.trainer.processes.is_main_process:
            finished = [*self.skipped, _finished(step, written, steps)]
            # A pickle with local paths, not needed to load the model.
            (self.folder.staging / "training_args.bin").unlink(missing_ok=True)
            self.reporter.draw()
            write_model_card(self.folder.staging, self.trainer, [*self.state.finished, *finished])
            self.folder.publish(finished)
            self.progress.say_of(step.index, f"saved to {self.folder.path}")
        self.trainer.processes.wait_for_everyone()
        self.skipped = []

    def _make_data(self, step: CurriculumStep) -> Written:
        """Export and format on the main process; all processes read the result."""
        note = step.folder / checkpoints.STEP_FILE
        self.make_ready(step)
        self.trainer.processes.wait_for_everyone()
        if self.trainer.processes.is_main_process:
            record_environment(self.folder.path)
            self.trainer.too_long = reporting.TooLong()
            with export_lock(self.data_path):
                self.source.export(len(step.stages), self.data_path)
                copy_metadata(self.data_path, self.folder.path)
                written = write_rows(self.trainer.rows(self.data_path), step.folder / _ROWS_FILE)
            told = {**attrs.asdict(written), **attrs.asdict(self.trainer.too_long)}
            checkpoints.keep_fitting_checkpoints(step.folder, told, step.processes)
        self.trainer.processes.wait_for_everyone()
        data = json.loads(note.read_text())
        self.too_long = reporting.TooLong(data["shortened"], data["skipped"])
        return Written(data["rows"], data["digest"])

    def _fit(self, step: CurriculumStep, checkpoint: Path | None) -> int:
        """Train one step, leaving its model in the staging folder; return optimiser steps."""
        if self.trainer.processes.is_main_process:
            shutil.rmtree(self.folder.staging, ignore_errors=True)
            reached = checkpoints.step_of(checkpoint) if checkpoint else 0
            self.reporter.begin(step.name, self.state.optimizer_steps, reached)
        keep_environment_steady()
        users = resolve_callbacks(self.trainer.callbacks)
        watchers = (checkpoints.SealCheckpoints(), self.reporter, *users)
        fitting = Fitting(checkpoint, watchers, self.folder.staging)
        steps = self.trainer.fit(open_rows(step.folder / _ROWS_FILE), step, fitting)
        self.trainer.processes.wait_for_everyone()
        return steps


def _finished(step: CurriculumStep, written: Written, steps: int) -> FinishedStep:
    stage = step.stage
    return FinishedStep(stage.url, stage.commit, written.rows, steps, written.digest)
