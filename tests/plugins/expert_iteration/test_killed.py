"""A run killed with SIGKILL anywhere goes on with what was found."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

SCRIPT = Path(__file__).with_name("expert_process.py")
URL = "https://example.org/lean/lean4-tiny"


@pytest.fixture
def train(tmp_path, tiny_database, tiny_repository, tiny_model, run_script):
    def run(output, kill=None):
        folder = tmp_path / output
        folder.mkdir(exist_ok=True)
        if not (folder / "database.json").exists():
            shutil.copy(tiny_database, folder / "database.json")
        orders = {
            "database": str(folder / "database.json"),
            "model": str(tiny_model),
            "output_dir": str(folder / "out"),
            "data_path": str(folder / "data"),
            "projects": {URL: str(tiny_repository[0])},
            "options": {
                "batch_size": 2,
                "lr": 1e-3,
                "rounds": 2,
                "engines": 1,
                "trainer_args": {"save_steps": 2},
            },
            "kill": kill,
        }
        file = tmp_path / "orders.json"
        file.write_text(json.dumps(orders))
        return run_script(SCRIPT, LEAN_DOJO_TEST_ORDERS=str(file))

    return run


@pytest.mark.slow
def test_killed_again_and_again(train, tmp_path):
    assert train("whole") == 0
    for kill in (
        {"at": "proof", "number": 2},  # in the first search, before there is any state
        {"at": "step", "round": 0, "number": 3},
        {"at": "staged"},
        {"at": "proof", "number": 3},  # in the second search
        {"at": "step", "round": 1, "number": 5},
    ):
        assert train("killed", kill) == -signal.SIGKILL, kill
    assert train("killed") == 0
    whole, killed = tmp_path / "whole" / "out", tmp_path / "killed" / "out"
    expected, found = (load_file(path / "model.safetensors") for path in (whole, killed))
    assert all(torch.equal(found[name], weight) for name, weight in expected.items())
    assert (killed / "rounds.jsonl").read_bytes() == (whole / "rounds.jsonl").read_bytes()
    kept = [json.loads(line) for line in (killed / "proofs.jsonl").read_text().splitlines()]
    assert {row["problem"] for row in kept if row["round"] == 1} == {
        "Tiny.and_swap", "Tiny.trans'", "Tiny.uses_swap", "gap_term",
    }  # fmt: skip
    database = json.loads((tmp_path / "killed" / "database.json").read_text())
    assert database["repositories"][0]["num_sorry_theorems_proved"] == 1
