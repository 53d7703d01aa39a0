"""Callbacks that a user names, on every trainer."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
import pytorch_lightning as pl
import torch
from small_worlds import FRUIT, repository
from transformers import TrainerCallback

from lean_dojo_core import registry
from lean_dojo_core.errors import ConfigError, PluginLoadError, UsageError
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_plugins.progress.trainer import ProgressTrainer
from lean_dojo_plugins.retrieval.trainer import RetrievalTrainer
from lean_dojo_plugins.training.callbacks import resolve_callbacks
from lean_dojo_v2 import kinds
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean_agent.config import TrainingConfig


class Watcher(TrainerCallback):
    def __init__(self):
        self.steps, self.scored = 0, []

    def on_step_end(self, args, state, control, **kwargs):
        self.steps += 1

    def on_rewards_scored(self, args, state, control, **scored):
        self.scored.append(scored)


class Misspelt:
    def on_step_edn(self, args, state, control, **kwargs): ...


class Bare:
    def setup(self, *told):
        self.told = told

    def on_train_end(self, *told):
        self.told = told


ONE_FILE = """\
import sys

from lean_dojo_core import hookimpl
from lean_dojo_v2.kinds import CallbackSpec


@hookimpl
def lean_dojo_callbacks():
    for name in ("Noter", "Raises"):
        yield CallbackSpec(name=name.lower(), target=f"{__name__}:{name}", summary="Notes.")


class Noter:
    def on_step_end(self, args, state, control, **kwargs):
        print("noted step", state.global_step, file=sys.stderr)

    def on_rewards_scored(self, args, state, control, *, rewards, reward_names, **kwargs):
        print("noted", len(rewards), "completions for", reward_names, file=sys.stderr)


class Raises:
    def __init__(self):
        raise RuntimeError("no such server")
"""


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
        ("watchers", "no callback is called 'watchers'. .*named package.module:attribute"),
        ("lean-dojo-v2:worst-tactics", "Did you mean 'best-tactics'"),
        ("no.such.module:Watcher", "cannot be imported"),
        ("json:dumps", "cannot be made"),
        ("collections:Counter", "is a Counter, which has no method on_…; give a transformers"),
        (LightningWatcher, "is a LightningWatcher, which has .*on_train_batch_end"),
        (Misspelt, "is a Misspelt, which has on_step_edn; give"),
    ],
)
def test_what_is_no_callback_is_refused_before_training(given, complaint, tiny_model, tmp_path):
    trainer = GRPOTrainer(
        str(tiny_model), "length-penalised", str(tmp_path / "out"), callbacks=[given]
    )
    with pytest.raises(UsageError, match=complaint):
        trainer.preflight()


@pytest.fixture
def one_file(tmp_path, monkeypatch):
    """A plugin that is one file, beside the user's settings."""
    monkeypatch.setenv("LEAN_DOJO_CONFIG_DIR", str(tmp_path / "settings"))
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "lean_dojo_plugins.py").write_text(ONE_FILE)
    registry.refresh()
    yield
    sys.modules.pop("lean_dojo_core.local.lean_dojo_plugins", None)
    monkeypatch.undo()
    registry.refresh()


@pytest.mark.usefixtures("one_file")
def test_a_plugins_name_short_or_long():
    names = ["noter", "Noter", "lean_dojo_plugins.py:noter"]
    found = resolve_callbacks(names)
    assert [type(each).__name__ for each in found] == ["Noter"] * 3
    assert all(isinstance(each, TrainerCallback) for each in found)
    assert len(set(map(id, found))) == 3  # each is a callback of its own
    with pytest.raises(PluginLoadError, match=r"callback 'raises' of lean_dojo_plugins\.py local "):
        resolve_callbacks(["raises"])
    with kinds.callbacks.override("noter", LightningWatcher):
        assert isinstance(resolve_callbacks(["noter"], pl.Callback)[0], LightningWatcher)


def test_an_object_with_some_of_the_methods_will_do():
    bare = Bare()
    (callback,) = resolve_callbacks([bare], pl.Callback)
    callback.setup("trainer", "module", "fit")
    assert bare.told == ("trainer", "module", "fit")
    callback.on_train_end("trainer", "module")
    callback.on_train_start("trainer", "module")  # which it does not have
    assert bare.told == ("trainer", "module")


@pytest.mark.usefixtures("one_file")
def test_retrieval_refuses_what_only_grpo_calls():
    with pytest.raises(
        ConfigError, match=r"is a Noter, which has on_rewards_scored, on_step_end; give"
    ):
        resolve_callbacks(["noter"], pl.Callback)


@pytest.mark.usefixtures("one_file")
def test_grpo_calls_a_plugins_callback_by_name(traced, tiny_model, tmp_path, capsys):
    database = DynamicDatabase(traced)
    trainer = GRPOTrainer(
        str(tiny_model), {"length-penalised": 0.5, "constant": 2}, str(tmp_path / "out"),
        batch_size=2, device="cpu", callbacks=["noter", "best-tactics"],
        trainer_args={"max_steps": 2, "num_generations": 2, "max_completion_length": 4},
    )  # fmt: skip
    trainer.preflight()
    repos = [r for r in database.repositories if "empty" not in r.url][:1]
    trainer.train(repos, database, tmp_path / "data")
    noted = [line for line in capsys.readouterr().err.splitlines() if line.startswith("noted ")]
    assert noted == [
        "noted 2 completions for ['length-penalised', 'constant']", "noted step 1",
        "noted 2 completions for ['length-penalised', 'constant']", "noted step 2",
    ]  # fmt: skip


def test_the_best_tactic_is_printed_as_often_as_is_logged(capsys):
    args = SimpleNamespace(reward_weights=[1.0, 0.5])
    state = SimpleNamespace(is_world_process_zero=True, global_step=0, logging_steps=2)
    scored = {
        "inputs": [{"problem": "h : p\n⊢ p ∧\n  q\n\ncase r\n⊢ r"}] * 2,
        "completions": ["simp", [{"role": "assistant", "content": "exact h"}]],
        # The third and the fourth completion are those of another process.
        "rewards": torch.tensor([[float("nan"), 1.0], [1.0, 0.0], [9.0, 9.0], [9.0, 9.0]]),
        "reward_names": ["verified", "short"],
    }
    callback = kinds.callbacks["best-tactics"].create()
    callback.on_train_begin(args, state, None)
    for state.global_step in range(4):
        callback.on_rewards_scored(args, state, None, **scored)
    assert capsys.readouterr().err.splitlines() == [
        f"step {step}: reward 1 (verified 1, short 0) for 'exact h' at ⊢ p ∧ q" for step in (0, 2)
    ]
    state.is_world_process_zero = False
    callback.on_train_begin(args, state, None)
    callback.on_rewards_scored(args, state, None, **scored)
    assert capsys.readouterr().err == ""


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
