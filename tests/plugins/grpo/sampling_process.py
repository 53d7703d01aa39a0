"""Trains with GRPO by a list of orders in a JSON file, under ``torchrun``; rewards depend on tokens alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState

from lean_dojo_plugins.grpo.trainer import GRPOTrainer
from lean_dojo_v2.database import DynamicDatabase


def tokens(completion_ids: list[list[int]], **_: Any) -> list[float]:
    return [sum(ids) % 7 for ids in completion_ids]


def train(orders: dict[str, Any]) -> None:
    folder, options = Path(orders["folder"]), orders["options"]
    rewards: list[Any] = [tokens, *(["proof-verified"] if "statements" in options else [])]
    args = {
        **options.pop("trainer_args", {}), "num_generations": 4, "max_steps": 2, "warmup_steps": 0, "logging_steps": 1,
        "max_completion_length": 12, "optim": "sgd", "bf16": False,
    }  # fmt: skip
    trainer = GRPOTrainer(
        orders["model"], rewards, folder / "out", device="cpu", trainer_args=args, **options
    )
    if "statements" in options:
        trainer.train(data_path=folder / "data")
    else:
        database = DynamicDatabase(orders["database"])
        trainer.train(database.repositories, database, folder / "data")
    if PartialState().is_main_process:
        torch.save(trainer.model.state_dict(), folder / "weights.pt")


if __name__ == "__main__":
    for one in json.loads(Path(sys.argv[1]).read_text()):
        train(one)
