"""Trains with GRPO in a process of its own and kills it where it is told to; see the SFT twin."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from transformers import TrainerCallback

from lean_dojo_plugins.grpo import trainer as grpo
from lean_dojo_v2.database import DynamicDatabase


class DieAtStep(TrainerCallback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    orders = json.loads(Path(os.environ["LEAN_DOJO_TEST_ORDERS"]).read_text())
    kill = orders["kill"]

    class GRPOTrainer(grpo.GRPOTrainer):
        def build_step_trainer(self, dataset, step):
            built = super().build_step_trainer(dataset, step)
            if kill and kill["repository"] == step.index:
                built.add_callback(DieAtStep(kill["step"]))
            return built

    GRPOTrainer.__name__ = "GRPOTrainer"
    database = DynamicDatabase(orders["database"])
    repos = [r for r in database.repositories if "empty" not in r.url][:2]
    trainer = GRPOTrainer(
        orders["model"], "length-penalised", orders["output_dir"], **orders["options"]
    )
    trainer.train(repos, database, Path(orders["data_path"]))


if __name__ == "__main__":
    main()
