"""Rounds of search and training: what is searched, found, learned and written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lean_dojo_core import registry
from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins.causal_lm.text.formatters import WholeProof
from lean_dojo_plugins.expert_iteration.problems import gather
from lean_dojo_plugins.training.data import is_in_share
from lean_dojo_plugins.training.run_folder import FinishedStep, RunFolder, RunState
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.prover.base import PROGRESS_VARIABLE

PROVED = {"Tiny.and_swap", "Tiny.trans'", "Tiny.uses_swap", "gap_term"}


def lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_what_is_held_out_is_no_problem(database, tmp_path):
    file = tmp_path / "more.jsonl"
    rows = [
        {"name": "fresh", "formal_statement": "theorem fresh : 2 + 2 = 4"},
        # Tiny.two of the test split, under another name.
        {
            "name": "copy",
            "formal_statement": "@[simp] private lemma copy (n : Nat)\n (h:n=2) : -- so\n n+1 = 3 := by",
        },
        {"name": "secret", "formal_statement": "theorem secret : 1 = 1", "split": "test"},
        {"name": "same", "formal_statement": "theorem same : 1 = 1 := by"},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = gather(["training", "sorry", str(file)], database.repositories, {})
    assert {one.full_name for one in found.problems} == {
        *PROVED, "Tiny.uses_trans", "Tiny.gap_false", "fresh",
    }  # fmt: skip
    # Tiny.self_imp and Tiny.or_left of the training split say what theorems of val say.
    assert set(found.left_out) == {
        "Tiny.self_imp", "Tiny.or_left", "Tiny.gap_pair", "gap_chain", "copy", "secret",
        "same",
    }  # fmt: skip
    assert all(one.theorem is None or not one.theorem.traced_tactics for one in found.problems)
    with pytest.raises(EmptyDatasetError, match="there are no problems: training has"):
        gather(["training"], [], {})
    alone = gather([str(file)], [], {}, others=database.repositories)  # another call's repository
    assert set(alone.left_out) == {"copy", "secret", "same"}


def test_what_is_hidden_is_what_is_not_learned(database):
    """Of the training theorems: those whose human proofs ``human_share`` leaves out."""
    repositories = database.repositories
    every = {one.full_name for one in gather(["training"], repositories, {}).problems}
    found = [
        {one.full_name for one in gather(["hidden"], repositories, {}, human_share=s).problems}
        for s in (0.0, 0.5)
    ]
    shown = {
        theorem.full_name
        for repository in repositories
        for theorem in repository.iter_theorems()
        if is_in_share(theorem, 0.5)
    }
    assert found[0] == every
    assert set() < found[1] == every - shown < every


def test_a_run(self_train, tmp_path, database, capsys, monkeypatch):
    monkeypatch.setenv(PROGRESS_VARIABLE, "no-such-model")  # guides no search of a training
    trainer = self_train(rounds=2, keep_trees=True)
    output = tmp_path / "out"
    first, second = lines(output / "rounds.jsonl")
    assert (first["tried"], first["proved"], first["new"]) == (6, 4, 4)
    assert (second["tried"], second["proved"], second["new"]) == (6, 4, 0)
    assert second["distinct_proofs"] == 4  # found twice, learned once
    assert trainer.searched == [trainer.model_name, trainer.output_dir]
    said = capsys.readouterr().err
    assert "6 problems; 4 theorems left out" in said
    assert "round 1: 4 of 6 problems proved, 4 for the first time" in said

    found = lines(output / "proofs.jsonl")
    assert found == sorted(found, key=lambda row: (row["round"], row["problem"]))
    proofs = {row["problem"]: row for row in found}
    assert proofs.keys() == PROVED
    before, tactic, after = proofs["Tiny.trans'"]["steps"][0]
    assert (tactic, after.partition("⊢ ")[2]) == ("rw [hab]", "b = c")
    assert before.endswith("⊢ a = c")

    learned = list(read_theorems(output / "rounds" / "data" / "random" / "train.json"))
    tactics = [t.tactic for one in learned for t in one.traced_tactics]
    assert tactics.count("exact ⟨h.2, h.1⟩") == 1  # found
    assert tactics.count("exact h.2") == 1  # human
    assert tactics.count("rw [hab]") == 1  # both
    [step] = [one for one in learned if one.full_name == "gap_term"]
    assert [t.tactic for t in step.traced_tactics] == ["rfl"]

    negatives = lines(output / "negatives.jsonl")
    of_swap = {(row["rejected"], row["verdict"]) for row in negatives if "swap" in row["problem"]}
    assert ("exact h", "failed") in of_swap
    assert all(row["chosen"] != row["rejected"] for row in negatives)
    assert len({json.dumps(row) for row in negatives}) == len(negatives)
    assert (output / "rounds" / "1" / "trees" / "prover" / "Tiny.and_swap.json").exists()

    [repository] = database.repositories
    [proved] = repository.sorry_theorems_proved
    assert proved.full_name == "gap_term"
    assert proved.traced_tactics[0].state_before.endswith("⊢ n = n")
    [line] = lines(tmp_path / "proofs.jsonl")  # beside the database, for patches
    assert line["proof"] == "rfl"
    assert trainer.evaluate(tmp_path / "out-data", "val").examples > 0


def test_whole_proofs_are_sampled_and_learned_as_a_whole(self_train, tmp_path, database, capsys):
    self_train(rounds=1, whole_proof=True, attempts=12, human_share=0.5)
    [row] = lines(tmp_path / "out" / "rounds.jsonl")
    assert (row["tried"], row["samples"], row["expansions"]) == (6, 72, 0)
    assert 6 < row["lean_calls"] <= 24  # four proofs are written, each is checked once
    assert row["proved"] >= 3
    proofs = {one["problem"]: one for one in lines(tmp_path / "out" / "proofs.jsonl")}
    assert proofs["Tiny.trans'"]["proof"] == "rw [hab]\nexact hbc"
    assert proofs["Tiny.trans'"]["steps"] == []
    assert "found proofs and" in capsys.readouterr().err
    learned = list(read_theorems(tmp_path / "out" / "rounds" / "data" / "random" / "train.json"))
    rows = [row for theorem in learned for row in WholeProof().rows(theorem)]
    found = [row for row in rows if row["completion"][0]["content"] == "rw [hab]\nexact hbc"]
    assert len(found) == 1  # as a human wrote it, perhaps
    assert found[0]["prompt"][-1]["content"].startswith("theorem trans'")
    [repository] = database.repositories
    assert [one.full_name for one in repository.sorry_theorems_proved] == ["gap_term"]
    state = json.loads((tmp_path / "out" / "training_state.json").read_text())
    assert state["settings"]["formatter"] == "whole-proof"


def test_a_set_of_statements_without_a_database(self_train, tmp_path, capsys):
    file = tmp_path / "set.jsonl"
    rows = [
        {"name": "one", "formal_statement": "theorem one : two = 2 := by", "header": "def two := 2\n"},
        {"name": "no", "formal_statement": "theorem no : 1 = 2 := by sorry"},
        {"name": "held", "formal_statement": "theorem held : 1 = 1 := by sorry", "split": "test"},
    ]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    self_train(rounds=1, whole_proof=True, attempts=16, statements=file, database=None)
    assert "2 statements of 3" in capsys.readouterr().err
    proof, *_ = lines(tmp_path / "out" / "proofs.jsonl")
    assert (proof["problem"], proof["proof"]) == ("one", "rfl")
    [learned] = read_theorems(tmp_path / "out" / "rounds" / "data" / "random" / "train.json")
    [row] = WholeProof().rows(learned)
    assert row["prompt"][-1]["content"] == "def two := 2\n\ntheorem one : two = 2 :="
    with pytest.raises(ConfigError, match="is for tactics"):
        self_train(whole_proof=True, formatter="lean-dojo-v2:tactic-chat")
    with pytest.raises(UsageError, match="or statements"):
        self_train(database=None)
    with pytest.raises(ConfigError, match="statements take the place of problems"):
        self_train(statements=file, problems="sorry")


@pytest.mark.slow
def test_more_rounds_go_on_and_skip_what_is_always_proved(self_train, tmp_path, capsys):
    self_train(rounds=2, human_share=0.0)
    capsys.readouterr()
    trainer = self_train(rounds=3, human_share=0.0)
    assert "going on after 2 rounds" in capsys.readouterr().err
    assert trainer.searched == [trainer.output_dir]
    *_, third = lines(tmp_path / "out" / "rounds.jsonl")
    assert (third["round"], third["tried"], third["proved"]) == (3, 2, 0)
    state = json.loads((tmp_path / "out" / "training_state.json").read_text())
    assert [step["url"] for step in state["finished"]] == ["round-1", "round-2", "round-3"]
    assert {step["rows"] for step in state["finished"]} == {7}
    with pytest.raises(UsageError, match=r"other settings: samples was 16 and is 8"):
        self_train(rounds=3, human_share=0.0, samples=8)
    with pytest.raises(UsageError, match=r"other settings: problems was"):
        self_train(rounds=3, human_share=0.0, problems="training")
    self_train(rounds=1, human_share=0.0, samples=8, resume=False)
    assert len(lines(tmp_path / "out" / "rounds.jsonl")) == 1


def test_the_run_of_another_trainer_is_left_alone(self_train, tmp_path):
    folder = RunFolder(tmp_path / "out")
    state = RunState("SFTTrainer", {}, [FinishedStep("u", "c", 1, 1, "")])
    folder.path.mkdir()
    folder.save(state)
    before = sorted(folder.path.rglob("*"))
    with pytest.raises(UsageError, match="SFTTrainer"):
        self_train()
    assert sorted(folder.path.rglob("[!.]*")) == before  # and the lock


@pytest.mark.slow
def test_from_the_base_anew_or_on(self_train, tmp_path):
    weights = {}
    for name, start, rounds in (
        ("one", "base", 1), ("anew", "base", 2), ("on", "last", 2),
    ):  # fmt: skip
        self_train(name, start_from=start, rounds=rounds, problems="training")
        weights[name] = load_file(tmp_path / name / "model.safetensors")
    steps = {
        name: [
            step["optimizer_steps"]
            for step in json.loads((tmp_path / name / "training_state.json").read_text())[
                "finished"
            ]
        ]
        for name in weights
    }
    assert len({*map(tuple, (steps["anew"], steps["on"]))}) == 1
    moved = {
        name: sum(float((found[key] - weights["one"][key]).abs().sum()) for key in found)
        for name, found in weights.items()
    }
    # Anew: as far from the start as one round, in another order; on: twice as far.
    assert 0 < moved["anew"] < moved["on"]
    assert not torch.equal(*(weights[name]["model.norm.weight"] for name in ("anew", "on")))


def test_a_set_that_lean_does_not_elaborate(self_train, tmp_path):
    file = tmp_path / "set.jsonl"
    row = {"name": "no", "formal_statement": "theorem no : NoSuch.thing = 1 := by"}
    file.write_text(json.dumps(row))
    with pytest.raises(EmptyDatasetError, match="Lean elaborates none of them; no: "):
        self_train(rounds=1, whole_proof=True, statements=file, database=None)


def test_nothing_found_and_nothing_human(self_train):
    with pytest.raises(EmptyDatasetError, match="no proof was found in 1 round over 2 problems"):
        self_train(rounds=1, human_share=0.0, problems="sorry", expansions=1, samples=1, skip_after=0,
                 heartbeats=1)  # fmt: skip


def test_what_is_found_and_too_long(self_train):
    with pytest.raises(EmptyDatasetError, match=r"none of .* fits into max_length=4"):
        self_train(rounds=1, human_share=0.0, problems="sorry", max_length=4)


def test_settings_of_search_are_none_of_whole_proofs(tiny_model):
    trainer = registry.trainers["expert-iteration"].load()
    for given in ({"automation": True}, {"samples": 4}, {"expansions": 8}, {"visits": 2}):
        [name] = given
        with pytest.raises(ConfigError, match=f"{name} is for proof search, which"):
            trainer(tiny_model, whole_proof=True, **given)
    assert trainer(tiny_model, whole_proof=True, samples=16)
