"""Whether self-training on whole proofs teaches.

    python experiments/whole_proofs.py FOLDER [--seeds 0 1 2] [--steps 150] [--attempts 16]
        [--engines 1] [--limit N] [--report]

Every stage is a public command; a killed run goes on with the same command, and calls with other
seeds may run side by side. Budgets are counted: samples, and a Lean call for each distinct one.
From the model that ships, on the sample's 305 held-out and ``sorry`` theorems:

| arm | learns |
|---|---|
| quarter | ``sft`` on the whole human proofs of a quarter of the training theorems |
| self-training | ``expert-iteration`` with ``whole_proof``: that quarter, and what its model |
| | proves of the others, in ``--attempts`` samples each |
| control | the same, but what it trains itself on is false: the quarter, in as many steps |

Each is measured by ``bench sample --whole-proof --attempts 8``; a theorem counts as proved if one
of the 8 proofs holds. ``report.md`` has the exact paired test of each seed, and a permutation test
over all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from arms import ATTEMPTS, OUTCOMES, bench_folder, measured, report, table, write_outcomes
from lean_dojo_v2.benchmarks.attempts import AttemptFolder
from lean_dojo_v2.benchmarks.summary import read_report
from lean_dojo_v2.files import atomic_write_bytes, atomic_write_text
from lean_dojo_v2.prover.shipped import SHIPPED
from lean_dojo_v2.sample import SAMPLE_PROJECTS
from learning import FALSE, QUARTER, Laboratory, write_rows
from stages import claimed, command, say, training_parser

ARMS = ("quarter", "control", "self-training")
COMPARISONS = (("self-training", "quarter"), ("self-training", "control"), ("control", "quarter"))
MEASURED = 8
"""Proofs of each theorem that a model is measured by."""
TOKENS = 128
"""Longest proof."""


class WholeProofs(Laboratory):
    """One folder, one seed; models that write whole proofs.

    Attributes:
        attempts: Proofs of each theorem that a model is measured by.
        tokens: Longest proof when it is measured.
    """

    attempts = MEASURED
    tokens = TOKENS

    def fine_tune(
        self, arm: str, trainer: str, database: Path, steps: int, **settings: Any
    ) -> Path:
        """Train on whole proofs: with sft, or after self-training."""
        settings = {"model_name": self.options.base, "batch_size": 16, "lr": 1e-3,
                    "prompt_weight": 0.25, **settings}  # fmt: skip
        optimiser = {"optim": "muon", "weight_decay": 0.1, "max_steps": steps, "warmup_steps": 0.05}
        words = ("--formatter", "whole-proof")
        return self.train(arm, trainer, database, settings, optimiser, *words)

    def measure(self, arm: str, model: Path | str, benchmark: str) -> None:
        """Let a model write proofs of the theorems of a benchmark, once."""
        run = bench_folder(self.folder, arm, self.seed)
        command(
            "bench", benchmark, "--model", model, "--whole-proof", "--attempts", str(self.attempts),
            "--no-automation", "--prover-set", f"max_proof_tokens={self.tokens}",
            "--seed", str(1000 * self.seed), "-j", str(self.options.engines), "-o", run,
            *(["-n", str(self.options.limit)] if self.options.limit else []),
            done=run.with_suffix(".measured"),
        )  # fmt: skip

    def run(self) -> None:
        """Train and measure all arms."""
        nothing = self.folder / "false.jsonl"
        write_rows(nothing, [FALSE])
        self.self_train("self-training", "hidden", attempts=self.options.attempts)
        self.self_train("control", str(nothing))

    def self_train(self, arm: str, problems: str, **settings: Any) -> Path:
        """Self-train with the model of the quarter, and learn in the same number of steps."""
        if self.options.limit:
            settings = {"problems_per_round": self.options.limit, **settings}
        model = self.fine_tune(
            arm, "expert-iteration", self.sample(), self.options.steps * len(SAMPLE_PROJECTS),
            search_model=self.quarter(), human_share=QUARTER, problems=json.dumps([problems]),
            rounds=self.options.rounds, whole_proof="true", max_proof_tokens=TOKENS,
            **self.lean(), **settings,
        )  # fmt: skip
        self.measure(arm, model, "sample")
        return model


def spent(folder: Path, attempts: int) -> str:
    """Say what each measurement spent, and what one proof of each theorem finds."""
    head = f"| run | pass@1 | pass@{attempts} | samples | Lean calls |"
    lines = ["", head, "|---|---|---|---|---|"]
    for done in sorted((folder / "bench").glob("*.measured")):
        found = read_report(AttemptFolder(done.with_suffix(""))).prover
        first, last = found.pass_at[1], found.pass_at[attempts]
        lines.append(f"| {done.stem} | {first} | {last} | {found.samples} | {found.lean_calls} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is not done, and report what is."""
    parser = training_parser(__doc__, SHIPPED)
    parser.add_argument("--attempts", type=int, default=16, help="samples a problem and round")
    options = claimed(parser)
    folder = options.folder
    for seed in [] if options.report else options.seeds:
        say(f"seed {seed}")
        WholeProofs(folder, seed, options).run()
    conclude(folder, ARMS, COMPARISONS)


def conclude(
    folder: Path, arms: Sequence[str], comparisons: Sequence[tuple[str, str]], more: str = "",
    attempts: int = MEASURED,
) -> None:  # fmt: skip
    """Write what the arms measured so far: outcomes, report and tables, which are printed."""
    every = measured(folder, counted=ATTEMPTS)
    write_outcomes(folder / OUTCOMES, every)
    found = report(every, arms, comparisons, [n for n in (1, 2, 4, 8) if n <= attempts])
    atomic_write_bytes(folder / "report.json", orjson.dumps(found, option=orjson.OPT_INDENT_2))
    text = table(found, "attempts") + more + spent(folder, attempts)
    atomic_write_text(folder / "report.md", text)
    print(text)


if __name__ == "__main__":
    main()
