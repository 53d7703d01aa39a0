"""Lightning's trainer and callbacks, built from a configuration."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from pytorch_lightning.loggers import TensorBoardLogger
from pytorch_lightning.plugins import TorchCheckpointIO
from pytorch_lightning.strategies import DDPStrategy
from tqdm import tqdm

from lean_dojo_plugins import training
from lean_dojo_plugins.retrieval.model.premise_retriever import has_bf16
from lean_dojo_v2 import runs
from lean_dojo_v2.files import atomic_writer, safe_name
from lean_dojo_v2.lean_agent import TrainingConfig

log = logging.getLogger(__name__)


def choose_hardware(config: TrainingConfig) -> dict[str, Any]:
    """Fit a configuration to this machine, as arguments of Lightning's trainer; logs every change.

    Without a GPU, ``num_gpus`` becomes one CPU process, unless ``accelerator="cpu"`` asks for
    several; half precision becomes bfloat16 or 32 bits, whichever the processor handles well.
    """
    gpu = on_gpu(config)
    devices = config.num_gpus
    if gpu:
        devices = min(devices, torch.cuda.device_count())
    elif config.accelerator != "cpu":
        devices = 1
    if devices != config.num_gpus:
        log.warning(
            "num_gpus=%d, but this machine has %s GPU(s): using %d device(s)",
            config.num_gpus,
            torch.cuda.device_count() or "no",
            devices,
        )
    strategy: Any = "auto"
    if devices > 1:
        strategy = DDPStrategy(
            # A spawned process runs the training alone; "popen" would run the user's whole
            # script again. Under torchrun or Slurm the processes are there already.
            start_method="popen" if torch.distributed.is_torchelastic_launched() else "spawn",
            process_group_backend="nccl" if gpu else "gloo",
            timeout=timedelta(seconds=config.timeout_seconds),
        )
    return {
        "accelerator": "gpu" if gpu else "cpu",
        "devices": devices,
        "strategy": strategy,
        "precision": _precision(config.precision, gpu=gpu),
    }


def on_gpu(config: TrainingConfig) -> bool:
    """Whether to train on a GPU."""
    return config.accelerator != "cpu" and torch.cuda.is_available()


def _precision(wanted: str, *, gpu: bool) -> str:
    half = wanted in {"16", "16-mixed", "bf16", "bf16-mixed", "16-true", "bf16-true"}
    fast = has_bf16("cuda" if gpu else "cpu")
    if not half or (fast and (gpu or wanted.startswith("bf16"))):
        return wanted
    slow = wanted.replace("bf16", "16") if gpu else "32-true"
    chosen = "bf16-mixed" if fast else slow
    if chosen != wanted:
        log.warning("precision=%s does not suit this machine: using %s", wanted, chosen)
    return chosen


@contextmanager
def without_chatter() -> Iterator[None]:
    """Silence Lightning's notes about devices and add-ons, unless its logger was set up."""
    logger = logging.getLogger("pytorch_lightning.utilities.rank_zero")
    level = logger.level
    logger.setLevel(level or logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"`isinstance\(treespec, LeafSpec\)`")
            yield
    finally:
        logger.setLevel(level)


class AtomicCheckpointIO(TorchCheckpointIO):
    """Writes a checkpoint beside its place and renames it there.

    Lightning moves it from the system's temporary folder; a kill may leave a truncated file.
    """

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        """Write it, all or nothing."""
        del storage_options  # of remote file systems
        with atomic_writer(path) as stream:
            torch.save(checkpoint, stream)


class EpochBar(pl.Callback):
    """A progress bar per epoch on standard error; text lines off a terminal."""

    _bar: "tqdm[Any] | None" = None
    _epoch = ""

    def on_train_epoch_start(self, trainer: pl.Trainer, *_: Any) -> None:
        """Start the bar."""
        if trainer.is_global_zero:
            total = int(trainer.num_training_batches)
            self._epoch = f"Epoch {trainer.current_epoch + 1}/{trainer.max_epochs}"
            self._bar = tqdm(total=total, desc=self._epoch, unit="batch", disable=None)

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any, **__: Any) -> None:
        """Move it on and show the loss."""
        if self._bar is not None:
            loss = f"{float(trainer.callback_metrics['loss_train']):.4f}"
            self._bar.set_postfix(loss=loss)
            self._bar.update()
            runs.report_progress(f"{self._epoch}, step {trainer.global_step}, loss {loss}")

    def on_train_epoch_end(self, *_: Any) -> None:
        """End it."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Curves(pl.Callback):
    """Writes a line per ``every`` optimiser steps and per validation, and draws both at the end."""

    def __init__(self, folder: Path, every: int) -> None:
        self.folder = folder
        self.every = every
        self._written = 0

    def on_train_start(self, trainer: pl.Trainer, *_: Any) -> None:
        """Drop what a killed run reported after the checkpoint that this run resumes from."""
        self._written = trainer.global_step
        if trainer.is_global_zero and (self.folder / runs.METRICS_FILE).exists():
            runs.forget_metrics_after(self.folder, trainer.global_step)

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
            rows = runs.read_metrics(self.folder)
            runs.save_figure(runs.plot_loss(rows), self.folder / training.PICTURE_FILE)
            runs.save_figure(runs.plot_recall(rows), self.folder / "recall.svg")

    def _write(self, trainer: pl.Trainer, names: dict[str, str]) -> None:
        found = {key: trainer.callback_metrics.get(name) for key, name in names.items()}
        numbers = runs.numbers_of({k: float(v) for k, v in found.items() if v is not None})
        if trainer.is_global_zero and numbers:
            self.folder.mkdir(parents=True, exist_ok=True)
            runs.append_metrics(self.folder, trainer.global_step, self.folder.name, numbers)


def step_folder(config: TrainingConfig, dir_name: str) -> Path:
    """Return the checkpoint folder of a training step; a repository's name makes one folder."""
    return config.get_checkpoint_dir() / safe_name(dir_name)


def callbacks(
    config: TrainingConfig, dir_name: str, *, monitored: bool = True
) -> list[pl.Callback]:
    """Build checkpoints, early stopping, learning-rate log and progress bar.

    Without validation data (``monitored``), checkpoints are kept by age and nothing stops early.
    """
    folder = step_folder(config, dir_name)
    monitor = config.checkpoint_monitor if monitored else None
    filename = f"{{epoch}}-{{{monitor}:.4f}}" if monitor else "{epoch}"
    built: list[pl.Callback] = [
        ModelCheckpoint(
            dirpath=folder,
            filename=filename,
            monitor=monitor,
            mode=config.checkpoint_mode,
            # Without a metric Lightning can only keep all of them or the newest.
            save_top_k=config.checkpoint_save_top_k
            if monitor
            else min(1, config.checkpoint_save_top_k),
            every_n_epochs=config.checkpoint_every_n_epochs,
            save_last=True,
        ),
        LearningRateMonitor(logging_interval="step"),
        EpochBar(),
        Curves(folder, config.log_every_n_steps),
    ]
    if config.checkpoint_every_n_steps is not None:
        built.append(
            ModelCheckpoint(
                dirpath=folder,
                filename="inside-{epoch}-{step}",
                every_n_train_steps=config.checkpoint_every_n_steps,
                save_top_k=1,
            )
        )
    if monitored:
        built.append(
            EarlyStopping(
                monitor=config.early_stopping_monitor,
                mode=config.early_stopping_mode,
                patience=config.early_stopping_patience,
            )
        )
    return built


def lightning_trainer(
    config: TrainingConfig,
    dir_name: str,
    log_dir: Path,
    *,
    monitored: bool = True,
    further: Sequence[pl.Callback] = (),
) -> pl.Trainer:
    """Build the Lightning trainer of one step, with further callbacks; see :func:`callbacks`."""
    return pl.Trainer(
        **choose_hardware(config),
        max_epochs=config.max_epochs,
        accumulate_grad_batches=config.accumulate_grad_batches,
        gradient_clip_val=config.gradient_clip_val or None,
        log_every_n_steps=config.log_every_n_steps,
        num_sanity_val_steps=config.num_sanity_val_steps,
        callbacks=[*callbacks(config, dir_name, monitored=monitored), *further],
        plugins=[AtomicCheckpointIO()],
        logger=TensorBoardLogger(save_dir=log_dir, name="", version=""),
        default_root_dir=step_folder(config, dir_name),
        use_distributed_sampler=False,  # our batch sampler deals batches out itself
        enable_progress_bar=False,  # EpochBar keeps standard output free
        enable_model_summary=False,
    )
