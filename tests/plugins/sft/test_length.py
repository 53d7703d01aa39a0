"""Goals that are longer than max_length: said, counted, and never silently all of them."""

from __future__ import annotations

import json
import re

import pytest

from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.prover import HFProver

MANY = "\n\n".join(f"case c{k}\nh : x{k} = {k}\n⊢ {k} = x{k}" for k in range(40))
ENDLESS = "intro " + " ".join(f"h{k}" for k in range(400))

COUNTED = r"max_length=500: [1-9]\d* goals shortened, [1-9]\d* examples left out"


@pytest.fixture
def database(traced, tmp_path):
    """One repository, in which some states have forty goals, and some tactics do not fit at all."""
    data = json.loads(traced.read_text())
    del data["repositories"][1:]
    theorems = data["repositories"][0]["proven_theorems"]
    for theorem in theorems[:5]:
        theorem["traced_tactics"][1].update(state_before=MANY)
    for theorem in theorems[5:]:
        theorem["traced_tactics"][0].update(tactic=ENDLESS, annotated_tactic=[ENDLESS, []])
    (tmp_path / "database.json").write_text(json.dumps(data))
    return DynamicDatabase(tmp_path / "database.json")


def make(tiny_model, tmp_path, **options):
    return SFTTrainer(str(tiny_model), tmp_path / "out", batch_size=4, device="cpu", **options)


def test_what_is_cut_and_left_out_is_said_once(database, tiny_model, tmp_path, capsys):
    trainer = make(tiny_model, tmp_path, max_length=500)
    trainer.train(list(database.repositories), database, tmp_path / "merged")
    error = capsys.readouterr().err
    assert len(re.findall(COUNTED, error)) == 1
    assert "longer than" not in error
    assert HFProver(tmp_path / "out", device="cpu").tactics.max_length == 500

    trainer.evaluate(tmp_path / "merged", "train")
    assert re.search(COUNTED, capsys.readouterr().err)


def test_where_all_is_left_out_max_length_is_named(database, tiny_model, tmp_path, capsys):
    trainer = make(tiny_model, tmp_path, max_length=30)
    with pytest.raises(EmptyDatasetError, match=r"lean_one: none of \d+ examples .* raise max_len"):
        trainer.train(list(database.repositories), database, tmp_path / "merged")
    with pytest.raises(EmptyDatasetError, match="fits into max_length=30"):
        trainer.evaluate(tmp_path / "merged", "train")


def test_greedy_tactics_are_asked_for_with_the_limit_of_the_training(
    database, tiny_model, tmp_path, monkeypatch
):
    limits = []
    generate = CausalTacticGenerator.generate

    def noted(self, *args, **options):
        limits.append(self.max_length)
        return generate(self, *args, **options)

    monkeypatch.setattr(CausalTacticGenerator, "generate", noted)
    database.export_merged_data(list(database.repositories), tmp_path / "merged")
    make(tiny_model, tmp_path, max_length=500).evaluate(tmp_path / "merged", "train", limit=4)
    assert set(limits) == {500}
