"""Runs killed with SIGKILL go on as if nothing had been; real processes, real kills."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

SCRIPT = Path(__file__).with_name("training_process.py")
URLS = [f"https://example.org/lean/{name}" for name in ("one", "two", "three")]


@pytest.fixture
def train(tmp_path, traced, tiny_model, run_script) -> Callable[..., int]:
    def run(output: str, kill: dict[str, Any] | None = None, **options: Any) -> int:
        orders = {
            "database": str(traced),
            "model": str(tiny_model),
            "output_dir": str(tmp_path / output),
            "data_path": str(tmp_path / f"{output}-data"),
            "repositories": [[url, "c" * 40] for url in URLS],
            "options": {
                "batch_size": 2,
                "lr": 1e-3,
                "epochs_per_repo": 2,
                "trainer_args": {"save_steps": 3},
                **options,
            },
            "kill": kill or {},
        }
        file = tmp_path / "orders.json"
        file.write_text(json.dumps(orders))
        return run_script(SCRIPT, LEAN_DOJO_TEST_ORDERS=str(file))

    return run


def state_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "training_state.json").read_text())


def test_killed_again_and_again_ends_with_the_same_weights(train, tmp_path):
    assert train("whole") == 0
    whole = state_of(tmp_path / "whole")
    per_step = [step["optimizer_steps"] for step in whole["finished"]]
    epoch = per_step[1] // 2
    kills = [
        {"repository": 0, "step": 2},  # before anything was saved
        {"repository": 1, "at": "export"},  # between repositories
        {"repository": 1, "step": epoch // 2 + 1},  # inside the first epoch
        {"repository": 1, "at": "checkpoint"},  # in the middle of writing a checkpoint
        {"repository": 1, "step": epoch + 4},  # inside the second epoch
        {"repository": 1, "at": "staged"},  # model written, not announced
        {"repository": 1, "at": "announced"},  # half moved in
        {"repository": 2, "at": "moved"},  # moved in, not recorded
    ]
    output = tmp_path / "killed"
    for kill in kills:
        assert train("killed", kill) == -signal.SIGKILL, kill
        if (output / "config.json").exists():
            AutoModelForCausalLM.from_pretrained(output)
            AutoTokenizer.from_pretrained(output)
    assert train("killed") == 0

    killed = state_of(output)
    assert killed["pending"] is None
    assert [step["optimizer_steps"] for step in killed["finished"]] == per_step
    expected = load_file(tmp_path / "whole" / "model.safetensors")
    found = load_file(output / "model.safetensors")
    assert found.keys() == expected.keys()
    for name, weight in expected.items():
        assert torch.equal(found[name], weight), name
    assert not (output / "checkpoints").exists()
    assert not (output / ".staging").exists()
    steps = [
        row["step"]
        for row in map(json.loads, (output / "metrics.jsonl").read_text().splitlines())
        if "loss" in row
    ]
    assert steps == list(range(1, sum(per_step) + 1))  # none lost, none twice


def test_a_killed_adapter_run_goes_on(train, tmp_path):
    lora = {"r": 4, "target_modules": ["q_proj", "v_proj"], "lora_dropout": 0.1}
    assert train("whole", lora_config=lora) == 0
    assert train("killed", {"repository": 1, "step": 5}, lora_config=lora) == -signal.SIGKILL
    assert train("killed", lora_config=lora) == 0
    expected = load_file(tmp_path / "whole" / "adapter_model.safetensors")
    found = load_file(tmp_path / "killed" / "adapter_model.safetensors")
    assert all(torch.equal(found[name], weight) for name, weight in expected.items())
