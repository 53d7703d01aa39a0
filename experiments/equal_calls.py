"""What each trainer adds to Lean's automation, at equal numbers of Lean calls.

    python experiments/equal_calls.py FOLDER [--seeds 0 1 2] [--arms sft expert-iteration …]
        [--benchmarks sample core-library] [--lean-calls 32] [--rehearse] [--engines 1] [--report]

Every stage is a public command; a killed run goes on with the same command, and calls with other
seeds or arms may run side by side. Every prover may spend so many Lean calls on a theorem; a model
has automation's five closing tactics beside it, as for a user. All begin with the model that ships.

| arm | |
|---|---|
| automation | alone; the same whatever the seed |
| shipped | automation beside the model that ships |
| sft | beside one that ``sft`` trained on all human proofs of the sample's training theorems |
| expert-iteration | beside one that learned a quarter of these proofs, and what it proved of the \
other statements |
| episodes | beside one that learned that quarter, and ``grpo`` with ``episodes`` on the others |

With ``--rehearse`` each of them also learns again some of the proofs that the shipped model
learned (``lean-dojo database import shipped``).

``report.md`` compares each with automation, theorem by theorem, over seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from arms import OUTCOMES, bench_folder, measured, report, table, write_outcomes
from lean_dojo_v2.files import atomic_write_bytes, atomic_write_text
from lean_dojo_v2.prover.shipped import SHIPPED
from learning import RECIPES, Laboratory
from stages import claimed, command, say, training_parser

BENCHMARKS = ("sample", "core-library")
ARMS = ("automation", "shipped", "sft", "expert-iteration", "episodes")
SEARCHED = 8
"""Tactics that a model samples at a state and visit, beside automation's."""
KNOWN = 64
"""More than automation knows to try at a state."""


class EqualCalls(Laboratory):
    """One folder, one seed."""

    def make(self, arm: str) -> Path | str:
        """Train the model of an arm, once."""
        if arm == "shipped":
            model: Path | str = self.options.base
        elif arm == "sft":
            model = self.fine_tune(arm, "sft", self.sample(), self.options.steps)
        elif arm == "expert-iteration":
            model = self.self_train(arm, "hidden")
        else:
            model = self.reinforce(arm, self.quarter(), episodes="true", **self.lean())
        return model

    def fine_tune(
        self, arm: str, trainer: str, database: Path, steps: int, **settings: Any
    ) -> Path:
        """Train on tactics with the better of the recipes that learning.py compares."""
        if self.options.rehearse:
            together = self.copy("together", database)
            command("database", "import", SHIPPED, together, done=together.with_suffix(".done"))
            database = together
        return super().fine_tune(
            arm, trainer, database, steps, **RECIPES["human-plain"], **settings
        )

    def measure(self, arm: str, model: Path | str, benchmark: str) -> None:
        """Measure in :meth:`run` alone, also what is trained on the way."""

    def run(self, arm: str) -> None:
        """Let an arm try the theorems of each benchmark, once."""
        calls = self.options.lean_calls
        who: list[Any] = ["--prover", arm, "--samples", KNOWN]
        if arm != "automation":
            who = [
                "--model", self.make(arm), "--prover-set", "automation=true",
                "--samples", SEARCHED, "--visits", calls, "--no-automation",
            ]  # fmt: skip
        for benchmark in self.options.benchmarks:
            run = bench_folder(self.folder, f"{benchmark}-{arm}", self.seed)
            command(
                "bench", benchmark, *map(str, who), "--lean-calls", str(calls),
                "--seed", str(self.seed), "-j", str(self.options.engines), "-o", run,
                *(["-n", str(self.options.limit)] if self.options.limit else []),
                done=run.with_suffix(".measured"),
            )  # fmt: skip


def main() -> None:
    """Run what is not done, and report what is."""
    parser = training_parser(__doc__, SHIPPED)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--benchmarks", nargs="+", choices=BENCHMARKS, default=BENCHMARKS)
    parser.add_argument("--lean-calls", type=int, default=32, help="for a theorem")
    parser.add_argument(
        "--rehearse", action="store_true", help="learn proofs of the shipped model again"
    )
    parser.add_argument("--grpo-steps", type=int, default=40, help="at each repository")
    parser.add_argument("--grpo-lr", type=float, default=1e-4)
    options = claimed(parser)
    folder = options.folder
    for seed in [] if options.report else options.seeds:
        for arm in options.arms:
            say(f"seed {seed}: {arm}")
            EqualCalls(folder, 0 if arm == ARMS[0] else seed, options).run(arm)
    every = measured(folder, counted="lean_calls")
    for (arm, _), found in [one for one in every.items() if one[0][0].endswith(ARMS[0])]:
        every |= {(arm, seed): found for seed in options.seeds}
    write_outcomes(folder / OUTCOMES, every)
    arms = [f"{benchmark}-{arm}" for benchmark in BENCHMARKS for arm in ARMS]
    versus = [(f"{b}-{arm}", f"{b}-{ARMS[0]}") for b in BENCHMARKS for arm in ARMS[1:]]
    within = [options.lean_calls // 4, options.lean_calls // 2, options.lean_calls]
    found = report(every, arms, versus, within)
    atomic_write_bytes(folder / "report.json", orjson.dumps(found, option=orjson.OPT_INDENT_2))
    atomic_write_text(folder / "report.md", table(found, "Lean calls"))
    print(table(found, "Lean calls"))


if __name__ == "__main__":
    main()
