"""Trains in a process of its own, and kills that process where it is told to.

Run by ``runpy.run_path`` in a forked process; takes its orders from the JSON file named in
``LEAN_DOJO_TEST_ORDERS``: ``trainer``, ``options``, ``database``, ``data_path`` and ``kill``.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from lean_dojo_core import registry
from lean_dojo_plugins.training.run_folder import RunFolder
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.runs.forgetting import Forgetting


def die(*_args: Any, **_kwargs: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_after(steps: int) -> None:
    """Die after so many steps of the optimiser."""
    done = 0

    def count(*_: Any) -> None:
        nonlocal done
        done += 1
        if done == steps:
            die()

    register_optimizer_step_post_hook(count)


def die_in_a_checkpoint() -> None:
    """Die with half a file written."""

    def save(_what: Any, place: Any, *_args: Any, **_options: Any) -> None:
        if hasattr(place, "write"):
            place.write(b"half")
            place.flush()
        else:
            Path(place).write_bytes(b"half")
        die()

    torch.save = save


def die_before_the_record() -> None:
    """Die when the model is in its place, and nothing says so yet."""
    save = RunFolder.save

    def saved(self: RunFolder, state: Any) -> None:
        if state.pending is None and state.finished:
            die()
        save(self, state)

    RunFolder.save = saved


def arm(kill: dict[str, Any]) -> None:
    if "after" in kill:
        die_after(kill["after"])
    elif kill.get("at") == "checkpoint":
        die_in_a_checkpoint()
    elif kill.get("at") == "trained":  # the model is written; of retrieval, not looked back yet
        RunFolder.publish = die
        Forgetting.write = die
    elif kill.get("at") == "recorded":
        die_before_the_record()


def main() -> None:
    orders = json.loads(Path(os.environ["LEAN_DOJO_TEST_ORDERS"]).read_text())
    options = orders["options"]
    if orders["trainer"] == "retrieval":
        from lean_dojo_v2.lean_agent.config import TrainingConfig

        folders = {key: Path(options[key]) for key in ("checkpoint_dir", "log_dir")}
        options = {"config": TrainingConfig(**{**options, **folders})}
    trainer = registry.trainers[orders["trainer"]].create(**options)
    database = DynamicDatabase(orders["database"])
    repos = [r for r in database.repositories if "empty" not in r.url][:2]
    arm(orders["kill"])
    trainer.train(repos, database, Path(orders["data_path"]))


if __name__ == "__main__":
    main()
