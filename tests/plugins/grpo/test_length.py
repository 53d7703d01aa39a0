"""Prompts that leave no room for a completion are shortened; rewards see the whole goal."""

from __future__ import annotations

import json

import pytest

from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator
from lean_dojo_plugins.causal_lm.text.tokenisation import encode
from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.database.export.read import read_theorems
from lean_dojo_v2.errors import EmptyDatasetError

MANY = "\n\n".join(f"case c{k}\nh : x{k} = {k}\n⊢ {k} = x{k}" for k in range(60))


@pytest.fixture
def database(traced, tmp_path):
    """One repository, in which every state has sixty goals."""
    data = json.loads(traced.read_text())
    del data["repositories"][1:]
    for theorem in data["repositories"][0]["proven_theorems"]:
        for tactic in theorem["traced_tactics"]:
            tactic["state_before"] = MANY
    (tmp_path / "database.json").write_text(json.dumps(data))
    return DynamicDatabase(tmp_path / "database.json")


def make(tiny_model, tmp_path, reward, **options):
    settings = {"max_steps": 1, "max_completion_length": 32, "num_generations": 4}
    return GRPOTrainer(
        str(tiny_model), reward, str(tmp_path / "out"), batch_size=4, device="cpu",
        trainer_args=settings, **options,
    )  # fmt: skip


def test_the_model_sees_what_fits_and_the_reward_all(database, tiny_model, tmp_path, capsys):
    seen = []

    def reward(completions, prompts, problem, **columns):
        seen.extend(zip(prompts, problem, strict=True))
        return [0.0] * len(completions)

    trainer = make(tiny_model, tmp_path, reward, max_length=400)
    trainer.train(list(database.repositories), database, tmp_path / "data")
    assert ": max_length=400: " in capsys.readouterr().err
    generator = CausalTacticGenerator.from_model(trainer.model, trainer.tokenizer, max_length=400)
    assert seen
    for prompt, problem in seen:
        assert problem == MANY
        (ids,) = encode(trainer.tokenizer, [prompt], ask=True)
        assert 300 < len(ids) <= 400 - 32
        assert prompt[-1]["content"].startswith("case c0\nh : x0 = 0\n⊢ 0 = x0\n\ncase c1")
        assert ids == generator.prompt_ids(MANY, max_new_tokens=32)

    evaluation = trainer.evaluate(tmp_path / "data", "train", limit=2, samples=1)
    assert evaluation.examples == 2


def test_the_preview_shows_the_prompt_of_the_training(database, tiny_model, tmp_path):
    trainer = make(tiny_model, tmp_path, "constant", max_length=400)
    database.export_merged_data(list(database.repositories), tmp_path / "data")
    (shown,) = trainer.preview(read_theorems(tmp_path / "data" / "random" / "train.json"), limit=1)
    assert shown.remark == "its goal is shortened to fit"
    assert len(shown.tokens) <= 400 - 32


def test_where_no_prompt_fits_max_length_is_named(database, tiny_model, tmp_path):
    trainer = make(tiny_model, tmp_path, "constant", max_length=40)
    with pytest.raises(EmptyDatasetError, match="fits into max_length=40"):
        trainer.train(list(database.repositories), database, tmp_path / "data")
    with pytest.raises(ConfigError, match="no room is left for a prompt; raise max_length"):
        make(tiny_model, tmp_path, "constant", max_length=32)
