"""Callbacks of transformers: ``metrics.jsonl``, TensorBoard events, plots, a bar, checkpoints."""

from pathlib import Path
from typing import Any

import attrs
from transformers import PrinterCallback, ProgressCallback, Trainer, TrainerCallback, TrainerState

from lean_dojo_plugins.training.reporting import PICTURE_FILE
from lean_dojo_v2 import runs

_PICTURES = {
    PICTURE_FILE: runs.plot_loss,
    "rewards.svg": runs.plot_rewards,
    "verified.svg": runs.plot_verified,
    "refusals.svg": runs.plot_refusals,
}


class TrainingBar(ProgressCallback):
    """transformers' bar, with the latest metrics instead of dictionaries on stdout."""

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:  # noqa: ARG002
        """Show the loss and the reward; everything is in the metrics file."""
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
        runs.forget_metrics_after(self.folder, offset + reached)
        self.close()
        if self.tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            purge = offset + reached + 1
            self._writer = SummaryWriter(str(self.folder / "runs"), purge_step=purge)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:  # noqa: ARG002
        """Report what a trainer logs, from the main process."""
        if not state.is_world_process_zero or not logs:
            return
        numbers, step = runs.numbers_of(logs), self.offset + state.global_step
        runs.append_metrics(self.folder, step, self.repository, numbers)
        if self._writer is not None:
            for key, value in numbers.items():
                self._writer.add_scalar(f"train/{key}", value, step)
            self._writer.flush()

    def on_step_end(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Record the step and its metrics for the progress line off a terminal."""
        last = state.log_history[-1] if state.log_history else {}
        numbers = [f"{key} {float(last[key]):.3g}" for key in _SHOWN if key in last]
        runs.report_progress(
            ", ".join([f"step {state.global_step} of {state.max_steps}", *numbers])
        )

    def draw(self) -> None:
        """Plot the loss over the steps, one colour per repository, and what a reward logged."""
        rows = runs.read_metrics(self.folder)
        for name, draw in _PICTURES.items():
            runs.save_figure(draw(rows), self.folder / name)

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
