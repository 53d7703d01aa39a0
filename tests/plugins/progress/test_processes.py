"""Progress training in processes that are killed, and in two at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_plugins.progress.estimator import ProgressModel

SCRIPT = Path(__file__).with_name("training_process.py")
TORCHRUN = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone"]


def run(
    folder: Path, *launcher: str, options: dict[str, Any], **orders: Any
) -> subprocess.CompletedProcess[str]:
    """Train to ``folder/out`` in processes of their own."""
    folder.mkdir(exist_ok=True)
    options = {"output_dir": str(folder / "out"), "device": "cpu", **options}
    options["trainer_args"] = {"logging_steps": 1}
    (folder / "orders.json").write_text(json.dumps({"options": options, **orders}))
    return subprocess.run(
        [sys.executable, *launcher, str(SCRIPT), str(folder / "orders.json")],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def metrics(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


def rows_of_steps(folder: Path, processes: int) -> list[set[tuple[int, ...]]]:
    """The rows that each step trained on, of all processes together."""
    texts = [(folder / f"seen-{rank}.jsonl").read_text() for rank in range(processes)]
    parts = [[json.loads(line) for line in text.splitlines()] for text in texts]
    return [{tuple(row) for part in step for row in part} for step in zip(*parts, strict=False)]


@pytest.mark.slow
def test_two_processes_train_like_one_and_go_on_when_killed(tmp_path, traced, encoder):
    """One exports and writes; the same batches, split; after a kill the same checkpoint."""
    orders = {"database": str(traced)}
    options = {"model_name": encoder, "max_length": 64, "epochs": 3, "learning_rate": 1e-3}
    one, two = tmp_path / "one", tmp_path / "two"
    alone = run(one, options={"batch_size": 8, **options}, data_path=str(one), **orders)
    assert alone.returncode == 0, alone.stderr
    expected = rows_of_steps(one, 1)
    per_epoch = len(expected) // 3
    split = {"batch_size": 4, **options}
    orders["data_path"] = str(two)
    killed = run(two, *TORCHRUN, options=split, **orders, **{"die at": per_epoch + 2})
    assert killed.returncode != 0
    begun = rows_of_steps(two, 2)
    assert len(begun) >= per_epoch + 2
    done = run(two, *TORCHRUN, options=split, **orders)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("Progress model saved") == 1
    assert done.stderr.count("held-out proofs: mse") == 1
    assert (two / "exports").read_text() == "00"  # by the first process, in each run
    for found, wanted in ((begun, expected), (rows_of_steps(two, 2), expected[per_epoch:])):
        for mine, theirs in zip(found, wanted, strict=False):
            # At the end of an epoch accelerate repeats rows so that every process gets as many.
            assert mine == theirs if len(theirs) == 8 else mine >= theirs
    assert len(rows_of_steps(two, 2)) == 2 * per_epoch
    states = [json.loads((at / "out" / "training_state.json").read_text()) for at in (one, two)]
    assert states[0]["finished"] == states[1]["finished"]
    steps = [row["step"] for row in metrics(two / "out") if "loss" in row]
    assert steps == list(range(1, 3 * per_epoch + 1))  # written once
    assert len([row for row in metrics(two / "out") if "eval_mse" in row]) == 3
    assert len(ProgressModel(two / "out", device="cpu").predict([("⊢ p", "", "simp")])) == 1
