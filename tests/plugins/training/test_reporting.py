"""What a training that nobody watches says of itself."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from transformers import TrainerControl, TrainerState, TrainingArguments

from lean_dojo_plugins.retrieval.lightning import EpochBar
from lean_dojo_plugins.training.model_card import write_model_card
from lean_dojo_plugins.training.transformers_callbacks import Reporter
from lean_dojo_v2.runs.progress import latest_progress


@pytest.mark.parametrize(
    ("logged", "said"),
    [([], "step 3 of 8"), ([{"loss": 0.51234, "epoch": 1.0}], "step 3 of 8, loss 0.512")],
)
def test_the_step_and_the_loss_are_noted(
    logged: list[dict[str, float]], said: str, tmp_path: object
) -> None:
    state = TrainerState(global_step=3, max_steps=8, log_history=logged)
    arguments = TrainingArguments(str(tmp_path), report_to="none")
    Reporter(tmp_path).on_step_end(arguments, state, TrainerControl())
    assert latest_progress() == said


def test_so_they_are_by_a_retriever() -> None:
    trainer = SimpleNamespace(
        is_global_zero=True, num_training_batches=2, current_epoch=0, max_epochs=3, global_step=1,
        callback_metrics={"loss_train": 0.5},
    )  # fmt: skip
    bar = EpochBar()
    bar.on_train_epoch_start(trainer)
    bar.on_train_batch_end(trainer)
    bar.on_train_epoch_end()
    assert latest_progress() == "Epoch 1/3, step 1, loss 0.5000"


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("owner/model", "base_model: owner/model"),
        ("shipped", ""),  # no model of the hub
        ("/gone/model", ""),  # a card is written nevertheless, without paths of this machine
    ],
)
def test_where_the_model_comes_from(tmp_path: Path, name: str, base: str) -> None:
    card = {
        "title": "T", "does": "D.", "library": "transformers", "task": "text-generation",
        "formatter": "tactic-chat",
    }  # fmt: skip
    settings = {
        "lr": 1.0, "problems": ["training", "/gone/mine.jsonl"], "projects": {"https://h/o/r": "/gone/r"},
    }  # fmt: skip
    trainer = SimpleNamespace(model_name=name, settings=lambda: settings, card=lambda: card)
    write_model_card(tmp_path, trainer, [])
    lines = (tmp_path / "README.md").read_text().splitlines()
    assert [line for line in lines if line.startswith("base_model")] == [base] * bool(base)
    assert "/gone" not in "".join(lines)
    assert '  "lr": 1.0,' in lines
    assert '    "https://h/o/r": "r"' in lines
