"""One walk over a curriculum: export, format, train, save; from wherever the last one ended.

Several processes: ``accelerate launch`` on GPUs or ``torchrun`` anywhere. The main process exports
and saves; all read the same file and split every batch. (On CPUs ``accelerate launch --cpu`` starts
several processes through ``mpirun`` only; ``torchrun --nproc_per_node 2`` needs nothing else.)
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from accelerate import PartialState
from tqdm import tqdm

from lean_dojo_core.errors import EmptyDatasetError, UsageError
from lean_dojo_plugins.causal_lm.model.label_head import restore_forward
from lean_dojo_plugins.causal_lm.text.tokenisation import TooLong, nothing_fits
from lean_dojo_plugins.training.data import formatted_rows, repository_name, split_file
from lean_dojo_plugins.training.look_back import look_back, read_matrix
from lean_dojo_plugins.training.model_card import write_model_card
from lean_dojo_plugins.training.reporting import (
    NoFinalCheckpoint,
    ReportCallback,
    Reporter,
    bars_on_terminals_only,
    show_only_a_bar,
)
from lean_dojo_plugins.training.rows import Written, open_rows, write_rows
from lean_dojo_plugins.training.run_folder import (
    FinishedStep,
    RunFolder,
    RunState,
    check_same_run,
    last_checkpoint,
)
from lean_dojo_v2.atomic import atomic_write_text
from lean_dojo_v2.runs.environment import record_environment
from lean_dojo_v2.runs.files import copy_metadata

if TYPE_CHECKING:
    from lean_dojo_plugins.causal_lm.trainer import CausalTrainer

_ROWS_FILE = "rows.arrow"
_STEP_FILE = "step.json"


@attrs.frozen
class CurriculumStep:
    """One step of a curriculum.

    Attributes:
        index: 0-based.
        total: Steps of the whole curriculum.
        repositories: All repositories so far, this step's one last.
        folder: Where the step keeps its data and checkpoints while it runs.
        seed: Seed of this step.
        processes: How many processes train.
    """

    index: int
    total: int
    repositories: tuple[Any, ...]
    folder: Path
    seed: int
    processes: int

    @property
    def repository(self) -> Any:
        """The repository that this step adds."""
        return self.repositories[-1]

    @property
    def name(self) -> str:
        """Its name, safe in a file name."""
        return repository_name(self.repository)


class Loop:
    """Runs a trainer's curriculum.

    Args:
        trainer: What to run.
        repos: The repositories, in order.
        database: Exports them.
        data_path: Where to.
    """

    def __init__(
        self, trainer: CausalTrainer, repos: list[Any], database: Any, data_path: Path
    ) -> None:
        self.trainer = trainer
        self.repos = repos
        self.database = database
        self.data_path = data_path
        self.folder = RunFolder(Path(trainer.output_dir))
        self.formatter = trainer.make_formatter()
        self.reporter = Reporter(self.folder.path, tensorboard="tensorboard" in trainer.reports())
        self.skipped: list[FinishedStep] = []
        self.too_long = TooLong()  # of the step under way

    @property
    def processes(self) -> PartialState:
        """The state of the processes; asked for anew, since each trainer run resets it."""
        return PartialState(cpu=self.trainer.chosen_device.name == "cpu")

    def run(self) -> None:
        """Walk the curriculum.

        Raises:
            UsageError: If ``output_dir`` holds another run.
            EmptyDatasetError: If no repository gives anything to learn from.
        """
        state = self._open()
        done = self._already_done(state)
        if done == len(self.repos):
            self._say(
                f"{self.folder.path}: already trained on all {done} repositories; resume=False "
                "trains anew"
            )
            return
        if done:
            self._say(f"{self.folder.path}: going on after {done} finished repositories")
        bar = tqdm(
            total=len(self.repos),
            initial=done,
            desc="repositories",
            disable=not (sys.stderr.isatty() and self.processes.is_main_process),
        )
        try:
            with bar, bars_on_terminals_only():
                for index in range(done, len(self.repos)):
                    self._run_step(state, self._step(index))
                    bar.update()
        finally:
            self.reporter.close()
        if not state.finished:
            names = ", ".join(repository_name(repo) for repo in self.repos)
            raise EmptyDatasetError(
                f"nothing to train on in {names}: {self._why_nothing()}",
                path=split_file(self.data_path),
            )

    def _why_nothing(self) -> str:
        """Say why the last step, whose data are those of all repositories, had no rows."""
        if self.too_long.skipped:
            return nothing_fits(self.too_long.skipped, self.trainer.max_length)
        return "no theorem has a one-line tactic without sorry"

    def _open(self) -> RunState:
        """Bring the output folder into order and read how far an earlier run got."""
        name, settings = type(self.trainer).__name__, self.trainer.settings()
        self.folder.path.mkdir(parents=True, exist_ok=True)
        if self.processes.is_main_process:
            if not self.trainer.resume:
                self.folder.start_anew()
            elif (found := self.folder.load()) is not None:
                if self.folder.holds_work(found):
                    check_same_run(found, name, settings, self.folder.path)
                else:
                    self.folder.start_anew()
            self.folder.recover()
            if self.folder.load() is None:
                self.folder.save(RunState(name, settings))
            if self.trainer.look_back:
                read_matrix(self.folder.path)  # a broken file is said now, not after the training
        self.processes.wait_for_everyone()
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

    def _step(self, index: int) -> CurriculumStep:
        return CurriculumStep(
            index=index,
            total=len(self.repos),
            repositories=tuple(self.repos[: index + 1]),
            folder=self.folder.step_folder(index, repository_name(self.repos[index])),
            seed=self.trainer.seed + index,
            processes=self.processes.num_processes,
        )

    def _run_step(self, state: RunState, step: CurriculumStep) -> None:
        written = self._make_data(step)
        place = f"[{step.index + 1}/{step.total}] {step.name}"
        if cut := self.too_long.describe(self.trainer.max_length):
            self._say(f"{place}: {cut}")
        if written.rows == 0:
            self._say(f"{place}: skipped, it gives nothing to learn from")
            self.skipped.append(_finished(step, written, 0))
            return
        checkpoint = last_checkpoint(step.folder, step.processes)
        self._say(
            f"{place}: {written.rows} rows"
            + (f", going on from {checkpoint.name}" if checkpoint else "")
        )
        steps = self._fit(state, step, checkpoint)
        if self.processes.is_main_process:
            finished = [*self.skipped, _finished(step, written, steps)]
            self.trainer.tokenizer.save_pretrained(self.folder.staging)
            # A pickle of local paths, which nobody needs to load the model.
            (self.folder.staging / "training_args.bin").unlink(missing_ok=True)
            self.reporter.draw()
            self.trainer.finish_step()
            if self.trainer.look_back:
                look_back(self.trainer, step, self.data_path)
            write_model_card(self.folder.staging, self.trainer, [*state.finished, *finished])
            self.folder.publish(state, finished)
            self._say(f"{place}: saved to {self.folder.path}")
        self.processes.wait_for_everyone()
        self.skipped = []
        reread = self.folder.load()
        assert reread is not None
        state.finished = reread.finished

    def _make_data(self, step: CurriculumStep) -> Written:
        """Export and format on the main process; every process reads what it wrote."""
        note = step.folder / _STEP_FILE
        if self.processes.is_main_process:
            self.database.export_merged_data(list(step.repositories), self.data_path)
            copy_metadata(self.data_path, self.folder.path)
            record_environment(self.folder.path)
            rows = formatted_rows(split_file(self.data_path), self.formatter)
            self.trainer.too_long = TooLong()
            written = write_rows(self.trainer.prepare_rows(rows), step.folder / _ROWS_FILE)
            told = {**attrs.asdict(written), **attrs.asdict(self.trainer.too_long)}
            text = json.dumps({**told, "processes": step.processes})
            if not note.exists() or note.read_text() != text:
                # Other data, or another number of processes: its checkpoints do not fit.
                for stale in step.folder.glob("checkpoint-*"):
                    shutil.rmtree(stale)
                atomic_write_text(note, text)
            last_checkpoint(step.folder, step.processes)  # deletes incomplete ones
        self.processes.wait_for_everyone()
        data = json.loads(note.read_text())
        self.too_long = TooLong(data["shortened"], data["skipped"])
        return Written(data["rows"], data["digest"])

    def _fit(self, state: RunState, step: CurriculumStep, checkpoint: Path | None) -> int:
        """Train one step and leave its model in the staging folder; gives optimiser steps."""
        restore_forward(self.trainer.model)
        use_cache = self.trainer.model.config.use_cache
        fitter = self.trainer.build_step_trainer(open_rows(step.folder / _ROWS_FILE), step)
        if self.trainer.look_back and (fitter.is_fsdp_enabled or fitter.is_deepspeed_enabled):
            raise UsageError(
                "look_back measures the whole model on one device, and FSDP or DeepSpeed splits "
                "it; leave look_back at 0 and evaluate afterwards"
            )
        show_only_a_bar(fitter)
        fitter.add_callback(NoFinalCheckpoint())
        fitter.add_callback(ReportCallback(self.reporter, step.name, state.optimizer_steps))
        if self.processes.is_main_process:
            shutil.rmtree(self.folder.staging, ignore_errors=True)
            reached = int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0
            self.reporter.resume_at(state.optimizer_steps + reached)
        fitter.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        # Training turns the cache off in the configuration, and generation would then go without.
        self.trainer.model.config.use_cache = use_cache
        fitter.save_model(str(self.folder.staging))
        restore_forward(self.trainer.model)
        self.processes.wait_for_everyone()
        return int(fitter.state.global_step)

    def _say(self, text: str) -> None:
        if self.processes.is_main_process:
            tqdm.write(text, file=sys.stderr)


def _finished(step: CurriculumStep, written: Written, steps: int) -> FinishedStep:
    repository = step.repository
    return FinishedStep(
        str(repository.url), str(repository.commit), written.rows, steps, written.digest
    )
