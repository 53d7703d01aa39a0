"""Trains in a process of its own, and kills that process where it is told to.

Run by ``runpy.run_path`` in a forked process, or as a script under ``accelerate launch``; takes its
orders from the JSON file named in ``LEAN_DOJO_TEST_ORDERS``.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from peft import LoraConfig
from transformers import TrainerCallback, TrainerState

from lean_dojo_plugins.sft import trainer as sft
from lean_dojo_plugins.training.run_folder import RunFolder
from lean_dojo_v2.database import DynamicDatabase


def die(*_args: Any, **_kwargs: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DieAtStep(TrainerCallback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            die()


def trainer_class(kill: dict[str, Any]) -> type[sft.SFTTrainer]:
    class SFTTrainer(sft.SFTTrainer):
        def build_step_trainer(self, dataset, step):
            built = super().build_step_trainer(dataset, step)
            if kill.get("repository") == step.index and "step" in kill:
                built.add_callback(DieAtStep(kill["step"]))
            if kill.get("repository") == step.index and kill.get("at") == "checkpoint":
                TrainerState.save_to_json = die
            if kill.get("repository") == step.index and kill.get("at") == "announced":
                original = Path.replace

                def replace(self, target):
                    if Path(target).name in {"model.safetensors", "adapter_model.safetensors"}:
                        die()
                    return original(self, target)

                Path.replace = replace
            if kill.get("repository") == step.index and kill.get("at") == "staged":
                RunFolder.publish = die
            if kill.get("repository") == step.index and kill.get("at") == "moved":
                save = RunFolder.save

                def saved(self, state):
                    if state.pending is None:
                        die()
                    save(self, state)

                RunFolder.save = saved
            return built

    SFTTrainer.__qualname__ = "SFTTrainer"
    return SFTTrainer


def main() -> None:
    orders = json.loads(Path(os.environ["LEAN_DOJO_TEST_ORDERS"]).read_text())
    kill = orders.get("kill", {})
    database = DynamicDatabase(orders["database"])
    if kill.get("at") == "export":
        export = database.export_merged_data

        def exported(repos, path):
            if len(repos) > kill["repository"]:
                die()
            export(repos, path)

        database.export_merged_data = exported
    options = dict(orders["options"])
    if "lora_config" in options:
        options["lora_config"] = LoraConfig(**options["lora_config"])
    trainer = trainer_class(kill)(orders["model"], output_dir=orders["output_dir"], **options)
    repos = [database.get_repository(url, commit) for url, commit in orders["repositories"]]
    trainer.train(repos, database, Path(orders["data_path"]))


if __name__ == "__main__":
    main()
