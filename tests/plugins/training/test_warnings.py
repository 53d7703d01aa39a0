"""What transformers deprecates is not used by us, so no user is warned of it."""

from __future__ import annotations

import warnings

import pytest

from lean_dojo_plugins.causal_lm.generate.prover import HFProver
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.trainer.progress_trainer import ProgressTrainer


@pytest.mark.parametrize(
    "name",
    ["gradient_checkpointing", pytest.param("activation_checkpointing", marks=pytest.mark.slow)],
)
def test_no_future_warning_reaches_the_user(
    name, traced, tiny_model, encoder, dataset_file, tmp_path
):
    database = DynamicDatabase(traced)
    args = {"max_steps": 1, name: True}
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        sft = SFTTrainer(
            tiny_model, tmp_path / "sft", trainer_args=args, device="cpu",
            lora_config={"r": 2, "target_modules": ["q_proj"]},
        )  # fmt: skip
        sft.train(database.repositories[:1], database, tmp_path / "data")
        assert sft.evaluate(limit=1).examples == 1
        HFProver(**sft.prover_settings())
        progress = ProgressTrainer(
            dataset_file, encoder, tmp_path / "progress", trainer_args=args, device="cpu"
        )
        progress.train()
