"""Experiments that have no test of their own run to their end on a tiny setting."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lean_dojo_plugins.api import build_tiny_model
from lean_dojo_v2.sample import sample_database_path

FOLDER = Path(__file__).parents[2] / "experiments"
DATA = FOLDER.parent / "tests" / "data"
TINY = {
    "advance": "--steps 2 --states 1 --json",
    "export": "--theorems 50",
    "forgetting": "out --seeds 0 --strengths 0 --epochs 1 1",
    "generate_database": "database.sqlite --theorems 20 --repositories 1",
    "grpo": "--steps 1 --goals 8 --samples 1 --plain-steps 0",
    "premises": "out --seeds 0 --epochs 1 --limit 1",
    "progress": "--examples 16 --max-length 64",
    "retrieval": "corpus",
    "search": "--theorems 2 --expansions 1 --samples 2 --rounds 1",
    "serve": "--rounds 1 --clients 2 --proofs 8 --tactics 8",
    "sft": "--layers 1 --hidden 72 --vocabulary 2048 --steps 2 --batch 1",
    "startup": "1",
    "tracing": f"--project {DATA / 'human_project'} --repeat 1",
    "whole_proofs": "out --seeds 0 --steps 1 --rounds 1 --limit 1 --attempts 1",
}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", TINY)
def test_it_runs_to_its_end(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / f"{name}.py"), *TINY[name].split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_pretrained_model_goes_through_every_stage(tmp_path: Path) -> None:
    texts = sample_database_path().read_text(encoding="utf-8")[:200_000].split("\n")
    model = build_tiny_model(texts, tmp_path / "model", layers=1, hidden_size=32, heads=2)
    sizes = "--limit 1 --lean-calls 6 --steps 1 --batch 2 --grpo-steps 1 --json"
    command = [sys.executable, str(FOLDER / "pretrained.py"), str(tmp_path / "out"), str(model)]
    done = subprocess.run([*command, *sizes.split()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert min(found["samples a second"].values()) > 0
    rows = {row["stage"]: row for row in found["stages"]}
    measured = {name for name, row in rows.items() if "proved" in row}
    assert measured == {
        "automation", *(f"{one}{how}" for one in ("shipped", "before", "after") for how in ("", "-alone"))
    }  # fmt: skip
    assert rows.keys() - measured == {"sft", "expert-iteration", "grpo"}
    assert all(row["megabytes"] > 100 and row["seconds"] > 0 for row in rows.values())
