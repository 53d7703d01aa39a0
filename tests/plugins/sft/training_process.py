"""Trains under ``accelerate launch`` or ``torchrun``, by the orders in ``LEAN_DOJO_TEST_ORDERS``."""

from __future__ import annotations

import json
import os
from pathlib import Path

from peft import LoraConfig

from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_v2.database import DynamicDatabase


def main() -> None:
    orders = json.loads(Path(os.environ["LEAN_DOJO_TEST_ORDERS"]).read_text())
    database = DynamicDatabase(orders["database"])
    options = dict(orders["options"])
    if "lora_config" in options:
        options["lora_config"] = LoraConfig(**options["lora_config"])
    trainer = SFTTrainer(orders["model"], output_dir=orders["output_dir"], **options)
    repos = [database.get_repository(url, commit) for url, commit in orders["repositories"]]
    trainer.train(repos, database, Path(orders["data_path"]))


if __name__ == "__main__":
    main()
