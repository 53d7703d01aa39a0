"""Callbacks that a user names, on every trainer."""

from __future__ import annotations

import pytest
import pytorch_lightning as pl
import torch
from small_worlds import FRUIT, repository
from transformers import TrainerCallback

from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_plugins.progress.trainer import ProgressTrainer
from lean_dojo_plugins.retrieval.trainer import RetrievalTrainer
from lean_dojo_plugins.training.callbacks import resolve_callbacks
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean_agent.config import TrainingConfig


class Watcher(TrainerCallback):
    def __init__(self):
        self.steps, self.scored = 0, []

    def on_step_end(self, args, state, control, **kwargs):
        self.steps += 1

    def on_rewards_scored(self, args, state, control, **scored):
        self.scored.append(scored)


class LightningWatcher(pl.Callback):
    batches = 0

    def on_train_batch_end(self, *_):
        LightningWatcher.batches += 1


def test_names_classes_and_objects(tmp_path, monkeypatch):
    (tmp_path / "my_watchers.py").write_text(
        "from transformers import TrainerCallback\nclass Mine(TrainerCallback): ...\n"
    )
    monkeypatch.chdir(tmp_path)
    one = Watcher()
    found = resolve_callbacks(["my_watchers:Mine", Watcher, one])
    assert [type(each).__name__ for each in found] == ["Mine", "Watcher", "Watcher"]
    assert found[2] is one


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("watchers", "not of the form"),
        ("no.such.module:Watcher", "cannot be imported"),
        ("json:dumps", "cannot be made"),
        ("collections:Counter", "is a Counter; give a transformers"),
        (LightningWatcher, "is a LightningWatcher"),
    ],
)
def test_what_is_no_callback_is_refused_before_training(given, complaint, tiny_model, tmp_path):
    trainer = GRPOTrainer(
        str(tiny_model), "length-penalised", str(tmp_path / "out"), callbacks=[given]
    )
    with pytest.raises(ConfigError, match=complaint):
        trainer.preflight()


def test_grpo_tells_what_was_scored(traced, tiny_model, tmp_path):
    watcher = Watcher()
    database = DynamicDatabase(traced)
    trainer = GRPOTrainer(
        str(tiny_model), "length-penalised", str(tmp_path / "out"), batch_size=2, device="cpu",
        callbacks=watcher,
        trainer_args={"max_steps": 2, "num_generations": 2, "max_completion_length": 4},
    )  # fmt: skip
    repos = [r for r in database.repositories if "empty" not in r.url][:1]
    trainer.train(repos, database, tmp_path / "data")
    assert watcher.steps == 2
    assert len(watcher.scored) == 2
    scored = watcher.scored[0]
    assert scored["rewards"].shape == (2, 1)
    assert scored["reward_names"] == ["length-penalised"]
    assert len(scored["completions"]) == len(scored["inputs"]) == 2
    assert isinstance(scored["rewards"], torch.Tensor)


@pytest.mark.slow
def test_progress_and_retrieval_take_them(encoder, dataset_file, encoder_folder, tmp_path):
    watcher = Watcher()
    ProgressTrainer(
        dataset_file, encoder, tmp_path / "progress", max_length=32, epochs=0.1, device="cpu",
        report_to="none", callbacks=[watcher],
    ).train()  # fmt: skip
    assert watcher.steps
    database = DynamicDatabase(tmp_path / "database.json")
    database.add_repository(repository("alpha", FRUIT, repeats=4))
    config = TrainingConfig(
        model_name=str(encoder_folder), max_seq_len=64, num_workers=0, precision="32-true",
        accelerator="cpu", batch_size=8, checkpoint_dir=tmp_path / "retrieval",
        log_dir=tmp_path / "log",
    )  # fmt: skip
    trainer = RetrievalTrainer(config, callbacks=[LightningWatcher])
    trainer.train(database.repositories, database, tmp_path / "data")
    assert LightningWatcher.batches
