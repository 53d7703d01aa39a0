"""The arms of ``experiments/process_credit.py``: what each sets is what it says."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

import process_credit
from lean_dojo_plugins.grpo.trainer import GRPOTrainer

VALUES = {
    "outcome": (0.0, "tactic", 1.0, -1.0),
    "process": (0.5, "tactic", 1.0, -1.0),
    "gain": (0.5, "tactic", 1.0, 0.0),
    "loss": (0.5, "tactic", 0.0, -1.0),
    "first-token": (0.5, "first-token", 1.0, -1.0),
}


@pytest.mark.parametrize("arm", process_credit.SETTINGS)
def test_arms_differ_in_credit_alone(
    arm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[list[str]] = []
    monkeypatch.setattr("learning.command", lambda *words, done: said.append([*map(str, words)]))
    sizes: dict[str, Any] = {"engines": 1, "groups": 2, "grpo_lr": 1e-4, "grpo_steps": 3}
    run = process_credit.Credit(tmp_path, 0, argparse.Namespace(**sizes))
    run.credited(arm, tmp_path / "start")
    [words] = said
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    trainer = GRPOTrainer(
        "owner/model",
        json.loads(settings["reward_func"]),
        process_weight=float(settings["process_weight"]),
        process_credit=settings.get("process_credit", "tactic"),
    )
    [reward] = trainer.rewards
    values = (reward.function.sound, reward.function.failing)
    assert (trainer.process_weight, trainer.process_credit, *values) == VALUES[arm]
    assert settings["batch_size"] == "32"
    assert settings["trainer_args.max_steps"] == "3"
