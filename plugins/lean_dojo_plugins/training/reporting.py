"""Reports of a run: messages, ``metrics.jsonl``, TensorBoard events, a plot of the loss."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
from tqdm import tqdm
from transformers import PrinterCallback, ProgressCallback, Trainer, TrainerCallback, TrainerState
from transformers.utils import logging as transformers_logging

from lean_dojo_v2.runs import figures, metrics
from lean_dojo_v2.runs.so_far import at_work
from lean_dojo_v2.wording import counted

PICTURE_FILE = "loss.svg"
_PICTURES = {
    PICTURE_FILE: figures.loss,
    "rewards.svg": figures.rewards,
    "verified.svg": figures.verified,
    "refusals.svg": figures.refusals,
}


@contextmanager
def bars_on_terminals_only() -> Iterator[None]:
    """Suppress transformers' bars off a terminal, and a warning that users cannot act on."""
    hidden = not sys.stderr.isatty() and transformers_logging.is_progress_bar_enabled()
    if hidden:
        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with without_their_deprecations():
            yield
    finally:
        if hidden:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


@contextmanager
def without_their_deprecations() -> Iterator[None]:
    """Suppress transformers' deprecation warnings about a property's old name in peft and TRL.

    The uses are in ``PeftModel.__init__`` of peft 0.21, and in ``disable_gradient_checkpointing``
    and ``unwrap_model_for_generation`` of TRL 1.16, the newest versions.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        yield


@contextmanager
def errors_only() -> Iterator[None]:
    """Silence transformers' messages about a loaded model; the caller reports instead."""
    level = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)


class TrainingBar(ProgressCallback):
    """transformers' bar, with the latest metrics instead of dictionaries on stdout."""

    def on_log(
        self, args: Any, state: TrainerState, control: Any, logs: Any = None, **kwargs: Any
    ) -> None:
        """Show the loss and the reward; everything is in the metrics file."""
        del args, control, kwargs
        bar = self.training_bar
        shown = {key: value for key, value in (logs or {}).items() if key in _SHOWN}
        if state.is_world_process_zero and bar is not None and shown:
            bar.set_postfix({key: f"{float(value):.3g}" for key, value in shown.items()})


_SHOWN = ("loss", "reward")


def show_only_a_bar(trainer: Trainer) -> None:
    """Reduce a trainer's output to a bar, on a terminal only."""
    trainer.remove_callback(PrinterCallback)
    if trainer.pop_callback(ProgressCallback) is not None:
        trainer.add_callback(TrainingBar())


@attrs.define(slots=False, eq=False)
class Reporter(TrainerCallback):
    """Writes a run's metrics, with steps counted over all repositories."""

    folder: Path
    tensorboard: bool = True
    repository: str = ""
    offset: int = 0
    _writer: Any = None

    def begin(self, repository: str, offset: int, reached: int) -> None:
        """Begin a repository; drop reports after its step ``reached``, which a run repeats."""
        self.repository, self.offset = repository, offset
        metrics.forget_after(self.folder, offset + reached)
        self.close()
        if self.tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            purge = offset + reached + 1
            self._writer = SummaryWriter(str(self.folder / "runs"), purge_step=purge)

    def on_log(
        self, args: Any, state: TrainerState, control: Any, logs: Any = None, **kwargs: Any
    ) -> None:
        """Report what a trainer logs, from the main process."""
        del args, control, kwargs
        if not state.is_world_process_zero or not logs:
            return
        numbers, step = metrics.numbers_of(logs), self.offset + state.global_step
        metrics.append(self.folder, step, self.repository, numbers)
        if self._writer is not None:
            for key, value in numbers.items():
                self._writer.add_scalar(f"train/{key}", value, step)
            self._writer.flush()

    def on_step_end(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Record the step and its metrics for the progress line off a terminal."""
        last = state.log_history[-1] if state.log_history else {}
        numbers = [f"{key} {float(last[key]):.3g}" for key in _SHOWN if key in last]
        at_work(", ".join([f"step {state.global_step} of {state.max_steps}", *numbers]))

    def draw(self) -> None:
        """Plot the loss over the steps, one colour per repository, and what a reward logged."""
        rows = metrics.read(self.folder)
        for name, draw in _PICTURES.items():
            figures.save(draw(rows), self.folder / name)

    def close(self) -> None:
        """Close the TensorBoard file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class NoFinalCheckpoint(TrainerCallback):
    """Skips the checkpoint after the last step, since the model itself is saved then."""

    def on_step_end(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Undo the default flow's request."""
        if state.global_step >= state.max_steps:
            control.should_save = False


def say(text: str) -> None:
    """Print a message on standard error, above any bar."""
    tqdm.write(text, file=sys.stderr)


REPOSITORIES = ("repository", "repositories")
NOTHING = "skipped, because there is nothing to learn from"


@attrs.frozen(kw_only=True)
class CurriculumProgress:
    """Iterates over the named steps of a curriculum; only the main process prints."""

    folder: Path
    names: Sequence[str]
    is_main: bool
    noun: tuple[str, str] = REPOSITORIES

    def steps(self, done: int) -> Iterator[int]:
        """Yield the number of each remaining step, from 0, with a bar on a terminal."""
        bar = tqdm(
            total=len(self.names),
            initial=done,
            desc=self.noun[1],
            disable=not (sys.stderr.isatty() and self.is_main),
        )
        with bar:
            for number in range(done, len(self.names)):
                yield number
                bar.update()

    def say_done(self, done: int) -> None:
        """Print what a killed run has finished."""
        self.say(f"{self.folder}: going on after {counted(done, *self.noun)}")

    def say_of(self, number: int, text: str) -> None:
        """Print a message about a step."""
        self.say(f"[{number + 1}/{len(self.names)}] {self.names[number]}: {text}")

    def say(self, text: str) -> None:
        """Print a message, from the main process."""
        if self.is_main:
            say(text)
