"""A round searches with a server of its model, which is gone before the training begins."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest
from transformers import TrainerCallback

from lean_dojo_core import registry
from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.causal_lm.generate.served import ServedTacticGenerator

TESTS = Path(__file__).parents[2]
URL = "https://example.org/lean/lean4-tiny"
SERVER = TESTS / "llama_server.py"
COMMAND = f"{sys.executable} {SERVER} {{model}} {{port}}"


class NoServer(TrainerCallback):
    """Sees that nothing is served while a round trains."""

    seen = 0

    def on_step_begin(self, *_args, **_kwargs):
        type(self).seen += 1
        lines = [one.info["cmdline"] or [] for one in psutil.process_iter(["cmdline"])]
        assert not any(str(SERVER) in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"samples": 2, "expansions": 2, "lora_config": {"r": 2, "target_modules": ["q_proj"]}},
        {"whole_proof": True, "max_proof_tokens": 16},
    ],
    ids=["search", "whole proofs"],
)
def test_rounds_are_served(options, tiny_repository, project_engine, database, tmp_path):
    trainer_class = registry.trainers["expert-iteration"].load()
    generators = []

    class ExpertIterationTrainer(trainer_class):
        def open_engine(self, project):
            return nullcontext(project_engine)

        def make_prover(self, endpoint=None):
            prover = super().make_prover(endpoint)
            generators.append(type(prover.tactics))
            return prover

    NoServer.seen = 0
    trainer = ExpertIterationTrainer(
        "shipped",
        tmp_path / "out",
        rounds=2,
        epochs_per_repo=1,
        batch_size=8,
        max_length=128,
        server_command=COMMAND,
        callbacks=[NoServer],
        projects={URL: tiny_repository[0]},
        **options,
    )
    trainer.train(database.repositories, database, tmp_path / "data")
    assert generators == [ServedTacticGenerator] * 2
    rows = [json.loads(x) for x in (tmp_path / "out" / "rounds.jsonl").read_text().splitlines()]
    assert all(row["samples"] for row in rows)
    assert rows[0]["proved"] > 0 or trainer.whole_proof  # which that model was not trained to write
    folder = tmp_path / "out" / "rounds"
    trained = folder / "2" / "merged" if trainer.lora_config else tmp_path / "out"
    assert f"serving {trained}\n" in (folder / "2" / "server.log").read_text()
    assert "base_model" in (folder / "1" / "server.log").read_text()
    assert not (folder / "2" / "merged").exists()
    assert NoServer.seen > 0


def test_a_command_without_a_port(tiny_model):
    trainer = registry.trainers["expert-iteration"].load()
    with pytest.raises(ConfigError, match="server_command"):
        trainer(tiny_model, server_command="vllm serve {model}")
