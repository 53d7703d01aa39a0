"""A run killed with SIGKILL anywhere goes on with what was found; so do several processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

SCRIPT = Path(__file__).with_name("expert_process.py")
SERVER = Path(__file__).parents[2] / "answering_server.py"
URL = "https://example.org/lean/lean4-tiny"


@pytest.fixture
def train(tmp_path, tiny_database, tiny_repository, tiny_model, run_script):
    def run(output, kill=None, processes=1, batch=2, **options):
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
                "batch_size": batch // processes,
                "lr": 1e-3,
                "rounds": 2,
                "engines": 1,
                "trainer_args": {"save_steps": 2},
                **options,
            },
            "kill": kill,
        }
        file = tmp_path / "orders.json"
        file.write_text(json.dumps(orders))
        if processes == 1:
            return run_script(SCRIPT, LEAN_DOJO_TEST_ORDERS=str(file))
        launcher = ["-m", "torch.distributed.run", "--nproc_per_node", str(processes)]
        return subprocess.run(
            [sys.executable, *launcher, "--standalone", str(SCRIPT)],
            env={**os.environ, "LEAN_DOJO_TEST_ORDERS": str(file), "OMP_NUM_THREADS": "1"},
            timeout=400,
            check=False,
        ).returncode

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


def rows(file):
    return sorted(file.read_text().splitlines())


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_processes_find_and_learn_what_one_does_also_when_one_is_killed(train, tmp_path):
    assert train("one") == 0
    assert train("two", {"at": "proof", "number": 1}, processes=2) != 0
    assert train("two", {"at": "step", "round": 1, "number": 3}, processes=2) != 0
    assert train("two", processes=2) == 0
    same(tmp_path / "one", tmp_path / "two")


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_four_processes_find_and_learn_what_one_does_and_share_a_server(train, tmp_path):
    command = f"{sys.executable} -S {SERVER} {{model}} {{port}}"
    # Of 18 rows; a batch of fewer than four would be filled up for four processes.
    shared = {"batch": 4, "trainer_args": {"max_steps": 4}}
    assert train("one", **shared) == 0
    assert train("four", processes=4, server_command=command, **shared) == 0
    same(tmp_path / "one", tmp_path / "four")
    rounds = tmp_path / "four" / "out" / "rounds"
    logs = [(rounds / number / "server.log").read_text() for number in "12"]
    assert [log.count("serving") for log in logs] == [1, 1], "one for the machine"
    assert f"serving {tmp_path / 'four' / 'out'} RANK=None" in logs[1]


def same(first, second):
    """See that two runs found and learned the same."""
    one, two = first / "out", second / "out"
    assert (two / "rounds.jsonl").read_bytes() == (one / "rounds.jsonl").read_bytes()
    assert rows(two / "negatives.jsonl") == rows(one / "negatives.jsonl")
    assert set(rows(two / "proofs.jsonl")) == set(rows(one / "proofs.jsonl"))
    for number in "12":
        tried = [
            {json.loads(row)["name"] for row in rows(at / "rounds" / number / "prover.jsonl")}
            for at in (one, two)
        ]
        assert tried[0] == tried[1]
    learned = [
        json.loads((at / "training_state.json").read_text())["finished"] for at in (one, two)
    ]
    assert learned[0] == learned[1], "the same rows, by their digest, in as many steps"
    weights = [load_file(at / "model.safetensors") for at in (one, two)]
    off = torch.cat([(weights[1][name] - one).abs().flatten() for name, one in weights[0].items()])
    # Where a gradient is nearly 0, its last digit decides which way Adam's first steps go.
    assert off.gt(1e-4).float().mean() < 0.002
    database = json.loads((second / "database.json").read_text())
    assert database["repositories"][0]["num_sorry_theorems_proved"] == 1
