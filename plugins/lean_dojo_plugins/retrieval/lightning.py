"""Lightning's trainer and callbacks, built from a configuration."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from pytorch_lightning.loggers import TensorBoardLogger
from pytorch_lightning.plugins import TorchCheckpointIO
from tqdm import tqdm

from lean_dojo_plugins.retrieval.curves import Curves
from lean_dojo_plugins.retrieval.model.hardware import choose_hardware
from lean_dojo_v2 import paths
from lean_dojo_v2.atomic import atomic_writer
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.runs.so_far import at_work


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

    Lightning writes to the system's temporary folder and moves from there. Between file systems
    that is a copy, and a kill leaves a truncated file under the checkpoint's name.
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

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._epoch = ""

    def on_train_epoch_start(self, trainer: pl.Trainer, *_: Any) -> None:
        """Start the bar."""
        if trainer.is_global_zero:
            total = int(trainer.num_training_batches)
            self._epoch = f"Epoch {trainer.current_epoch + 1}/{trainer.max_epochs}"
            self._bar = tqdm(total=total, desc=self._epoch, unit="batch", disable=None)

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any, **__: Any) -> None:
        """Move it on and show the loss."""
        if self._bar is not None:
            loss = trainer.callback_metrics.get("loss_train")
            shown = {} if loss is None else {"loss": f"{float(loss):.4f}"}
            self._bar.set_postfix(shown)
            self._bar.update()
            words = [f"{self._epoch}, step {trainer.global_step}"]
            at_work(", ".join(words + [f"{key} {value}" for key, value in shown.items()]))

    def on_train_epoch_end(self, *_: Any) -> None:
        """End it."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def step_folder(config: TrainingConfig, dir_name: str) -> Path:
    """Return the checkpoint folder of a training step; a repository's name makes one folder."""
    return config.get_checkpoint_dir() / paths.safe_name(dir_name)


def callbacks(
    config: TrainingConfig, dir_name: str, *, monitored: bool = True
) -> list[pl.Callback]:
    """Build checkpoints, early stopping, learning-rate log and progress bar.

    Args:
        config: The configuration.
        dir_name: Name of the training step.
        monitored: Whether there is validation data; without, checkpoints are kept by age and
            nothing stops early.
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
        Curves(folder, folder.name, config.log_every_n_steps),
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
