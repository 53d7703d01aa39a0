"""The import paths that documents and LeanDojo-v2 1.x name, wherever the code behind them is."""

from __future__ import annotations

import importlib

import pytest

PATHS = {
    "lean_dojo_v2.agent.external_agent": ["ExternalAgent"],
    "lean_dojo_v2.agent.hf_agent": ["HFAgent"],
    "lean_dojo_v2.agent.lean_agent": ["LeanAgent"],
    "lean_dojo_v2.database": ["DynamicDatabase", "export_merged_data"],
    "lean_dojo_v2.lean_agent.config": ["ProverConfig", "TrainingConfig"],
    "lean_dojo_v2.lean_progress.create_sample_dataset": ["create", "main"],
    "lean_dojo_v2.lean_progress.examples": ["progress_text"],
    "lean_dojo_v2.prover": ["ExternalProver", "HFProver", "RetrievalProver"],
    "lean_dojo_v2.trainer": ["GRPOTrainer", "ProgressTrainer", "RetrievalTrainer", "SFTTrainer"],
    "lean_dojo_v2.trainer.grpo_trainer": ["GRPODataset", "GRPOTrainer"],
    "lean_dojo_v2.trainer.progress_trainer": ["ProgressDataset", "ProgressTrainer"],
    "lean_dojo_v2.trainer.retrieval_trainer": ["RetrievalTrainer"],
    "lean_dojo_v2.trainer.sft_trainer": ["SFTDataset", "SFTTrainer"],
}


@pytest.mark.parametrize("path", PATHS)
def test_what_a_path_gives(path: str) -> None:
    module = importlib.import_module(path)
    for name in PATHS[path]:
        found = getattr(module, name)
        assert getattr(found, "__name__", name) == name  # a click command has none
        assert name in dir(module)
    assert not hasattr(module, "nothing_of_that_name")
