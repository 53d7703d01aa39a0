"""GRPO over whole proofs of a set of statements: no database, no human proof."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins.causal_lm.text.whole_proofs import WholeProof
from lean_dojo_plugins.grpo.trainer import PROOF_TOKENS, GRPOTrainer
from lean_dojo_plugins.training.statements import STATEMENT_COLUMNS, read_statements
from lean_dojo_v2.cli import main
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.runs import metrics

ROWS = [
    {"name": "a", "formal_statement": "theorem a (n : Nat) : n + 0 = n := by\n  sorry"},
    {"name": "b", "formal_statement": "theorem b : 1 + 1 = 2 := by", "header": "open Nat\n"},
    {"name": "c", "formal_statement": "theorem c : True :=", "split": "test"},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_held_out_statements_are_left_out_and_counted(file, capsys):
    found = read_statements(str(file))
    assert ([one.full_name for one in found.problems], found.held_out) == (["a", "b"], 1)
    found.say()
    assert "2 statements; 1 of held-out splits are left out" in capsys.readouterr().err
    rows = list(found.rows(WholeProof()))
    assert all(tuple(row) == STATEMENT_COLUMNS for row in rows)
    assert rows[1]["prompt"][-1]["content"] == "open Nat\n\ntheorem b : 1 + 1 = 2 :="
    file.write_text(json.dumps(ROWS[2]))
    with pytest.raises(EmptyDatasetError, match="never trained on"):
        read_statements(str(file))


def test_settings(file):
    trainer = GRPOTrainer("owner/model", "proof-verified", statements=file)
    assert trainer.writes_whole_proofs
    assert trainer.completion_length == PROOF_TOKENS
    assert GRPOTrainer("owner/model", "constant").settings()["statements"] is None
    with pytest.raises(ConfigError, match="choose one"):
        GRPOTrainer("owner/model", statements=file, episodes=True)
    with pytest.raises(UsageError, match="or on statements"):
        GRPOTrainer("owner/model", "constant").train()


def test_it_trains_on_a_file_alone(file, tiny_model, tmp_path, capsys):
    code = main([
        "train", "grpo", "--set", f"model_name={tiny_model}", "--set", f"statements={file}",
        "--set", f"output_dir={tmp_path / 'out'}", "--data-path", str(tmp_path / "data"),
        "--reward", "proof-verified", "--set", "batch_size=4",
        "--set", "trainer_args.num_generations=4", "--set", "trainer_args.max_completion_length=8",
    ])  # fmt: skip
    said = capsys.readouterr().err
    assert code == 0, said
    assert "2 statements" in said
    rows = metrics.read(tmp_path / "out")
    assert any("lean/unparsed" in row for row in rows)
    assert (tmp_path / "out" / "model.safetensors").exists()
