"""A model of random weights learns to read goals and tactics."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from lean_dojo_core import Theorem
from lean_dojo_plugins.causal_lm.text.formatters import TacticChat
from lean_dojo_plugins.causal_lm.text.tokenisation import Tokeniser
from lean_dojo_plugins.demo.pretraining import TACTIC_WEIGHT, _Collator, pretrain
from lean_dojo_plugins.demo.tiny_model import build_tiny_model
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.sample import sample_database_path


@pytest.fixture(scope="module")
def theorems(tmp_path_factory: pytest.TempPathFactory) -> list[Theorem]:
    file = tmp_path_factory.mktemp("data") / "sample.json"
    shutil.copy(sample_database_path(), file)
    [smaller] = [r for r in DynamicDatabase(file).repositories if r.total_theorems < 200]
    return smaller.proven_theorems[:30]


def losses(model_path: Path, theorems: list[Theorem]) -> tuple[float, float]:
    """Mean loss of the goals' tokens, and of the tactics'."""
    tokenizer: Any = AutoTokenizer.from_pretrained(model_path)
    model: Any = AutoModelForCausalLM.from_pretrained(model_path).eval()
    rows = [row for theorem in theorems for row in TacticChat().rows(theorem)]
    goals, tactics = [], []
    for example in Tokeniser(tokenizer, 512).examples(rows):
        ids = torch.tensor([example.input_ids])
        with torch.inference_mode():
            scores = torch.log_softmax(model(ids).logits[0, :-1].float(), -1)
        each = -scores.gather(1, ids[0, 1:, None]).squeeze(1)
        is_tactic = torch.tensor(example.labels[1:]) != -100
        goals.append(each[~is_tactic].mean())
        tactics.append(each[is_tactic].mean())
    return float(torch.stack(goals).mean()), float(torch.stack(tactics).mean())


def test_goals_and_tactics_are_learnt_and_the_result_is_whole(
    tmp_path: Path, theorems: list[Theorem], capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [row["prompt"][-1]["content"] for t in theorems for row in TacticChat().rows(t)]
    start = build_tiny_model(texts, tmp_path / "start", hidden_size=32, layers=2, heads=2)
    before = losses(start, theorems)
    capsys.readouterr()
    folder = pretrain(start, theorems, tmp_path / "read", max_steps=40, batch_size=8, lr=5e-3)
    assert "%|" not in capsys.readouterr().err  # no bar where there is no terminal
    after = losses(folder, theorems)
    assert after[0] < 0.7 * before[0]
    assert after[1] < 0.7 * before[1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["read", "start"]
    assert AutoTokenizer.from_pretrained(folder).chat_template


LEARNER = """
import sys
from pathlib import Path
from lean_dojo_plugins.demo.pretraining import pretrain
from lean_dojo_v2.database.export.read import read_theorems
start, data, folder = map(Path, sys.argv[1:])
pretrain(start, read_theorems(data), folder, max_steps=24, batch_size=8, lr=5e-3)
"""


def test_killed_it_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    file = tmp_path / "sample.json"
    shutil.copy(sample_database_path(), file)
    database = DynamicDatabase(file)
    smaller = min(database.repositories, key=lambda r: r.total_theorems)
    database.export_merged_data([smaller], tmp_path / "data")
    data = tmp_path / "data" / "random" / "val.json"
    texts = [r["prompt"][-1]["content"] for t in read_theorems(data) for r in TacticChat().rows(t)]
    start = build_tiny_model(texts, tmp_path / "start", hidden_size=32, layers=2, heads=2)
    whole, killed = tmp_path / "whole", tmp_path / "killed"

    def command(folder: Path) -> list[str]:
        return [sys.executable, "-c", LEARNER, str(start), str(data), str(folder)]

    subprocess.run(command(whole), check=True)
    process = subprocess.Popen(command(killed))
    partial = tmp_path / "killed.partial"
    while process.poll() is None and not any(partial.glob("checkpoint-*/trainer_state.json")):
        time.sleep(0.02)
    process.kill()
    assert process.wait() < 0  # it was under way
    assert not killed.exists()
    subprocess.run(command(killed), check=True)
    assert not partial.exists()
    mine, other = (load_file(folder / "model.safetensors") for folder in (killed, whole))
    assert all(torch.equal(mine[name], other[name]) for name in other)
    assert sorted(p.name for p in killed.iterdir()) == sorted(p.name for p in whole.iterdir())


def test_tactics_weigh_more_and_padding_nothing() -> None:
    rows = [
        {"input_ids": [5, 6, 7, 8], "labels": [-100, -100, 7, 8]},
        {"input_ids": [5, 9], "labels": [-100, 9]},
    ]
    batch = _Collator(pad_token_id=0)(rows)
    assert batch["input_ids"].tolist() == [[5, 6, 7, 8], [5, 9, 0, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]
    assert batch["weights"].tolist() == [
        [1, 1, TACTIC_WEIGHT, TACTIC_WEIGHT],
        [1, TACTIC_WEIGHT, 0, 0],
    ]
