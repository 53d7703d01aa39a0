"""Self-trains with scripted tactics, in a process of its own or in the test's; dies where it is told.

Run by ``runpy.run_path`` in a forked process, or by ``torchrun``; takes its orders from the JSON
file named in ``LEAN_DOJO_TEST_ORDERS``. Of several processes the last one dies.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any, ClassVar

from transformers import TrainerCallback

from lean_dojo_plugins.expert_iteration import trainer as module
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_plugins.training.run_folder import RunFolder
from lean_dojo_v2.benchmarks.attempts import AttemptFolder
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.prover.base import BaseProver
from lean_dojo_v2.prover.suggestion import Suggestion

PROPOSALS = {
    "h : p ∧ q\n⊢ q ∧ p": ["exact h", "exact ⟨h.2, h.1⟩", "cases h"],
    "⊢ a = c": ["rw [hab]", "exact hba"],
    "⊢ b = c": ["exact hbc"],
    "hq : q\n⊢ q ∧ p": ["constructor"],
    "⊢ q\n": ["exact hq"],
    "⊢ p": ["exact hp"],
    "n : Nat\n⊢ n = n": ["rfl"],
}
"""Tactics by what a state holds; `uses_trans` and `gap_false` stay unproved."""


WRITTEN = ["exact ⟨h.2, h.1⟩", "rfl", "rw [hab]\nexact hbc", "intro x\nsimp"]
"""Whole proofs, of which a seed chooses one."""


class Scripted:
    """Proposes from the table."""

    def generate(self, goals, *, num_samples, premises=()):
        return [
            [
                Suggestion(tactic, -0.1 - place)
                for key, tactics in PROPOSALS.items()
                if key in f"{goal}\n"
                for place, tactic in enumerate(tactics)
            ]
            for goal in goals
        ]


class ScriptedProver(BaseProver):
    generator = Scripted()

    def generate_whole_proof(self, theorem):
        raise AssertionError("not asked for")

    def write_proofs(self, theorems, seeds):
        assert all(isinstance(one, str) for one in theorems)
        return [WRITTEN[seed % len(WRITTEN)] for seed in seeds]


class ExpertIterationTrainer(module.ExpertIterationTrainer):
    """Searches with the table in place of its model; keeps which model would have searched."""

    searched: ClassVar[list[str]] = []

    def make_prover(self, endpoint=None):
        assert (endpoint is None) == (self.server_command is None)
        self.searched.append(self.searching_model())
        return ScriptedProver(self.search_limits())


def die(*_args: Any, **_kwargs: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DieAtStep(TrainerCallback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            die()


def lay(kill: dict[str, Any]) -> None:
    """Arrange for the process to die."""
    if int(os.environ.get("RANK", "0")) + 1 < int(os.environ.get("WORLD_SIZE", "1")):
        return
    index, build = kill.get("round", 0), SFTTrainer.build_step_trainer
    if kill.get("at") == "proof":  # kept, and its attempt not written down
        append, count = AttemptFolder.append, iter(range(1, 100))

        def counted(self, who, attempt):
            if attempt.success and next(count) == kill["number"]:
                die()
            append(self, who, attempt)

        AttemptFolder.append = counted
    if kill.get("at") == "step":

        def dying(self, dataset, step):
            built = build(self, dataset, step)
            if step.index == index:
                built.add_callback(DieAtStep(kill["number"]))
            return built

        SFTTrainer.build_step_trainer = dying
    if kill.get("at") == "staged":
        RunFolder.publish = die


def main() -> None:
    orders = json.loads(Path(os.environ["LEAN_DOJO_TEST_ORDERS"]).read_text())
    lay(orders.get("kill") or {})
    database = DynamicDatabase(orders["database"])
    trainer = ExpertIterationTrainer(
        orders["model"], orders["output_dir"], projects=orders["projects"], **orders["options"]
    )
    trainer.train(database.repositories, database, Path(orders["data_path"]))


if __name__ == "__main__":
    main()
