"""A completion is drawn by its own seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

from lean_dojo_plugins.grpo.sampling import drawn_by_seed, seed_of
from lean_dojo_v2.runs import metrics

URL = "https://example.org/lean/lean4-tiny"

SCRIPT = Path(__file__).with_name("sampling_process.py")
SHARDED = Path(__file__).parents[2] / "sharded.py"
PROMPTS = torch.tensor([[0, 5, 6], [0, 5, 6], [7, 8, 9]])
MASK = (PROMPTS > 0).long()


@pytest.fixture
def model() -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, pad_token_id=0, initializer_range=0.4,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval()


def drawn(model: Any, rows: list[int], *, share: bool = True, **options: Any) -> list[list[int]]:
    config = GenerationConfig(do_sample=True, max_new_tokens=6, pad_token_id=0, **options)
    seeds = [seed_of(row) for row in rows]
    with drawn_by_seed(model, seeds, share_prompts=share):
        ids = model.generate(
            input_ids=PROMPTS[rows], attention_mask=MASK[rows], generation_config=config
        )
    assert "generate" not in vars(model)
    return ids[:, 3:].tolist()


def test_a_row_is_the_same_in_every_batch(model: Any) -> None:
    every = drawn(model, [0, 1, 2])
    assert drawn(model, [2]) + drawn(model, [1, 0]) == [every[2], every[1], every[0]]
    assert drawn(model, [0, 1, 2], share=False) == every
    assert every[0] != every[1], "of one prompt"


def test_the_draw_is_from_what_the_configuration_leaves(model: Any) -> None:
    greedy = [one[0] for one in drawn(model, [0, 2], top_k=1)]
    logits = model(input_ids=PROMPTS[[0, 2]], attention_mask=MASK[[0, 2]]).logits[:, -1]
    assert greedy == logits.argmax(-1).tolist()
    assert [one[0] for one in drawn(model, [0, 2], temperature=1e-4)] == greedy


def options_of(what: str, tmp_path: Path, repository: Path) -> dict[str, Any]:
    """What a training of this kind sets."""
    if what == "tactics":
        return {"trainer_args": {"beta": 0.1}}
    if what == "episodes":
        return {
            "episodes": True, "episode_steps": 2, "replacements": 1, "engines": 1,
            "projects": {URL: str(repository)},
        }  # fmt: skip
    statements = tmp_path / "statements.jsonl"
    lines = [{"formal_statement": f"theorem t{n} : {n} + 0 = {n} := by"} for n in range(6)]
    statements.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {"statements": str(statements), "turns": 2}


@pytest.mark.slow
@pytest.mark.timeout(2000)
def test_two_processes_learn_what_one_learns(tiny_model, tiny_database, tiny_repository, tmp_path):
    """Two steps, each of two prompts and four completions of each, over two turns or steps.

    Also where each process holds a part of the weights.
    """
    kinds = ["tactics", "statements", "episodes"]
    launches = {"one": (1, [SCRIPT]), "two": (2, [SCRIPT]), "sharded": (2, [SHARDED, SCRIPT])}
    for name, (processes, scripts) in launches.items():
        orders = []
        for what in kinds:
            folder = tmp_path / name / what
            folder.mkdir(parents=True)
            options = options_of(what, tmp_path, tiny_repository[0])
            options |= {"batch_size": 8 // processes, "lr": 0.1}
            orders.append({
                "database": str(tiny_database), "model": str(tiny_model), "folder": str(folder),
                "options": options,
            })  # fmt: skip
        file = tmp_path / name / "orders.json"
        file.write_text(json.dumps(orders))
        done = subprocess.run(
            [
                sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(processes),
                "--standalone", *map(str, scripts), str(file),
            ],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
    for what in kinds:
        assert_same([tmp_path / name / what for name in launches])


def assert_same(folders: list[Path]) -> None:
    """The first training and the others have logged the same, and learned the same."""
    first, *others = (
        [row for row in metrics.read_metrics(folder / "out") if "loss" in row] for folder in folders
    )
    assert [row["step"] for row in first] == [1, 2]
    assert any(row["grad_norm"] > 0 for row in first)
    for other in others:
        for name in ("step", "loss", "grad_norm", "reward", "reward_std", "rewards/tokens/mean"):
            expected = pytest.approx([row[name] for row in first], rel=1e-3, abs=1e-5)
            assert [row[name] for row in other] == expected, (folders, name)
    weights = [torch.load(folder / "weights.pt") for folder in folders]
    for other in weights[1:]:
        torch.testing.assert_close(other, weights[0], rtol=1e-3, atol=1e-4)
