"""Whether credit for each tactic teaches more than the outcome of a proof alone.

    python experiments/process_credit.py FOLDER [--seeds 0 1 2] [--arms outcome process …]
        [--steps 50] [--grpo-steps 8] [--groups 4] [--engines 1] [--limit N] [--report] [--ship]

Every stage is a public command; a killed run goes on with the same command, and calls with other
seeds or arms may run side by side. Each arm samples as many proofs in as many steps, and Lean
verifies each of them once: what it says of each tactic comes from the same elaboration.

From the model that ships, ``sft`` learns the whole human proofs of a quarter of the sample's
training theorems, once: every arm and seed starts there. ``grpo`` learns to write proofs of the
others, of at most 64 tokens (nine in ten human proofs are shorter):

| arm | what a token is worth, beside the advantage of its proof's outcome |
|---|---|
| quarter | nothing is trained |
| outcome | nothing |
| process | sound tactics gain, the first failing one loses |
| gain | sound tactics gain |
| loss | the first failing one loses |
| first-token | as *process*, at the first token of each tactic alone |

Each is measured by ``bench sample --whole-proof --attempts 4``, on the sample's 305 held-out and
``sorry`` theorems; a theorem counts as proved if one of the 4 proofs holds. ``report.md`` has the
exact paired test of each seed, a permutation test over all, and what each arm spent.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from arms import OUTCOMES
from lean_dojo_v2.prover.shipped import SHIPPED
from lean_dojo_v2.runs.metrics import read_metrics
from lean_dojo_v2.sample import SAMPLE_PROJECTS, SAMPLE_URLS, sample_project_path
from learning import QUARTER
from stages import claimed, say, training_parser
from whole_proofs import WholeProofs, conclude

RESULTS = Path(__file__).with_name("results") / "process-credit.csv"
WEIGHT = 0.5
"""Weight of a tactic beside the outcome's advantage, which is about 1 in size."""
GROUP = 16
"""Proofs of a theorem in a step: the file before a theorem costs Lean more than most proofs."""
PATIENCE = 1200
"""Seconds for a proof. Heartbeats end one that takes too long, whatever the load of the machine."""
SETTINGS: dict[str, dict[str, Any]] = {
    "outcome": {"process_weight": 0.0},
    "process": {},
    "gain": {"failing": 0.0},
    "loss": {"sound": 0.0},
    "first-token": {"process_credit": "first-token"},
}
"""What an arm sets of the trainer, or of its reward."""
OF_THE_REWARD = ("sound", "failing")
ARMS = ("quarter", *SETTINGS)
COMPARISONS = (
    ("process", "outcome"), ("gain", "outcome"), ("loss", "outcome"), ("first-token", "outcome"),
    ("outcome", "quarter"), ("process", "quarter"),
    ("process", "gain"), ("process", "loss"), ("process", "first-token"),
)  # fmt: skip


START_SEED = 0
"""Of the one model that every seed starts from."""


class Credit(WholeProofs):
    """One folder, one seed."""

    attempts = 4
    tokens = 64

    def run(self) -> None:
        """Train and measure the arms that are asked for, and what they start from."""
        start = self.start()
        for arm in self.options.arms:
            self.measure(arm, self.credited(arm, start), "sample")
        self.measure("quarter", start, "sample")

    def start(self) -> Path:
        """Train on few human proofs, once for all seeds."""
        one = Credit(self.folder, START_SEED, self.options)
        return one.fine_tune(
            "quarter", "sft", one.sample(), self.options.steps, human_share=QUARTER
        )

    def credited(self, arm: str, start: Path) -> Path:
        """Train on whole proofs with grpo."""
        given = SETTINGS[arm]
        reward: dict[str, Any] = {
            "engines": self.options.engines,
            "timeout": PATIENCE,
            "projects": {SAMPLE_URLS[n]: str(sample_project_path(n)) for n in SAMPLE_PROJECTS},
            **{name: value for name, value in given.items() if name in OF_THE_REWARD},
        }
        settings = {
            "model_name": start, "batch_size": GROUP * self.options.groups,
            "lr": self.options.grpo_lr, "human_share": QUARTER, "process_weight": WEIGHT,
            "reward_func": json.dumps({"proof-verified": reward}),
            **{name: value for name, value in given.items() if name not in OF_THE_REWARD},
        }  # fmt: skip
        optimiser = {
            "max_steps": self.options.grpo_steps, "num_generations": GROUP,
            "max_completion_length": self.tokens, "warmup_steps": 0.1, "logging_steps": 1,
            "save_steps": 10,
        }  # fmt: skip
        words = ("--formatter", "whole-proof")
        return self.train(arm, "grpo", self.sample(), settings, optimiser, *words)


def learned(folder: Path, seeds: list[int]) -> str:
    """Say what each training sampled and asked of Lean, and what became of the proofs."""
    head = (
        "| run | steps | proved, first and last quarter | Lean calls per proof | seconds a step |"
    )
    lines = ["", head, "|---|---|---|---|---|"]
    for arm in SETTINGS:
        for seed in seeds:
            if not (folder / f"{arm}-{seed}.trained").exists():
                continue
            all_rows = read_metrics(folder / f"{arm}-{seed}")
            rows = [row for row in all_rows if "lean/verified" in row]
            some = max(1, len(rows) // 4)

            def mean(name: str, part: list[dict[str, Any]]) -> float:
                return sum(float(row[name]) for row in part) / len(part)

            shares = [
                f"{100 * mean('lean/verified', part):.1f} %" for part in (rows[:some], rows[-some:])
            ]
            seconds = mean("time/generation", rows) + mean("time/reward", rows)
            lines.append(
                f"| {arm}-{seed} | {len(rows)} | {', '.join(shares)} "
                f"| {mean('lean/calls', rows):.2f} | {seconds:.1f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is not done, and report what is."""
    parser = training_parser(__doc__, SHIPPED)
    parser.add_argument("--arms", nargs="+", choices=[*SETTINGS], default=[*SETTINGS])
    parser.add_argument("--grpo-steps", type=int, default=8, help="at each repository")
    parser.add_argument("--grpo-lr", type=float, default=2e-4)
    parser.add_argument("--groups", type=int, default=4, help="theorems of each step")
    parser.add_argument("--ship", action="store_true", help=f"write {RESULTS.name} into results/")
    parser.set_defaults(steps=50)
    options = claimed(parser)
    folder = options.folder
    for seed in [] if options.report else options.seeds:
        say(f"seed {seed}")
        Credit(folder, seed, options).run()
    conclude(folder, ARMS, COMPARISONS, learned(folder, options.seeds), Credit.attempts)
    if options.ship:
        shutil.copy(folder / OUTCOMES, RESULTS)


if __name__ == "__main__":
    main()
