"""Trains a progress model in processes of its own; kills them at the step that it is told.

Notes the rows of every training batch in ``seen-RANK.jsonl`` and every export in ``exports`` of the
output folder's parent. Takes its orders from the JSON file named on the command line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from lean_dojo_plugins.progress import trainer as progress
from lean_dojo_plugins.training import loop
from lean_dojo_v2.database import DynamicDatabase

RANK = os.environ.get("RANK", "0")


class DieAtStep(loop.Reporter):
    step = 0

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


class Noting(progress.ProgressTrainer):
    def _load(self):
        model, tokenizer = super()._load()
        seen = Path(self.output_dir).with_name(f"seen-{RANK}.jsonl").open("w", buffering=1)

        def note(module, _, inputs):
            if module.training:
                kept = [r[m.bool()] for r, m in zip(*map(inputs.get, WANTED), strict=True)]
                seen.write(json.dumps([row.tolist() for row in kept]) + "\n")

        model.register_forward_pre_hook(note, with_kwargs=True)
        return model, tokenizer


WANTED = ("input_ids", "attention_mask")
Noting.__qualname__ = Noting.__name__ = "ProgressTrainer"


def main() -> None:
    orders = json.loads(Path(sys.argv[1]).read_text())
    DieAtStep.step = orders.get("die at", 0)
    loop.Reporter = DieAtStep
    write = progress.lean_progress.write_examples

    def write_and_note(*args, **kwargs):
        with Path(orders["options"]["output_dir"]).with_name("exports").open("a") as stream:
            stream.write(RANK)
        return write(*args, **kwargs)

    progress.lean_progress.write_examples = write_and_note
    trainer = Noting(**orders["options"])
    if "database" in orders:
        trainer.train(None, DynamicDatabase(orders["database"]), orders["data_path"])
    else:
        trainer.train()


if __name__ == "__main__":
    main()
