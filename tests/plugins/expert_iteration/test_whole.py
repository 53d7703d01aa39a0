"""A whole run: a model that has learned a few proofs proves, and learns what it proved."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest

from lean_dojo_core import registry
from lean_dojo_plugins.causal_lm.generate.prover import HFProver
from lean_dojo_v2.lean_agent.config import ProverConfig

URL = "https://example.org/lean/lean4-tiny"


@pytest.mark.slow
def test_a_model_learns_what_it_proved(
    tiny_model, tiny_repository, project_engine, database, tmp_path
):
    shared = {"batch_size": 4, "lr": 3e-3, "max_length": 512, "trainer_args": {"warmup_steps": 4}}
    sft = registry.trainers["sft"].load()
    start = sft(tiny_model, tmp_path / "sft", epochs_per_repo=200, **shared)
    start.train(database.repositories, database, tmp_path / "data")

    trainer_class = registry.trainers["expert-iteration"].load()

    class ExpertIterationTrainer(trainer_class):
        def open_engine(self, project):
            return nullcontext(project_engine)

    trainer = ExpertIterationTrainer(
        tmp_path / "sft",
        tmp_path / "expert",
        epochs_per_repo=10,
        start_from="last",
        rounds=2,
        samples=8,
        expansions=6,
        projects={URL: tiny_repository[0]},
        **shared,
    )
    trainer.train(database.repositories, database, tmp_path / "data")
    text = (tmp_path / "expert" / "rounds.jsonl").read_text()
    first, second = map(json.loads, text.splitlines())
    assert first["model"] == "sft"
    assert first["proved"] > 0
    assert second["proved"] > 0
    proofs = [
        json.loads(x) for x in (tmp_path / "expert" / "proofs.jsonl").read_text().splitlines()
    ]
    prover = HFProver(
        tmp_path / "expert", config=ProverConfig(max_expansions=4, num_sampled_tactics=8)
    )
    assert prover.tactics.max_length == 512  # as it was trained
    [suggestions] = prover.generator.generate([proofs[0]["steps"][0][0]], num_samples=8)
    assert proofs[0]["steps"][0][1] in {one.tactic for one in suggestions}
