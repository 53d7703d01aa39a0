"""Trains under ``accelerate launch`` or ``torchrun``, by the orders in ``LEAN_DOJO_TEST_ORDERS``."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from peft import LoraConfig
from transformers import TrainerCallback

from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_v2.database import DynamicDatabase


class Dies(TrainerCallback):
    """Kills the process when it has taken so many steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def on_step_end(self, args, state, control, **_):
        if state.global_step == self.steps:
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    orders = json.loads(Path(os.environ["LEAN_DOJO_TEST_ORDERS"]).read_text())
    database = DynamicDatabase(orders["database"])
    options = dict(orders["options"])
    if "lora_config" in options:
        options["lora_config"] = LoraConfig(**options["lora_config"])
    if dies := orders.get("dies at step"):
        options["callbacks"] = [Dies(dies)]
    trainer = SFTTrainer(orders["model"], output_dir=orders["output_dir"], **options)
    repos = [database.get_repository(url, commit) for url, commit in orders["repositories"]]
    trainer.train(repos, database, Path(orders["data_path"]))


if __name__ == "__main__":
    main()
