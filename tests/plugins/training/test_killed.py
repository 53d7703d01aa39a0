"""Runs killed with SIGKILL go on as if nothing had been: every trainer, at the same points."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from small_worlds import FRUIT, METAL, repository
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

from lean_dojo_v2.database import DynamicDatabase

SCRIPT = Path(__file__).with_name("killed_process.py")
LORA = {"r": 4, "target_modules": ["q_proj", "v_proj"], "lora_dropout": 0.1}
KILLS = {
    "in the first checkpoint": {"at": "checkpoint"},
    "after a checkpoint": {"after": 5},
    "model written, not announced": {"at": "trained"},
    "model in its place, not recorded": {"at": "recorded"},
    "after a checkpoint of the next repository": {"after": 3},
}


@pytest.fixture
def options(tiny_model, encoder, encoder_folder, tmp_path) -> Callable[[str, str], dict[str, Any]]:
    """The settings of a training in six steps a repository that saves every second one."""
    steps = {"save_steps": 2, "max_steps": 6, "logging_steps": 1}

    def of(case: str, output: str) -> dict[str, Any]:
        folder = str(tmp_path / output)
        if case == "retrieval":
            return {
                "model_name": str(encoder_folder), "max_seq_len": 64, "num_workers": 0,
                "precision": "32-true", "accelerator": "cpu", "batch_size": 8, "lr": 1e-3,
                "accumulate_grad_batches": 1, "max_epochs": 2, "checkpoint_every_n_steps": 2,
                "log_every_n_steps": 1,
                "checkpoint_dir": folder, "log_dir": f"{folder}-log",
            }  # fmt: skip
        if case == "progress":
            return {
                "model_name": encoder, "output_dir": folder, "max_length": 64, "epochs": 3,
                "batch_size": 8, "learning_rate": 3e-3, "device": "cpu",
                "trainer_args": {"logging_steps": 1},
            }  # fmt: skip
        causal = {
            "model_name": str(tiny_model), "output_dir": folder, "batch_size": 2, "lr": 1e-3,
            "device": "cpu", "trainer_args": steps,
        }  # fmt: skip
        if case == "grpo":
            more = {"num_generations": 2, "max_completion_length": 8}
            causal |= {"reward_func": "length-penalised", "trainer_args": {**steps, **more}}
        return causal | ({"lora_config": LORA} if case == "sft with LoRA" else {})

    return of


@pytest.fixture
def run(traced, tmp_path, run_script, options) -> Callable[..., int]:
    def started(case: str, output: str, kill: dict[str, Any] | None = None) -> int:
        database = traced
        if case in {"retrieval", "progress"}:
            database = tmp_path / "database.json"
            if not database.exists():
                made = DynamicDatabase(database)
                for name, words in (("alpha", FRUIT), ("beta", METAL)):
                    made.add_repository(repository(name, words, repeats=8))
        orders = {
            "trainer": case.partition(" ")[0], "options": options(case, output),
            "database": str(database), "data_path": str(tmp_path / f"{output}-data"),
            "kill": kill or {},
        }  # fmt: skip
        file = tmp_path / "orders.json"
        file.write_text(json.dumps(orders))
        raid = str(tmp_path / "raid")
        return run_script(SCRIPT, LEAN_DOJO_TEST_ORDERS=str(file), RAID_DIR=raid)

    return started


def loads(case: str, folder: Path) -> None:
    """Whatever is in the folder can be loaded."""
    if not (folder / "config.json").exists():
        return
    AutoTokenizer.from_pretrained(folder)
    kind = AutoModelForSequenceClassification if case == "progress" else AutoModelForCausalLM
    kind.from_pretrained(folder)


def weights(case: str, folder: Path) -> dict[str, torch.Tensor]:
    if case == "retrieval":
        record = json.loads((folder / "training_state.json").read_text())
        last = torch.load(folder / record["finished"][-1]["model"], weights_only=True)
        return last["state_dict"]
    [file] = folder.glob("*model.safetensors")
    return load_file(file)


def steps_of(folder: Path) -> list[list[int]]:
    """The steps whose loss was logged, in each file of metrics."""
    found = []
    for file in sorted(folder.rglob("metrics.jsonl")):
        rows = map(json.loads, file.read_text().splitlines())
        found.append([row["step"] for row in rows if {"loss", "loss_train"} & row.keys()])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("case", ["sft", "sft with LoRA", "grpo", "progress", "retrieval"])
def test_killed_again_and_again_ends_as_if_nothing_had_been(case, run, tmp_path):
    assert run(case, "whole") == 0
    output = tmp_path / "killed"
    kills = dict(KILLS)
    if case == "progress":  # one step, whose checkpoints are those of its epochs
        kills["after a checkpoint"] = {"after": 7}
        del kills["after a checkpoint of the next repository"]
    for point, kill in kills.items():
        assert run(case, "killed", kill) == -signal.SIGKILL, point
        loads(case, output)
    assert run(case, "killed") == 0

    expected, found = weights(case, tmp_path / "whole"), weights(case, output)
    assert found.keys() == expected.keys()
    if case != "grpo":  # what it samples between two checkpoints is sampled anew
        for name, weight in expected.items():
            assert torch.allclose(found[name], weight, atol=1e-6), name
    assert steps_of(output) == steps_of(tmp_path / "whole")  # none lost, none twice
    assert all(steps_of(output))
    left = {path.name for path in output.iterdir()}
    assert not left & {"checkpoints", ".staging"}
    forgetting = [folder / "forgetting.json" for folder in (output, tmp_path / "whole")]
    if case == "retrieval":
        first, second = (json.loads(file.read_text())["steps"] for file in forgetting)
        assert [row["values"] for row in first] == [row["values"] for row in second]
