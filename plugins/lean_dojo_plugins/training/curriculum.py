"""Trainers along a curriculum; :class:`.Loop` runs them."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.training import settings
from lean_dojo_plugins.training.callbacks import Callbacks, callbacks_setting, resolve_callbacks
from lean_dojo_plugins.training.data import Stage
from lean_dojo_plugins.training.devices import Device, choose_device
from lean_dojo_plugins.training.hub import require_model
from lean_dojo_plugins.training.reporting import TooLong
from lean_dojo_plugins.training.run_folder import RunFolder, RunState
from lean_dojo_v2.files import require_writable
from lean_dojo_v2.settings import about, setting

if TYPE_CHECKING:
    from accelerate import PartialState
    from datasets import Dataset
    from transformers import PreTrainedModel, Trainer, TrainerCallback, TrainingArguments

ConfigT = TypeVar("ConfigT")


@attrs.frozen
class CurriculumStep:
    """One step of a curriculum.

    It is number ``index``, from 0, of ``total``. ``stages`` are all so far, this step's last;
    ``folder`` holds the step's data and checkpoints while it runs; ``seed`` is its own.
    """

    index: int
    total: int
    stages: tuple[Stage, ...]
    folder: Path
    seed: int
    processes: int

    @property
    def stage(self) -> Stage:
        """What this step adds, such as a repository."""
        return self.stages[-1]

    @property
    def name(self) -> str:
        """Its name, safe for file names."""
        return self.stage.name


@attrs.frozen
class Fitting:
    """One step's training by a trainer of transformers: from where, watched by what, to where."""

    checkpoint: Path | None
    callbacks: Sequence[TrainerCallback]
    target: Path

    def train(self, trainer: Trainer, *further: TrainerCallback) -> None:
        """Train from the checkpoint on, if there is one."""
        from lean_dojo_plugins.training.transformers_callbacks import show_only_a_bar

        settings.check_gathering(trainer)
        show_only_a_bar(trainer)
        for callback in (*further, *self.callbacks):
            trainer.add_callback(callback)
        trainer.train(resume_from_checkpoint=str(self.checkpoint) if self.checkpoint else None)

    def save(self, trainer: Trainer) -> None:
        """Save the weights as one model, also when the processes hold parts of them."""
        sharded: Any = trainer.accelerator.state.fsdp_plugin if trainer.is_fsdp_enabled else None
        if sharded is None:
            trainer.save_model(str(self.target))
        else:  # checkpoints may be in parts, and those of the next repository are again
            kind = sharded.state_dict_type
            sharded.set_state_dict_type("FULL_STATE_DICT")
            trainer.save_model(str(self.target))
            sharded.set_state_dict_type(kind)


class ByPosition:
    """Settings that each trainer declares itself: they are documented by their position."""

    model_name: str
    output_dir: str
    max_length: int | None
    batch_size: int
    seed: int


@attrs.define(slots=False, eq=False, kw_only=True)
class CurriculumTrainer(ByPosition, ABC):
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
    def fit(self, dataset: Dataset, step: CurriculumStep, fitting: Fitting) -> int:
        """Train one step and save its model; return the steps of the optimiser, all of them."""

    def check_ready(self, config: TrainingArguments) -> None:
        """Check model, folder, the run in it, loggers, optimiser and callbacks."""
        require_model(self.model_name)
        require_writable(Path(self.output_dir), "output_dir")
        if self.resume:
            self.run_state()
        settings.check_loggers(self.reports())
        settings.check_optimizer(config)
        resolve_callbacks(self.callbacks)

    @property
    def chosen_device(self) -> Device:
        """The device and precision that this trainer runs on."""
        return choose_device(self.device)

    @property
    def processes(self) -> PartialState:
        """The state of the processes; read anew, since each trainer run resets it."""
        from accelerate import PartialState

        return PartialState(cpu=self.chosen_device.name == "cpu")

    def reports(self) -> list[str]:
        """Return the names in ``report_to``."""
        return [name.strip() for name in self.report_to.split(",") if name.strip()]

    def settings(self) -> dict[str, Any]:
        """Return all settings that affect the result; a run resumes only with the same."""
        return settings.plain_settings(self)

    def run_state(self) -> RunState | None:
        """Read the state of a run in ``output_dir`` to resume; UsageError for other settings."""
        return RunFolder(Path(self.output_dir)).run_to_resume(type(self), self.settings())

    def say(self, text: str) -> None:
        """Print a message on standard error, from the main process."""
        if self.processes.is_main_process:
            print(text, file=sys.stderr)

    def library_config(
        self,
        kind: Callable[..., ConfigT],
        step: CurriculumStep,
        *,
        defaults: Mapping[str, Any],
        fixed: Mapping[str, Any],
    ) -> ConfigT:
        """Make a step's configuration, ``trainer_args`` between the other two, or a ConfigError."""
        arguments: dict[str, Any] = {
            "save_total_limit": 2,  # keep the previous one until the new one is complete
            "disable_tqdm": not sys.stderr.isatty(),
            **defaults,
            **settings.under_new_names(self.trainer_args),
            "output_dir": str(step.folder),
            "per_device_train_batch_size": self.batch_size,
            "seed": step.seed,
            "use_cpu": self.chosen_device.name == "cpu",
            **fixed,
        }
        try:
            return kind(**arguments)
        except (ValueError, TypeError) as error:
            raise ConfigError(f"trainer_args: {error}") from error

    def forget_model(self) -> None:
        """Release the model; the next use loads it again."""
        self._model = None
