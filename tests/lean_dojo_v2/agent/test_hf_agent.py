"""The documents' agent from trace to proof, with a model that is built on the spot."""

from __future__ import annotations

import shutil

import pytest

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_v2.agent.hf_agent import HFAgent
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.trainer.sft_trainer import SFTTrainer


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model

    texts = ["⊢ p ∧ q exact hp constructor rfl simp intro h rw [h] left"] * 4
    return build_tiny_model(
        texts, tmp_path_factory.mktemp("model") / "small", hidden_size=32, layers=1, vocab_size=400
    )


@pytest.mark.slow
def test_trace_train_prove(own_raid, tmp_path, tiny_repository, tiny_cache, small_model, capsys):
    shutil.copytree(tiny_cache, own_raid)  # files that are traced already are read from there
    trainer = SFTTrainer(
        model_name=str(small_model), output_dir=str(tmp_path / "out"), epochs_per_repo=1,
        batch_size=4, lr=1e-3,
    )  # fmt: skip
    agent = HFAgent(
        trainer=trainer,
        database_path=tmp_path / "dynamic_database.json",
        prover_config=ProverConfig(num_workers=1, num_sampled_tactics=2, max_expansions=1),
    )
    with pytest.raises(UsageError, match="setup_github_repository"):
        agent.train()
    traced = agent.setup_local_repository(tiny_repository[0])
    assert traced.num_sorry_theorems == 4
    agent.train()
    results = agent.prove()
    out = capsys.readouterr().out
    assert "Found 4 sorry theorems to prove\n" in out
    for name in ("Tiny.gap_pair", "Tiny.gap_false", "gap_chain", "gap_term"):
        assert f"Proving {name}\n" in out
    assert len(results) == 4
    assert all(result.lean_calls >= 1 for result in results)
    # The prover reads what the trainer saved, and asks as it was trained.
    assert agent.prover.tactics.formatter.prompt("⊢ p")[-1]["content"] == "⊢ p"
    assert (tmp_path / "out" / "model.safetensors").is_file()
    again = HFAgent(trainer=trainer, database_path=tmp_path / "dynamic_database.json")
    assert again.setup_local_repository(tiny_repository[0]).num_sorry_theorems == 4  # from the file


def test_the_prover_shortens_goals_as_the_trainer(tmp_path, small_model):
    shutil.copytree(small_model, tmp_path / "out")
    trainer = SFTTrainer(str(small_model), str(tmp_path / "out"), max_length=300)
    agent = HFAgent(trainer=trainer, database_path=tmp_path / "dynamic_database.json")
    agent._setup_prover()
    assert agent.prover.tactics.max_length == 300


def test_the_prover_asks_with_the_formatter_of_the_trainer(tmp_path, small_model):
    class Loud:
        columns = ("prompt", "completion")

        def rows(self, theorem):
            return iter(())

        def prompt(self, goal, *, premises=()):
            return [{"role": "user", "content": goal.upper()}]

    with registry.dataset_formatters.override("loud", Loud):
        trainer = SFTTrainer(
            model_name=str(small_model), output_dir=str(tmp_path / "out"), formatter="loud"
        )
        shutil.copytree(small_model, tmp_path / "out")
        agent = HFAgent(trainer=trainer, database_path=tmp_path / "dynamic_database.json")
        agent._setup_prover()
    assert agent.prover.tactics.formatter.prompt("a")[-1]["content"] == "A"
