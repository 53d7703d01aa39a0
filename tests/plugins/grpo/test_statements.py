"""GRPO over whole proofs of a set of statements: no database, no human proof."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins.causal_lm.text.formatters import WholeProof
from lean_dojo_plugins.grpo.trainer import PROOF_TOKENS, GRPOTrainer
from lean_dojo_plugins.training import statements
from lean_dojo_plugins.training.hub_set import HubBenchmark
from lean_dojo_plugins.training.statements import STATEMENT_COLUMNS, StatementSource, statements_of
from lean_dojo_v2.cli import main
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.lean.errors import EngineUnavailableError
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


def test_what_is_left_out_is_counted(file, capsys):
    found = StatementSource(file).read()
    assert [one.full_name for one in found.problems] == ["a", "b"]
    found.say()
    said = capsys.readouterr().err
    assert "2 statements of 3\n" in said
    assert "left out: 1 (33.3 %) of held-out splits, such as c" in said
    rows = list(found.rows(WholeProof()))
    assert all(tuple(row) == STATEMENT_COLUMNS for row in rows)
    assert rows[1]["prompt"][-1]["content"] == "open Nat\n\ntheorem b : 1 + 1 = 2 :="
    file.write_text(json.dumps(ROWS[2]))
    with pytest.raises(EmptyDatasetError, match=r"nothing to train on.*of held-out splits"):
        StatementSource(file).read()


def test_a_held_out_set_and_other_columns(tmp_path):
    secret, file = tmp_path / "secret.jsonl", tmp_path / "set.jsonl"
    secret.write_text(json.dumps({"formal_statement": "theorem s (n : Nat) : n + 0 = n := sorry"}))
    texts = [
        "lemma mine (k : Nat) :\n  k + 0 = k := by sorry",
        "theorem t : 1 = 1 := by rfl",
        "theorem t : 2 = 2 := by",
        "-- nothing",
    ]
    file.write_text("".join(json.dumps({"code": text}) + "\n" for text in texts))
    source = statements_of(
        {"source": file, "columns": {"statement": "code"}, "held_out": str(secret)}
    )
    found = source.read().examined
    assert [(one.full_name, one.statement) for one in found.problems] == [
        ("t", "theorem t : 1 = 1 :="), ("t_2", "theorem t_2 : 2 = 2 :="),
    ]  # fmt: skip
    shown = {"source": str(secret), "columns": {"statement": "text"}}
    secret.write_text(secret.read_text().replace("formal_statement", "text"))
    again = attrs.evolve(source, held_out=[shown, "sample"]).read()
    assert again.examined.problems == found.problems
    assert found.with_proof == 1
    assert {str(reason): len(names) for reason, names in found.left_out.items()} == {
        "not a readable theorem": 1, "stating the same as a held-out one": 1,
    }  # fmt: skip
    assert found.lines()[0] == "2 statements of 4, 1 of which have a proof, which is not shown"
    with pytest.raises(ConfigError, match="Did you mean 'columns'"):
        statements_of({"source": "x", "column": {}})
    with pytest.raises(UsageError, match="'goal' is none of statement, name"):
        statements_of({"source": "x", "columns": {"goal": "y"}})


def test_what_is_held_out_and_cannot_be_read_is_said(file, tmp_path, capsys):
    secret = tmp_path / "secret.jsonl"
    rows = [{"formal_statement": "theorem s (k : Nat) : k + 0 = k :="}, {"goal": "1 = 1"}]
    secret.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = StatementSource(file, held_out=str(secret)).read()
    assert [one.full_name for one in found.problems] == ["b"]
    found.say()
    assert (
        "secret.jsonl: held out 1 of 2 rows; the others cannot be read, such"
        in capsys.readouterr().err
    )
    secret.write_text(json.dumps(rows[1]))
    with pytest.raises(EmptyDatasetError, match=r"held_out: there is nothing that can be read"):
        StatementSource(file, held_out=str(secret)).read()


@pytest.mark.slow
def test_a_data_set_of_the_hub(tmp_path):
    """A folder that `datasets` loads as it loads a name of the hub."""
    folder = tmp_path / "few"
    folder.mkdir()
    for split, text in (("train", "theorem a : 1 = 1 := sorry"), ("test", "theorem b : 2 = 2 :=")):
        row = {"uuid": "x", "formal_statement": f"import Lean\n\n{text}"}
        (folder / f"{split}.jsonl").write_text(json.dumps(row) + "\n")
    [problem] = StatementSource(f"hub:{folder}").read().problems
    assert (problem.full_name, problem.header, problem.split) == ("a", "import Lean\n\n", "train")
    with pytest.raises(EmptyDatasetError, match="of held-out splits, such as b"):
        StatementSource(f"hub:{folder}:test").read()
    assert HubBenchmark(f"{folder}:test").problems()[0].full_name == "b"
    row = {"formal_statement": "theorem other_name : 2 = 2 := sorry"}
    with (folder / "train.jsonl").open("a") as stream:
        stream.write(json.dumps({"uuid": "y", **row}) + "\n")
    found = StatementSource(f"hub:{folder}").read().examined
    assert found.lines()[1].endswith("stating the same as a held-out one, such as other_name")
    with pytest.raises(UsageError, match="has no split 'dev'; it has train, test"):
        HubBenchmark(f"{folder}:dev").problems()
    with pytest.raises(UsageError, match="hub:nobody/nothing: "):
        HubBenchmark("nobody/nothing").problems()


def test_what_lean_does_not_elaborate_is_left_out_once(file, tmp_path, capsys, monkeypatch):
    row = {"name": "broken", "formal_statement": "theorem broken : NoSuch.thing = 1 := by"}
    file.write_text(f"{file.read_text()}{json.dumps(row)}\n")
    found = StatementSource(file).read()
    kept = found.elaborated(tmp_path)
    assert [one.full_name for one in kept.problems] == ["a", "b"]
    said = capsys.readouterr().err
    assert "3 statements elaborated" in said
    assert "left out: 1 (33.3 %) that Lean does not elaborate, such as broken: " in said
    monkeypatch.setattr(statements.lean, "shared_engines", None)  # nothing is asked again
    assert found.elaborated(tmp_path, quiet=True) == kept
    assert capsys.readouterr().err == ""
    assert attrs.evolve(found, check=False).elaborated(tmp_path).problems == found.problems


def test_without_an_engine_nothing_is_left_out(file, tmp_path, monkeypatch):
    monkeypatch.setenv("LEAN_DOJO_ENGINE", "native")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(EngineUnavailableError):
        StatementSource(file).read().elaborated(tmp_path / "out")
    assert not (tmp_path / "out" / "statements.jsonl").exists()


def test_settings(file):
    trainer = GRPOTrainer("owner/model", "proof-verified", statements=file)
    assert trainer.writes_whole_proofs
    assert trainer.completion_length == PROOF_TOKENS
    assert GRPOTrainer("owner/model", "constant").settings()["statements"] is None
    long = (
        "in each of 2 turns, and an error 256: no room is left.* raise max_length well above 1280"
    )
    with pytest.raises(ConfigError, match=long):
        GRPOTrainer("owner/model", "proof-verified", statements=file, turns=2)
    with pytest.raises(ConfigError, match="choose one"):
        GRPOTrainer("owner/model", statements=file, episodes=True)
    with pytest.raises(UsageError, match="or statements"):
        GRPOTrainer("owner/model", "constant").train()


class Told:
    """A reward that wants another proof of ``a`` every time, and none of the others."""

    def __call__(self, completions, full_name, **_):
        self.rewarded = list(completions)
        return [float(len(text)) for text in completions]

    def feedback(self, completions, full_name, **_):
        told = [f"{name} is not proved" if name == "a" else None for name in full_name]
        self.asked = [*getattr(self, "asked", []), list(full_name)]
        return told


def test_what_is_wrong_comes_back_as_the_next_message(file, tiny_model, tmp_path):
    reward = Told()
    trainer = GRPOTrainer(
        tiny_model, reward, tmp_path / "out", batch_size=4, turns=3, device="cpu",
        statements={"source": file, "check": False},
        trainer_args={"num_generations": 2, "max_completion_length": 6, "max_steps": 1},
    )  # fmt: skip
    seen = []
    build = trainer.build_step_trainer

    def watched(dataset, step):
        built = build(dataset, step)
        built.eos_token_ids = list(range(0, 5000, 2))  # turns do end
        built.generation_kwargs["eos_token_id"] = built.eos_token_ids
        built.generation_config.eos_token_id = built.eos_token_ids
        scored = built._generate_and_score_completions
        built._generate_and_score_completions = lambda rows: seen.append(scored(rows)) or seen[-1]
        built.played = built.turns
        seen.append(built)
        return built

    trainer.build_step_trainer = watched
    trainer.train()
    built, output = seen[:2]
    assert reward.asked[0] == ["a", "a", "b", "b"] or reward.asked[0] == ["b", "b", "a", "a"]
    talks = built.turns.played
    assert {one.turns for one in talks if one.row["full_name"] == "b"} == {1}
    longest = max(talks, key=lambda one: one.turns)
    assert longest.turns > 1
    text = trainer.tokenizer.decode(longest.completion)
    assert text.count("a is not proved") == longest.turns - 1
    told = [token for token, own in zip(longest.completion, longest.mask, strict=True) if not own]
    assert "a is not proved" in trainer.tokenizer.decode(told)
    mask = output["tool_mask"]
    assert int((mask == 0).sum()) == sum(one.mask.count(0) for one in talks)
    assert reward.rewarded == [one.last for one in talks]
    [row] = [row for row in metrics.read_metrics(tmp_path / "out") if "turns/mean" in row]
    assert row["turns/mean"] == sum(one.turns for one in talks) / 4


def test_turns_need_a_reward_that_says_what_is_wrong(file):
    for options in ({"statements": file}, {}):
        with pytest.raises(ConfigError, match="turns above 1 need statements, and a reward that"):
            GRPOTrainer("owner/model", "constant", turns=2, **options)


def test_a_dry_run_reads_the_set_and_what_is_held_out(file, tiny_model, capsys):
    command = ["train", "grpo", "--set", f"model_name={tiny_model}", "--reward", "proof-verified",
               "--dry-run", "--set", f"statements.source={file}"]  # fmt: skip
    assert main([*command, "--set", f"statements.held_out={file}"]) == 1
    assert "nothing to train on: left out: 1 (33.3 %) of held-out splits" in capsys.readouterr().err
    held = f'statements.held_out=["sample", {{"source": "{file}"}}]'
    assert main([*command, "--set", held]) == 1
    assert "stating the same as a held-out one, such as a" in capsys.readouterr().err
    file.unlink()
    assert main(command) == 2
    assert "set.jsonl: there is no such file" in capsys.readouterr().err


def test_a_preview_shows_the_statements_without_a_human_proof(file, tiny_model, capsys):
    command = ["preview", "grpo", "--set", f"model_name={tiny_model}", "--reward", "constant"]
    assert main([*command, "--set", f"statements={file}", "-n", "2"]) == 0
    said = capsys.readouterr().out
    assert f"--- example 1: a ({file})" in said
    assert "theorem b : 1 + 1 = 2" in said
    assert said.count(" 0 with loss") == 2
    assert "⟦" not in said


def test_it_trains_on_a_file_alone(file, tiny_model, tmp_path, capsys):
    code = main([
        "train", "grpo", "--set", f"model_name={tiny_model}", "--set", f"statements={file}",
        "--set", f"output_dir={tmp_path / 'out'}", "--data-path", str(tmp_path / "data"),
        "--reward", "proof-verified", "--set", "batch_size=4",
        "--set", "trainer_args.num_generations=4", "--set", "trainer_args.max_completion_length=8",
    ])  # fmt: skip
    said = capsys.readouterr().err
    assert code == 0, said
    assert "2 statements of 3" in said
    assert "2 statements elaborated" in said
    rows = metrics.read_metrics(tmp_path / "out")
    assert any("lean/unparsed" in row for row in rows)
    assert (tmp_path / "out" / "model.safetensors").exists()


@pytest.mark.slow
def test_two_processes_share_the_statements(file, tiny_model, tmp_path):
    command = [
        sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone",
        "-m", "lean_dojo_v2", "train", "grpo", "--set", "device=cpu",
        "--set", f"model_name={tiny_model}", "--set", f"statements={file}",
        "--set", f"output_dir={tmp_path / 'out'}", "--data-path", str(tmp_path / "data"),
        "--reward", "proof-verified", "--set", "turns=2", "--set", "batch_size=4",
        "--set", "trainer_args.num_generations=4", "--set", "trainer_args.max_steps=2",
        "--set", "trainer_args.max_completion_length=8", "--set", "trainer_args.logging_steps=1",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "2 prompts per optimiser step (4 completions x 1 pass x 2 processes)" in done.stderr
    assert done.stderr.count("2 statements elaborated") == 1
    assert done.stderr.count("2 statements of 3") == 1
    rows = [row for row in metrics.read_metrics(tmp_path / "out") if "turns/mean" in row]
    assert [row["step"] for row in rows] == [1, 2]
    assert all(1 <= row["turns/mean"] <= 2 for row in rows)
    assert (tmp_path / "out" / "model.safetensors").exists()
