"""Supervised fine-tuning as documented."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import datasets
import peft
import pytest
import torch
from peft import LoraConfig
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.testing import assert_close
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer as TrlTrainer

from lean_dojo_core.errors import ConfigError, DataError, UsageError
from lean_dojo_plugins.causal_lm.text.formatters import TacticChat
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_plugins.training.data import DatabaseSource
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.trainer.sft_trainer import SFTDataset, SFTTrainer

SCRIPT = Path(__file__).with_name("training_process.py")
SHARDED = Path(__file__).parents[2] / "sharded.py"
URL = "https://example.org/lean/"


@pytest.fixture
def database(traced, tmp_path) -> DynamicDatabase:
    (tmp_path / "database.json").write_bytes(traced.read_bytes())
    return DynamicDatabase(tmp_path / "database.json")


def repos(database: DynamicDatabase, *names: str) -> list:
    return [database.get_repository(URL + name, "c" * 40) for name in names]


@pytest.fixture
def data(database, tmp_path) -> Path:
    database.export_merged_data(repos(database, "one", "two"), tmp_path / "merged")
    return tmp_path / "merged"


def test_dataset_has_one_column_of_conversations(data):
    dataset = SFTDataset(data / "random" / "train.json").to_hf()
    assert dataset.column_names == ["messages"]
    assert [m["role"] for m in dataset[0]["messages"]] == ["system", "user", "assistant"]
    tactics = [row["messages"][2]["content"] for row in dataset]
    assert not any("sorry" in text or "\n" in text or "<a>" in text for text in tactics)
    assert SFTDataset(str(data)).to_hf()["messages"][:] == dataset["messages"][:]
    with pytest.raises(DataError, match=r"nowhere\.json"):
        SFTDataset(data / "nowhere.json")


def test_a_run_leaves_a_model_and_all_that_tells_about_it(
    database, tiny_model, tmp_path, capsys, monkeypatch
):
    output = tmp_path / "outputs"
    trainer = SFTTrainer(str(tiny_model), output, batch_size=4, lr=3e-3, epochs_per_repo=2)
    data_path = tmp_path / "merged"
    database.export_merged_data(repos(database, "one", "two"), data_path)
    before = trainer.evaluate(data_path, split="train")
    trainer.train(repos(database, "empty", "one", "two"), database, data_path)
    printed = capsys.readouterr()
    after = trainer.evaluate(data_path, split="train")
    assert after["loss"] < before["loss"] - 0.5
    assert after.examples == before.examples > 10

    loaded = AutoModelForCausalLM.from_pretrained(output)
    assert loaded.config.use_cache
    for name, weight in trainer.model.state_dict().items():
        assert torch.equal(weight, loaded.state_dict()[name])
    assert AutoTokenizer.from_pretrained(output).chat_template == trainer.tokenizer.chat_template
    assert not list(output.glob("*.bin"))
    assert not (output / "checkpoints").exists()

    rows = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
    losses = [row for row in rows if "loss" in row]
    assert [row["step"] for row in losses] == list(range(1, len(losses) + 1))
    assert {row["repository"] for row in rows} == {"lean_one", "lean_two"}
    events = EventAccumulator(str(output / "runs")).Reload()
    scalars = events.Scalars("train/loss")
    assert [event.step for event in scalars] == [row["step"] for row in losses]
    assert (output / "loss.svg").read_text().startswith("<?xml")
    card = (output / "README.md").read_text()
    assert URL + "two" in card
    assert '"lr": 0.003' in card
    assert "tactic-chat" in card
    assert str(tmp_path) not in card

    assert printed.out == ""
    assert "lean_empty: skipped" in printed.err
    assert "it/s" not in printed.err  # no progress bars outside a terminal

    # The same call again has nothing to do; one more repository goes on from there.
    steps = len(losses)
    again = SFTTrainer(str(tiny_model), output, batch_size=4, lr=3e-3, epochs_per_repo=2)
    again.train(repos(database, "empty", "one", "two"), database, data_path)
    assert "already trained; 3 repositories done" in capsys.readouterr().err
    again.train(repos(database, "empty", "one", "two", "three"), database, data_path)
    rows = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
    assert max(row["step"] for row in rows) > steps
    with pytest.raises(UsageError, match=r"lr was 0\.003 and is 0\.001"):
        SFTTrainer(str(tiny_model), output, batch_size=4, lr=1e-3, epochs_per_repo=2).train(
            repos(database, "one"), database, data_path
        )
    with pytest.raises(UsageError, match="over other repositories: number 1 was"):
        again.train(repos(database, "two", "one"), database, data_path)


def test_nothing_to_learn_is_an_error_by_name(database, tiny_model, tmp_path):
    trainer = SFTTrainer(str(tiny_model), tmp_path / "out")
    with pytest.raises(EmptyDatasetError, match="lean_empty"):
        trainer.train(repos(database, "empty"), database, tmp_path / "merged")
    with pytest.raises(UsageError, match="no repositories"):
        trainer.train([], database, tmp_path / "merged")


def test_with_lora_only_the_adapter_is_saved(database, tiny_model, tmp_path, capsys):
    output = tmp_path / "adapter"
    lora = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], lora_dropout=0.1)
    trainer = SFTTrainer(str(tiny_model), output, batch_size=4, lr=1e-2, lora_config=lora)
    trainer.train(repos(database, "one"), database, tmp_path / "merged")
    assert "trainable parameters: 2,048 of" in capsys.readouterr().err
    assert (output / "adapter_model.safetensors").exists()
    assert not (output / "model.safetensors").exists()
    assert all("lora" in name for name in load_file(output / "adapter_model.safetensors"))
    assert lora.base_model_name_or_path is None  # the user's object is left alone
    loaded = peft.AutoPeftModelForCausalLM.from_pretrained(output)
    ids = torch.arange(1, 30)[None]
    base = AutoModelForCausalLM.from_pretrained(tiny_model)
    assert not torch.allclose(loaded(ids).logits, base(ids).logits, atol=1e-3)
    # Starting from the adapter without lora_config merges it, and trains all weights.
    merged = SFTTrainer(str(output), tmp_path / "merged-out", device="cpu")
    with torch.inference_mode():
        assert_close(merged.model(ids).logits, loaded(ids).logits, atol=1e-4, rtol=1e-4)
    assert all(parameter.requires_grad for parameter in merged.model.parameters())


def test_a_new_adapter_follows_from_the_seed(tiny_model, tmp_path):
    def start(seed: int) -> dict[str, torch.Tensor]:
        lora = LoraConfig(r=4, target_modules=["q_proj"])
        trainer = SFTTrainer(str(tiny_model), tmp_path / "out", seed=seed, lora_config=lora)
        return {k: v for k, v in trainer.model.state_dict().items() if "lora_A" in k}

    one, again, other = start(1), start(1), start(2)
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not any(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    "lora",
    [
        None,
        pytest.param({"r": 4, "target_modules": ["q_proj", "v_proj"]}, marks=pytest.mark.slow),
    ],
)
def test_losses_equal_plain_trl_step_by_step(database, tiny_model, tmp_path, lora):
    config = None if lora is None else LoraConfig(**lora, init_lora_weights="gaussian")
    args = {"bf16": False, "train_sampling_strategy": "sequential"}
    trainer = SFTTrainer(
        str(tiny_model), tmp_path / "ours", batch_size=3, lr=1e-3, lora_config=config,
        trainer_args=args, max_length=None,
    )  # fmt: skip
    start = {name: weight.clone() for name, weight in trainer.model.state_dict().items()}
    trainer.train(repos(database, "one"), database, tmp_path / "merged")
    rows = [json.loads(x) for x in (tmp_path / "ours/metrics.jsonl").read_text().splitlines()]
    ours = [row["loss"] for row in rows if "loss" in row]

    plain = SFTTrainer(str(tiny_model), tmp_path / "x", lora_config=config, trainer_args=args)
    plain.model.load_state_dict(start)
    theirs = TrlTrainer(
        plain.model,
        SFTConfig(
            str(tmp_path / "theirs"), use_cpu=True, bf16=False, packing=False, seed=42,
            completion_only_loss=True, per_device_train_batch_size=3, learning_rate=1e-3,
            num_train_epochs=1, logging_steps=1, save_strategy="no", max_length=None,
            train_sampling_strategy="sequential",
        ),
        train_dataset=chat_rows(tmp_path / "merged"),
        processing_class=plain.tokenizer,
    )  # fmt: skip
    theirs.train()
    expected = [row["loss"] for row in theirs.state.log_history if "loss" in row]
    assert len(ours) == len(expected) > 3
    assert ours == pytest.approx(expected, abs=2e-6)


def chat_rows(data: Path):
    rows = [
        row for theorem in read_theorems(data / "random/train.json") for row in TacticChat().rows(theorem)
    ]  # fmt: skip
    return datasets.Dataset.from_list(rows)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"batch_size": 0}, ConfigError, "batch_size must be a whole number"),
        ({"lr": -1.0}, ConfigError, "lr must be a number above 0"),
        ({"epochs_per_repo": 1.5}, ConfigError, "epochs_per_repo"),
        ({"trainer_args": {"packing": True}}, ConfigError, "packing cannot be set"),
        ({"trainer_args": {"learning_rate": 1}}, ConfigError, "own parameter lr"),
        ({"trainer_args": {"weight_deca": 0.1}}, ConfigError, "Did you mean 'weight_decay'"),
        (
            {"trainer_args": {"warmup_steps": "many"}},
            ConfigError,
            "expected a valid number, got 'many'",
        ),
        (
            {"trainer_args": {"max_grad_norm": True}},
            ConfigError,
            "expected a valid number, got True",
        ),
        ({"trainer_args": [1]}, ConfigError, "settings by name"),
        ({"trainer_args": {"eval_strategy": "steps"}}, ConfigError, "nothing is evaluated during"),
        ({"trainer_args": {"load_best_model_at_end": True}}, ConfigError, "nothing is evaluated"),
        (
            {"trainer_args": {"save_only_model": True}},
            ConfigError,
            "save_strategy='no' saves none",
        ),
        ({"trainer_args": {"fp16": True, "bf16": True}}, ConfigError, "only one of fp16 and bf16"),
        ({"trainer_args": {"fp16": True}, "device": "cpu"}, ConfigError, "fp16 needs a GPU"),
        ({"batch_size": "8"}, ConfigError, "batch_size must be a whole number"),
        ({"seed": 1.5}, ConfigError, "seed must be a whole number"),
        ({"formatter": "tactic-prompt"}, ConfigError, "has no column completion"),
        ({"formatter": "tactic-chatt"}, UsageError, "tactic-chat"),
        ({"model_name": "./missing/model"}, UsageError, "there is no model at"),
        ({"device": "tpu"}, UsageError, "device 'tpu' is unknown"),
    ],
)
def test_mistakes_are_found_before_any_work(tiny_model, tmp_path, options, error, message):
    settings = {"model_name": str(tiny_model), "output_dir": tmp_path, **options}
    with pytest.raises(error, match=message):
        SFTTrainer(**settings)


def test_the_start_model_is_never_overwritten(tiny_model):
    with pytest.raises(UsageError, match="use another output_dir"):
        SFTTrainer(str(tiny_model), tiny_model)


@pytest.mark.slow
def test_resume_false_starts_anew(database, tiny_model, tmp_path):
    def train(**options) -> dict[str, torch.Tensor]:
        trainer = SFTTrainer(str(tiny_model), tmp_path / "out", batch_size=8, lr=1e-3, **options)
        trainer.train(repos(database, "one"), database, tmp_path / "merged")
        return load_file(tmp_path / "out" / "model.safetensors")

    first = train()
    other = train(seed=7, resume=False)
    again = train(resume=False)
    name = "model.layers.0.mlp.up_proj.weight"
    assert not torch.equal(first[name], other[name])
    assert torch.equal(first[name], again[name])


@pytest.mark.slow
def test_a_later_process_measures_what_was_trained(database, tiny_model, tmp_path, capsys):
    def make(**options) -> SFTTrainer:
        return SFTTrainer(str(tiny_model), tmp_path / "out", batch_size=4, lr=3e-3, **options)

    merged = tmp_path / "merged"
    database.export_merged_data(repos(database, "one"), merged)
    base = make(resume=False).evaluate(merged, "train")
    assert f"measuring {tiny_model} on" in capsys.readouterr().err
    trainer = make(resume=False)
    trainer.train(repos(database, "one"), database, merged)
    trained = trainer.evaluate(merged, "train")
    assert trained["loss"] < base["loss"]
    capsys.readouterr()
    for resume in (False, True):
        assert make(resume=resume).evaluate(merged, "train") == trained
        assert f"measuring {tmp_path / 'out'} on" in capsys.readouterr().err
    # Other settings: only who does not mean to go on with that run may measure it.
    assert make(resume=False, seed=7).evaluate(merged, "train") == trained
    with pytest.raises(UsageError, match="seed was 42 and is 7"):
        make(seed=7).evaluate(merged, "train")


LAUNCHERS = {
    # On CPUs accelerate starts several processes through mpirun only; without it, one.
    "accelerate": ["accelerate.commands.launch", "--cpu", "--num_processes", "2"],
    "torchrun": ["torch.distributed.run", "--nproc_per_node", "2", "--standalone"],
}


def launch(launcher: str, scripts: list[str], orders: Path, *, dies: bool = False) -> str:
    """Run the training script under a launcher; gives what it said."""
    command = [sys.executable, "-m", *LAUNCHERS[launcher], *scripts]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "LEAN_DOJO_TEST_ORDERS": str(orders)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode != 0) is dies, done.stderr[-3000:]
    return done.stderr


@pytest.mark.slow
def test_two_processes_train_like_one(traced, tiny_model, tmp_path):
    """One writer, the same batches in the same order, the same steps.

    Also where each process holds a part of the weights, and is killed in the first repository.
    """
    arguments = {"bf16": False, "save_steps": 1}
    outputs = [tmp_path / name for name in ("one", "two", "sharded")]
    for output, launcher in zip(outputs, ("accelerate", "torchrun", "torchrun"), strict=True):
        orders = {
            "database": str(traced),
            "model": str(tiny_model),
            "output_dir": str(output),
            "data_path": f"{output}-data",
            "repositories": [[URL + repo, "c" * 40] for repo in ("one", "two")],
            "options": {
                "batch_size": 4 if launcher == "accelerate" else 2, "lr": 1e-3,
                "trainer_args": arguments,
            },
        }  # fmt: skip
        file = output.with_suffix(".json")
        scripts = [str(SCRIPT)]
        if output.name == "sharded":
            scripts.insert(0, str(SHARDED))
            file.write_text(json.dumps({**orders, "dies at step": 2}))
            launch(launcher, scripts, file, dies=True)
        file.write_text(json.dumps(orders))
        assert launch(launcher, scripts, file).count("lean_two: saved to") == 1
    one, two, sharded = outputs
    states = [json.loads((out / "training_state.json").read_text()) for out in outputs]
    assert states[0]["finished"] == states[1]["finished"] == states[2]["finished"]
    weights = [AutoModelForCausalLM.from_pretrained(out).state_dict() for out in (two, sharded)]
    assert_close(weights[1], weights[0], rtol=1e-3, atol=1e-4)

    def losses(output: Path) -> list[float]:
        lines = (output / "metrics.jsonl").read_text().splitlines()
        rows = [row for row in map(json.loads, lines) if "loss" in row]
        assert [row["step"] for row in rows] == list(range(1, len(rows) + 1))  # written once
        return [row["loss"] for row in rows]

    # At the end of an epoch accelerate repeats rows so that every process gets as many.
    whole = states[0]["finished"][0]["rows"] // 4
    assert losses(two)[:whole] == pytest.approx(losses(one)[:whole], rel=1e-5)
    assert losses(sharded) == pytest.approx(losses(two), rel=1e-5)


def test_rows_come_ready_to_train_on(data, tiny_model, tmp_path):
    trainer = SFTTrainer(str(tiny_model), tmp_path / "out", max_length=400)
    rows = list(trainer.prepare_rows(chat_rows(data)))
    assert {tuple(row) for row in rows} == {("input_ids", "labels", "length")}
    assert all(len(row["input_ids"]) == len(row["labels"]) == row["length"] <= 400 for row in rows)


def test_a_share_of_the_human_proofs_is_learned(database, tiny_model, tmp_path):
    """A larger share holds a smaller one; what is measured on is not cut."""
    one: Any = {"trainer_args": {"max_steps": 1}}
    shown: dict[float, set[str]] = {}
    both: dict[float, set[str]] = {}
    everything, data = DatabaseSource(repos(database, "one", "two"), database), tmp_path / "data"

    def exported() -> set[str]:
        return {t.full_name for t in read_theorems(data / "random" / "train.json")}

    for share in (0.3, 0.7, 1.0):
        attrs.evolve(everything, share=share).export(2, data)
        shown[share] = exported()
        told = json.loads((data / "metadata.json").read_text())
        assert told.get("human_share", 1.0) == share
        assert list(read_theorems(data / "random" / "val.json"))
        attrs.evolve(everything, share=share, hidden=True).export(2, data)
        assert not exported() & shown[share]
        both[share] = exported() | shown[share]
    assert set() < shown[0.3] < shown[0.7] < shown[1.0] == both[0.3] == both[0.7]
    trainer = SFTTrainer(str(tiny_model), tmp_path / "some", human_share=0.3, **one)
    trainer.train(repos(database, "one", "two"), database, data)
    assert exported() == shown[0.3]
    with pytest.raises(ConfigError, match="human_share must be a number from 0 to 1"):
        SFTTrainer(str(tiny_model), human_share=1.5)
    rest = GRPOTrainer(str(tiny_model), "constant", tmp_path / "out", human_share=0.3, **one)
    rest.train(repos(database, "one", "two"), database, data)  # what sft of that share has not seen
    assert exported() == shown[1.0] - shown[0.3]
    plain = GRPOTrainer(str(tiny_model), "constant", tmp_path / "out")
    assert plain.settings()["human_share"] == 0.0
    assert rest.settings()["human_share"] == 0.3
