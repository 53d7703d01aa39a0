"""Progress prediction: data, training that keeps the best, estimates."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import numpy as np
import pytest
import torch

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.progress.estimator import ProgressModel
from lean_dojo_plugins.progress.trainer import ProgressTrainer
from lean_dojo_v2.errors import CheckpointError
from lean_dojo_v2.files import RAID_VARIABLE
from lean_dojo_v2.lean_progress.examples import (
    ProgressExample,
    read_examples,
    write_examples,
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, dataset_file, encoder) -> ProgressTrainer:
    trainer = ProgressTrainer(
        data_path=str(dataset_file),
        model_name=encoder,
        output_dir=str(tmp_path_factory.mktemp("out")),
        max_length=64,
        epochs=6,
        learning_rate=3e-3,
        device="cpu",
    )
    trainer.train()
    return trainer


def test_documented_positions_and_defaults():
    trainer = ProgressTrainer("d.jsonl")
    assert (trainer.model_name, trainer.output_dir, trainer.max_length, trainer.batch_size) == (
        "bert-base-uncased", "outputs", 512, 8,
    )  # fmt: skip
    assert (trainer.epochs, trainer.learning_rate, trainer.eval_ratio, trainer.seed) == (
        3.0, 1e-5, 0.2, 42,
    )  # fmt: skip


def padding_of(trainer: ProgressTrainer, monkeypatch) -> list[float]:
    """Train, and give the share of padding of every batch."""
    masks: list[torch.Tensor] = []
    load = ProgressTrainer._load

    def observed(self):
        model, tokenizer = load(self)

        def see(module, _, inputs):
            if module.training:
                masks.append(inputs["attention_mask"].bool())

        model.register_forward_pre_hook(see, with_kwargs=True)
        return model, tokenizer

    monkeypatch.setattr(ProgressTrainer, "_load", observed)
    trainer.train()
    # Each batch is as wide as its longest row, and no row is as long as max_length.
    assert all(mask.any(0).all() and mask.shape[1] < trainer.max_length for mask in masks)
    return [1 - mask.float().mean().item() for mask in masks]


@pytest.mark.slow
def test_batches_hold_rows_of_similar_length_and_are_as_wide_as_the_longest(
    tmp_path, encoder, monkeypatch
):
    rows = [ProgressExample("⊢ " + "s " * (n * 37 % 97), "t", n % 3) for n in range(330)]
    write_examples(tmp_path / "d.jsonl", rows)
    shares = []
    for strategy in ({}, {"train_sampling_strategy": "random"}):
        trainer = ProgressTrainer(
            str(tmp_path / "d.jsonl"), encoder, str(tmp_path / f"out{len(shares)}"),
            max_length=120, epochs=1, device="cpu", report_to="none", trainer_args=strategy,
        )  # fmt: skip
        padding = padding_of(trainer, monkeypatch)
        assert len(padding) == 33  # 264 rows, eight a batch
        shares.append(sum(padding) / len(padding))
    grouped, shuffled = shares
    assert grouped < shuffled / 2


def test_training_learns_and_keeps_the_lowest_mse(trained, capsys):
    lines = (Path(trained.output_dir) / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    by_epoch = [row["eval_mse"] for row in rows if "eval_mse" in row]
    final = trained.evaluate()
    assert len(by_epoch) == 6
    assert final["mse"] == pytest.approx(min(by_epoch), rel=1e-2)
    assert final["mse"] < by_epoch[0]
    assert final["mae"] < 1
    assert set(final.metrics) == {"mse", "mae", "within_one"}
    for name in ("model.safetensors", "tokenizer.json", "loss.svg", "README.md"):
        assert (Path(trained.output_dir) / name).stat().st_size
    assert list((Path(trained.output_dir) / "runs").iterdir())


def test_a_finished_run_is_not_repeated_and_the_hint_is_printed(trained, capsys):
    before = (Path(trained.output_dir) / "model.safetensors").stat().st_mtime_ns
    trained.train()
    out = capsys.readouterr().out
    assert f"export LEANPROGRESS_MODEL={trained.output_dir}" in out
    assert (Path(trained.output_dir) / "model.safetensors").stat().st_mtime_ns == before


def test_other_settings_in_the_same_folder_are_refused(trained):
    other = attrs.evolve(trained, learning_rate=1.0)
    with pytest.raises(UsageError, match=r"learning_rate was 0\.003 and is 1\.0"):
        other.train()


def test_other_data_in_the_same_folder_are_refused(trained, tmp_path):
    trainer = trained
    file = tmp_path / "other.jsonl"
    file.write_text("".join(Path(trainer.data_path).read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(UsageError, match="give the data "):
        attrs.evolve(trainer, data_path=file).train()


def test_the_estimator_agrees_with_the_trainer_and_does_not_depend_on_batches(trained):
    items = [("⊢ " + "s " * n + "p", "", f"step{n}") for n in (4, 0, 2, 1, 3)]
    model = ProgressModel(trained.output_dir, device="cpu")
    model.batch_size = 2
    together = model.predict(items)
    alone = [model.predict([item])[0] for item in items]
    assert np.allclose(together, alone, atol=1e-4)
    assert together[0] > together[1]
    assert model.predict([]) == []


def test_what_is_no_progress_model_is_refused(tmp_path, encoder):
    with pytest.raises(CheckpointError, match="no progress model"):
        ProgressModel(tmp_path)
    with pytest.raises(CheckpointError, match="2 labels"):
        ProgressModel(encoder)


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ({"eval_ratio": 1.5}, "eval_ratio"),
        ({"epochs": 0}, "epochs"),
        ({"trainer_args": {"weight_dekay": 0.1}}, "Did you mean 'weight_decay'"),
        ({"trainer_args": {"output_dir": "x"}}, "cannot be set"),
        ({"eval_ratio": "0.2"}, "eval_ratio must be a number between 0 and 1"),
        ({"batch_size": 2.5}, "batch_size must be a whole number of at least 1, not 2.5"),
        ({"batch_size": "8"}, "batch_size must be a whole number"),
        ({"max_length": 1.5}, "max_length must be a whole number"),
        ({"learning_rate": "fast"}, "learning_rate must be a number above 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"model_name": 3}, "model_name must be a name or path"),
        ({"device": "gpu"}, "device 'gpu' is unknown"),
        ({"trainer_args": {"fp16": True}}, "fp16 cannot be set: the precision"),
        (
            {"trainer_args": {"eval_strategy": "steps"}},
            "eval_strategy cannot be set: the best checkpoint is saved",
        ),
        ({"trainer_args": {"save_only_model": True}}, "save_only_model cannot be set: a killed"),
        ({"trainer_args": {"prediction_loss_only": True}}, "cannot be set: the error is measured"),
        (
            {"trainer_args": {"per_device_eval_batch_size": "8"}},
            "expected a valid integer, got '8'",
        ),
        ({"model_name": "./nowhere"}, "no model at"),
    ],
)
def test_bad_settings_are_usage_errors(bad, complaint):
    with pytest.raises(UsageError, match=complaint):
        ProgressTrainer("d.jsonl", **bad)


def test_what_the_library_refuses_is_a_usage_error_before_any_work(tmp_path, dataset_file, encoder):
    trainer = ProgressTrainer(
        dataset_file, encoder, tmp_path / "out",
        trainer_args={"lr_scheduler_type": "steep"},
    )  # fmt: skip
    with pytest.raises(UsageError, match=r"trainer_args: .*steep"):
        trainer.train()
    assert not (tmp_path / "out").exists()


def test_paths_and_the_size_of_evaluation_batches_are_taken(
    tmp_path, dataset_file, encoder, monkeypatch
):
    trainer = ProgressTrainer(
        dataset_file, Path(encoder), tmp_path / "out", epochs=0.1, device="cpu", report_to="none",
        trainer_args={"per_device_eval_batch_size": 5},
    )  # fmt: skip
    assert (trainer.model_name, trainer.output_dir) == (encoder, str(tmp_path / "out"))
    sizes: list[int] = []
    load = ProgressTrainer._load

    def observed(self):
        model, tokenizer = load(self)

        def see(module, _, inputs):
            if not module.training:
                sizes.append(len(inputs["input_ids"]))

        model.register_forward_pre_hook(see, with_kwargs=True)
        return model, tokenizer

    monkeypatch.setattr(ProgressTrainer, "_load", observed)
    trainer.train()
    assert max(sizes) == 5


def test_without_data_it_says_where_to_get_some(encoder):
    with pytest.raises(UsageError, match="create_sample_dataset"):
        ProgressTrainer(model_name=encoder).train()


def test_it_trains_from_a_database_that_it_streams(tmp_path, encoder, monkeypatch):
    from lean_dojo_v2.data.repository import Repository
    from lean_dojo_v2.database import DynamicDatabase
    from lean_dojo_v2.database.export.splits import split_of
    from lean_dojo_v2.lean_progress.create_sample_dataset import create
    from lean_dojo_v2.sample import sample_database_path

    monkeypatch.delattr(Repository, "get_all_theorems")  # all at once
    assert create(tmp_path / "sample.jsonl") > 900
    database = DynamicDatabase(sample_database_path())
    trainer = ProgressTrainer(
        model_name=encoder, output_dir=str(tmp_path / "out"), max_length=32, epochs=0.1,
        device="cpu", report_to="none",
    )  # fmt: skip
    trainer.train(database.repositories[:1], database, tmp_path)
    examples = list(read_examples(tmp_path / "leanprogress.jsonl"))
    assert any(e.prefix for e in examples)
    assert (tmp_path / "out" / "model.safetensors").exists()
    # Nothing held out is learned from: this model guides the search for its proofs.
    held_out = {
        f"{theorem.url}:{theorem.file_path}:{theorem.full_name}"
        for repository in database.repositories
        for theorem in repository.iter_theorems()
        if split_of(theorem) != "train"
    }
    assert len(held_out) > 100
    for file in ("sample.jsonl", "leanprogress.jsonl"):
        learned = {e.theorem for e in read_examples(tmp_path / file)}
        assert learned
        assert not learned & held_out


@pytest.mark.slow
def test_a_later_process_measures_on_what_the_training_left(
    tmp_path, encoder, monkeypatch, dataset_file
):
    from lean_dojo_v2.database import DynamicDatabase
    from lean_dojo_v2.sample import sample_database_path

    monkeypatch.setenv(RAID_VARIABLE, str(tmp_path / "raid"))
    settings = {
        "model_name": encoder, "output_dir": str(tmp_path / "out"), "max_length": 32,
        "epochs": 0.1, "device": "cpu", "report_to": "none",
    }  # fmt: skip
    database = DynamicDatabase(sample_database_path())
    first = ProgressTrainer(**settings)
    first.train(database.repositories[:1], database)
    found = ProgressTrainer(**settings).evaluate()
    assert found == first.evaluate()
    everything = sum(1 for _ in read_examples(first.data_path))
    assert 0 < found.examples < everything / 2
    with pytest.raises(UsageError, match=r"is not what .*out was trained on"):
        ProgressTrainer(**settings, data_path=dataset_file).evaluate()
