"""Progressive training: chained repositories, EWC by its effect, checkpoints, resuming, evaluation."""

import json
import os
from pathlib import Path

import orjson
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_plugins.retrieval.data.datamodule import RetrievalDataModule
from lean_dojo_plugins.retrieval.model.checkpoints import find_best, find_latest
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_plugins.training.run_folder import RunFolder, RunState
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.files import log_dir
from lean_dojo_v2.lean_agent.config import TrainingConfig
from lean_dojo_v2.trainer.retrieval_trainer import RetrievalTrainer


def finished(trainer):
    steps = state_of(trainer).finished
    return [trainer.output_dir / name for name in dict.fromkeys(step.model for step in steps)]


def state_of(trainer):
    return RunFolder(trainer.output_dir).load()


def loss_on(checkpoint, data):
    """Mean loss over all training items, negatives as in epoch 0."""
    model = PremiseRetriever.load(checkpoint)
    items = data.train_items
    total = 0.0
    with torch.no_grad():
        for first in range(0, len(items), 8):
            numbers = range(first, min(first + 8, len(items)))
            total += model.similarity_loss(
                items.collate([items[0, n] for n in numbers])
            ).item() * len(numbers)
    return total / len(items)


def data_of(database, repo, folder):
    database.export_merged_data([repo], folder)
    data = RetrievalDataModule(
        folder / "random", folder / "corpus.jsonl", num_workers=0, max_seq_len=128
    )
    data.setup()
    return data


def test_the_documented_example_runs_on_a_cpu(database, repos, encoder_folder):
    """Manual construction, with every hardware default as documented; only the model is local."""
    config = TrainingConfig(
        max_epochs=3,
        lr=5e-4,
        lambda_value=0.05,
        num_gpus=2,
        model_name=str(encoder_folder),
    )
    trainer = RetrievalTrainer(config=config)
    data_path = Path("raid/data/merged")
    assert trainer.train(repos=repos, database=database, data_path=data_path) is None
    report = trainer.evaluate()

    # Each repository ends with one checkpoint, and the next starts from it.
    first, second = finished(trainer)
    assert trainer.find_latest_checkpoint() == second
    assert trainer.find_best_checkpoint() in {first, second} | set(
        second.parent.glob("*.ckpt")
    ) | set(first.parent.glob("*.ckpt"))
    checkpoint = torch.load(second, weights_only=True)
    assert set(checkpoint["ewc"]) == {"fisher", "anchor"}
    assert sum(float(value.sum()) for value in checkpoint["ewc"]["fisher"].values()) > 0
    assert checkpoint["split_strategies"] == ["random"]
    # Repository names never make folders by accident.
    folders = sorted(path.name for path in trainer.output_dir.iterdir() if path.is_dir())
    assert folders == ["run001-000-owner_alpha", "run001-001-owner_beta"]
    assert len(list(first.parent.glob("epoch=*.ckpt"))) == 3

    # The report.
    assert set(report["merged"]) == {"random", "novel_premises"}
    assert set(report["merged"]["random"]) == {"R@1", "R@10", "MRR"}
    table = str(report)
    assert "bm25" in table
    assert "ReProver on LeanDojo Benchmark 4" in table
    written = json.loads((trainer.output_dir / "evaluation.json").read_text())
    assert written == orjson.loads(orjson.dumps(report.to_dict()))
    random_row = next(row for row in written["rows"] if row["split"] == "random")
    assert random_row["theorems"] > 0

    # What was forgotten.
    forgetting = json.loads((trainer.output_dir / "forgetting.json").read_text())
    assert [len(step["values"]) for step in forgetting["steps"]] == [1, 2]
    assert all(
        0 <= value <= 100 for step in forgetting["steps"] for value in step["values"].values()
    )
    assert (trainer.output_dir / "forgetting.svg").read_text().startswith("<?xml")

    # Numbers and pictures beside the checkpoints.
    rows = [json.loads(line) for line in (second.parent / "metrics.jsonl").read_text().splitlines()]
    assert sum("Recall@10_val" in row for row in rows) == 3
    assert {row["step"] for row in rows if "loss" in row} == set(range(1, rows[-1]["step"] + 1))
    for picture in ("loss.svg", "recall.svg"):
        assert (second.parent / picture).read_text().startswith("<?xml")

    # The model card.
    card = (second.parent / "README.md").read_text()
    assert all(f"| {repo.url} | `{repo.commit[:12]}` | " in card for repo in repos)
    assert str(trainer.output_dir) not in card

    # TensorBoard has the loss, the metrics and the warm-up.
    log = EventAccumulator(str(log_dir() / "run001-001-owner_beta")).Reload()
    assert {"loss_train", "Recall@10_val", "Recall@1_val", "MRR", "ewc_penalty"} <= set(
        log.Tags()["scalars"]
    )
    rates = [event.value for event in log.Scalars("lr-AdamW")]
    assert rates.index(max(rates)) <= len(rates) / 10, "the warm-up is a tenth at most"


def test_either_split_is_learned_from(database, repos, make_config, tmp_path):
    trainer = RetrievalTrainer(make_config(split_strategy="novel_premises", lambda_value=0))
    trainer.train(repos[:1], database, tmp_path / "data")
    report = str(trainer.evaluate(tmp_path / "data"))
    assert "data/random: the model was trained on the splits of novel_premises" in report
    assert "data/novel_premises: the model was trained" not in report


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3407, 1])
def test_with_the_penalty_the_first_repository_fits_better(
    database, make_config, make_repository, repos, tmp_path, seed
):
    """Train on alpha, then on one that contradicts it, without replay, from the same start."""
    alpha = repos[0]
    contrary = make_repository("gamma", ["apple", "banana", "cherry", "damson", "elder"], shift=1)
    database.add_repository(contrary)

    def trainer(name, **changes):
        return RetrievalTrainer(
            make_config(
                max_epochs=8,
                lr=5e-3,
                replay=False,
                seed=seed,
                checkpoint_dir=tmp_path / name,
                **changes,
            )
        )

    first = trainer("first")
    first.train([alpha], database)
    start = first.find_latest_checkpoint()
    data = data_of(database, alpha, tmp_path / "alpha")
    loss = {}
    for strength in (0.0, 0.1):  # the documented default
        second = trainer(f"second{strength}", lambda_value=strength)
        second.train([contrary], database, model_checkpoint_path=start)
        loss[strength] = loss_on(second.find_latest_checkpoint(), data)
    assert loss[0.1] < loss[0.0] - 0.005


def test_ewc_is_off_without_progressive_training(database, repos, make_config):
    trainer = RetrievalTrainer(make_config(run_progressive_training=False))
    trainer.train(repos, database)
    assert all("ewc" not in torch.load(path, weights_only=True) for path in finished(trainer))


@pytest.mark.slow
def test_an_explicit_start_and_a_second_run(database, repos, make_config):
    config = make_config(lr=0.0)
    trainer = RetrievalTrainer(config)
    trainer.train(repos[:1], database)
    (first,) = finished(trainer)
    trainer.train(repos[1:], database, model_checkpoint_path=str(first))
    run = state_of(trainer).run
    assert (run["number"], run["start"]) == (2, str(first))
    trainer.train(repos[1:], database)
    assert state_of(trainer).run["number"] == 3, "a finished run is not gone on with"
    weights = [
        PremiseRetriever.load(p).fingerprint() for p in trainer.output_dir.rglob("finished*.ckpt")
    ]
    assert len(set(weights)) == 1, "with a learning rate of 0 nothing changes along the chain"


def test_one_step_over_all_repositories(database, repos, make_config):
    trainer = RetrievalTrainer(make_config(single_repo=False))
    trainer.train(repos, database)
    assert len(finished(trainer)) == 1


def test_a_repository_with_nothing_to_learn_is_skipped_by_name(
    database, repos, make_repository, make_config, capsys
):
    barren = make_repository("barren", ["x"], repeats=0)
    database.add_repository(barren)
    trainer = RetrievalTrainer(make_config())
    with pytest.raises(EmptyDatasetError):
        trainer.train([barren], database)
    trainer.train([barren, repos[0]], database)
    assert (
        "[1/2] owner_barren: skipped, because there is nothing to learn" in capsys.readouterr().err
    )
    skipped, learned = state_of(trainer).finished
    assert (skipped.rows, skipped.model) == (0, None)
    assert learned.rows > 0
    assert learned.optimizer_steps > 0


def test_no_repositories(database, make_config):
    with pytest.raises(EmptyDatasetError, match="no repository"):
        RetrievalTrainer(make_config()).train([], database)


def test_no_dataset_to_evaluate_on(make_config, tmp_path):
    with pytest.raises(DataError, match="holds no dataset"):
        RetrievalTrainer(make_config()).evaluate(tmp_path)


def test_the_model_itself_is_evaluated_without_a_checkpoint(exported, make_config, encoder_folder):
    report = RetrievalTrainer(make_config()).evaluate(str(exported))
    assert report.model == str(encoder_folder)
    assert report["export"]["random"]["R@10"] >= 0
    with pytest.raises(KeyError):
        report["other"]


def test_checkpoints_are_found_by_what_was_saved(tmp_path, caplog):
    assert find_latest(tmp_path) is find_best(tmp_path) is None
    names = [
        "a/epoch=0-Recall@10_val=40.5.ckpt",
        "b/epoch=1-Recall@10_val=9.75.ckpt",
        "b/last.ckpt",
        "c/epoch=2-Recall@10_val=60.0.ckpt",
    ]
    for second, name in enumerate(names):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        torch.save({"state": torch.zeros(9)}, path)
        os.utime(path, (second, second))
    assert find_latest(tmp_path) == find_best(tmp_path) == tmp_path / names[3]
    assert not caplog.text
    os.truncate(path, path.stat().st_size - 1)
    os.utime(path, (second, second))
    assert find_latest(tmp_path) == tmp_path / names[2]
    assert find_best(tmp_path) == tmp_path / names[0]
    assert caplog.text.count(f"{path} is skipped: it is damaged") == 2


def test_a_recall_of_zero_is_better_than_none(tmp_path):
    measured, unmeasured = tmp_path / "epoch=0-Recall@10_val=0.0.ckpt", tmp_path / "last.ckpt"
    for second, path in enumerate((measured, unmeasured)):
        torch.save({"state": torch.zeros(9)}, path)
        os.utime(path, (second, second))
    assert find_best(tmp_path) == measured


def test_the_configuration_builds_lightnings_parts(make_config, tmp_path):
    config = make_config(
        early_stopping_patience=2, checkpoint_save_top_k=3, checkpoint_every_n_steps=7
    )
    names = [type(callback).__name__ for callback in config.create_callbacks("owner/name")]
    assert names.count("ModelCheckpoint") == 2
    assert {"EarlyStopping", "LearningRateMonitor"} <= set(names)
    trainer = config.create_trainer("owner/name", tmp_path / "log")
    assert (trainer.max_epochs, trainer.gradient_clip_val) == (1, 1.0)
    assert trainer.checkpoint_callback.monitor == "Recall@10_val"
    assert trainer.checkpoint_callback.save_top_k == 3
    assert trainer.early_stopping_callback.patience == 2
    assert Path(trainer.checkpoint_callback.dirpath).parent == config.get_checkpoint_dir().resolve()


@pytest.mark.parametrize("wanted", ["bf16-mixed", "16-mixed", "32-true", "bf16-true", "64-true"])
def test_every_precision_works_on_a_cpu(wanted, make_config, tmp_path):
    chosen = make_config(precision=wanted).create_trainer("x", tmp_path).precision
    assert chosen in {wanted, "bf16-mixed", "32-true"}
    assert chosen != "16-mixed"


def test_the_record_is_that_of_every_trainer(database, repos, make_config, tmp_path):
    trainer = RetrievalTrainer(make_config())
    trainer.train(repos[:1], database)
    state = state_of(trainer)
    assert state.trainer == "RetrievalTrainer"
    assert state.settings["formatter"] == "premise-pairs"
    [step] = state.finished
    assert (step.url, step.commit) == (repos[0].url, repos[0].commit)
    RunFolder(tmp_path).save(RunState("SFTTrainer", {}))
    with pytest.raises(UsageError, match="holds a run of SFTTrainer"):
        RetrievalTrainer(make_config(checkpoint_dir=tmp_path)).train(repos[:1], database)


@pytest.mark.slow
def test_a_run_that_stopped_between_two_repositories_goes_on(
    database, repos, make_config, monkeypatch, capsys
):
    trainer = RetrievalTrainer(make_config())
    export = database.export_merged_data

    def fail_at_the_second(repositories, folder):
        if len(repositories) == 2:
            raise OSError("no space left")
        export(repositories, folder)

    with monkeypatch.context() as patch:
        patch.setattr(database, "export_merged_data", fail_at_the_second)
        with pytest.raises(OSError, match="no space left"):
            trainer.train(repos, database)
    RetrievalTrainer(make_config(num_workers=1)).train(repos, database)
    assert "going on after 1 repository" in capsys.readouterr().err
    folders = [checkpoint.parent.name for checkpoint in finished(trainer)]
    assert folders == ["run001-000-owner_alpha", "run001-001-owner_beta"]
    RetrievalTrainer(make_config(max_epochs=2)).train(repos[:1], database)
    assert state_of(trainer).run["number"] == 2, "another request is another run"


def test_what_is_evaluated_by_default_is_the_data_trained_on_wherever_it_lies(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("RAID_DIR", str(tmp_path / "raid"))
    trainer = RetrievalTrainer()
    assert trainer._dataset_path() == tmp_path / "raid" / "data"
    trainer._trained_on = tmp_path / "raid" / "data" / "merged"
    assert trainer._dataset_path() == tmp_path / "raid" / "data"
    trainer._trained_on = tmp_path / "elsewhere"
    assert trainer._dataset_path() == tmp_path / "elsewhere"


def test_a_checkpoint_stays_whole_while_another_is_written(make_config, tmp_path, monkeypatch):
    trainer = make_config().create_trainer("x", tmp_path / "log")
    save = trainer.strategy.checkpoint_io.save_checkpoint
    path = tmp_path / "last.ckpt"
    save({"state": torch.zeros(9)}, path)

    def cut_off(checkpoint, stream):
        stream.write(b"half of it")
        assert torch.load(path, weights_only=True)["state"].tolist() == [0.0] * 9
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", cut_off)
    with pytest.raises(KeyboardInterrupt):
        save({"state": torch.ones(9)}, path)
    assert torch.load(path, weights_only=True)["state"].tolist() == [0.0] * 9
