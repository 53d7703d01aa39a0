"""Whether training proves more, and what of it is due to what.

    python experiments/learning.py FOLDER [--seeds 0 1 2] [--parts human self-training …]
        [--steps 150] [--core RUN] [--engines 1] [--report]

Every stage is a public command; a killed run goes on with the same command, and calls with other
seeds may run side by side. Budgets are counted. Models are compared theorem by theorem.

The first four parts begin with the model that ships, on the sample's 260 held-out and 45 ``sorry``
theorems: what human proofs bring, and where they are few and problems many.

| part | arm | learns |
|---|---|---|
| *human* | shipped | nothing |
| | human | ``sft`` on all human proofs of the training theorems |
| *recipe* | human-fast | the same at twice the learning rate |
| | human-plain | and with the formatter ``tactic-chat``, which renames no variables |
| *self-training* | quarter | ``sft`` on those of a quarter of them |
| | self-training | ``expert-iteration``: that quarter, and what its model proves of the others |
| | control | the same, but what it trains itself on is false: the quarter, in as many steps |
| *fewer* | self-training-30, self-training-100 | self-training on so many of these statements |
| *episodes* | episodes | ``grpo`` over whole proofs of these statements, from the quarter's model |
| | constant | ``grpo`` with a constant reward, from the quarter's model, as many steps |

*problems*: how the gain grows with the number of problems. From random weights, ``sft`` learns the
proofs of a tenth of the theorems that ``make base-model`` mined of Lean's library (``--core`` is
its folder). From there, ``expert-iteration`` self-trains on 0, 100, 1,000 and 10,000 statements of
the same modules, none of which was mined. What is measured was never trained on, nor mined:
*near*, other such statements; *far*, the benchmark ``core-library``, of modules that nobody learns
from. What a problem's search finds does not depend on the other problems, so the largest number is
searched, and smaller ones take their part of it.

``--base`` starts the first four parts with another model than the one that ships.

``outcomes.csv`` holds what every theorem took in every run; the one behind the tables of
``docs/benchmarks.md`` is ``experiments/results/learning.csv``. Copied into a new folder it is added
to: ``--report`` reports both.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
from filelock import FileLock

from arms import OUTCOMES, WITHIN, bench_folder, draw, measured, report, table, write_outcomes
from base_model import SELF_TRAINING
from lean_dojo_v2.benchmarks.core_library.benchmark import library_server, modules
from lean_dojo_v2.database.export.splits import unit_hash
from lean_dojo_v2.files import append_lines, atomic_write_bytes, atomic_write_text, read_lines
from lean_dojo_v2.prover.shipped import SHIPPED
from lean_dojo_v2.runs.figures import save_figure
from lean_dojo_v2.sample import (
    SAMPLE_PROJECTS,
    SAMPLE_URLS,
    sample_database_path,
    sample_project_path,
)
from mining.miner import UNTRIED, Miner
from mining.shape import sample_shapes, shape
from stages import claimed, command, say, training_parser

PARTS = ("human", "recipe", "self-training", "fewer", "episodes", "problems")
FEWER = (30, 100)
COUNTS = (0, 100, 1_000, 10_000)
ARMS = (
    "shipped", "human", "human-fast", "human-plain", "quarter", "control",
    *(f"self-training-{count}" for count in FEWER), "self-training", "episodes", "constant",
    *(f"{where}-{count}" for where in ("near", "far") for count in COUNTS),
)  # fmt: skip
COMPARISONS = (
    ("human", "shipped"), ("human-fast", "human"), ("human-plain", "human"),
    ("human-plain", "human-fast"), ("quarter", "shipped"),
    ("self-training", "quarter"), ("self-training", "control"),
    *((f"self-training-{count}", "control") for count in FEWER),
    ("control", "quarter"), ("episodes", "quarter"), ("constant", "quarter"),
    ("human", "self-training"), ("human", "episodes"), ("episodes", "self-training"),
    *((f"{w}-{count}", f"{w}-0") for w in ("near", "far") for count in COUNTS[1:]),
)  # fmt: skip
QUARTER = 0.25
FEW = 0.1
"""Share of the mined theorems whose proofs are learned before the problems."""
OF_A_MODULE = 600
"""Theorems of a module of the library that are stated, at most."""
NEAR = 400
"""Number of them held out for measuring."""
FALSE = {"name": "nothing", "header": "", "formal_statement": "theorem nothing : False :="}
LIMITS = ["--samples", "8", "--expansions", "16", "--visits", "2", "--no-automation"]
"""What every model may spend on a theorem when it is measured."""
RECIPES: dict[str, dict[str, Any]] = {
    "human-fast": {"lr": 2e-3},
    "human-plain": {"lr": 2e-3, "formatter": "tactic-chat"},
}
SEARCH = {"samples": 8, "expansions": 16, "visits": 2}
"""What self-training may spend on one."""


class Laboratory:
    """One folder, one seed.

    Args:
        folder: Where all seeds keep what they make.
        seed: Of training and search.
        options: Sizes.
    """

    def __init__(self, folder: Path, seed: int, options: argparse.Namespace) -> None:
        self.folder = folder
        self.seed = seed
        self.options = options

    def place(self, arm: str) -> Path:
        """Give the folder of a trained model."""
        return self.folder / f"{arm}-{self.seed}"

    def train(
        self, arm: str, trainer: str, database: Path, settings: Mapping[str, Any],
        optimiser: Mapping[str, Any], *words: str,
    ) -> Path:  # fmt: skip
        """Train a model, once."""
        model = self.place(arm)
        every = {"seed": self.seed, "output_dir": model, "report_to": "none", "max_length": 512}
        arguments = {"logging_steps": 10, "save_steps": 50, **optimiser}
        given = {**every, **settings, **{f"trainer_args.{k}": v for k, v in arguments.items()}}
        sets = [w for key, value in given.items() for w in ("--set", f"{key}={value}")]
        command(
            "train", trainer, "--database", database,
            "--data-path", model.with_name(f"{model.name}-data"), *sets, *words,
            done=model.with_name(f"{model.name}.trained"),
        )  # fmt: skip
        return model

    def fine_tune(
        self, arm: str, trainer: str, database: Path, steps: int, **settings: Any
    ) -> Path:
        """Train on tactics: with sft, or after self-training."""
        words = ("--formatter", settings.pop("formatter", "tactic-chat-renamed"))
        settings = {"model_name": self.options.base, "batch_size": 16, "lr": 1e-3,
                    "prompt_weight": 0.25, **settings}  # fmt: skip
        optimiser = {"optim": "muon", "weight_decay": 0.1, "max_steps": steps, "warmup_steps": 0.05}
        return self.train(arm, trainer, database, settings, optimiser, *words)

    def reinforce(self, arm: str, start: Path, *words: str, **settings: Any) -> Path:
        """Train with grpo."""
        settings = {"model_name": start, "batch_size": 128, "lr": self.options.grpo_lr,
                    "human_share": QUARTER, **settings}  # fmt: skip
        optimiser = {
            "max_steps": self.options.grpo_steps, "num_generations": 8,
            "max_completion_length": 48, "warmup_steps": 0.1, "logging_steps": 1, "save_steps": 10,
        }  # fmt: skip
        return self.train(arm, "grpo", self.sample(), settings, optimiser, *words)

    def sample(self) -> Path:
        """Give this seed's copy of the sample's database, which training may write into."""
        return self.copy("sample", sample_database_path())

    def core(self) -> Path:
        """Give this seed's copy of the database of mined proofs."""
        return self.copy("core", self.options.core / "database.json")

    def copy(self, name: str, database: Path) -> Path:
        """Copy a database, once."""
        mine = self.folder / f"{name}-{self.seed}.json"
        if not mine.exists():
            shutil.copy(database, mine)
        return mine

    def measure(self, arm: str, model: Path | str, benchmark: str) -> None:
        """Let a model try the theorems of a benchmark, once."""
        run = bench_folder(self.folder, arm, self.seed)
        command(
            "bench", benchmark, "--model", model, *LIMITS, "--seed", str(self.seed),
            "-j", str(self.options.engines), "-o", run,
            *(["-n", str(self.options.limit)] if self.options.limit else []),
            done=run.with_suffix(".measured"),
        )  # fmt: skip

    def human(self) -> None:
        """What human proofs bring."""
        self.measure("shipped", self.options.base, "sample")
        human = self.fine_tune("human", "sft", self.sample(), self.options.steps)
        self.measure("human", human, "sample")

    def recipe(self) -> None:
        """What the learning rate and the renaming of variables do to it."""
        for arm, settings in RECIPES.items():
            model = self.fine_tune(arm, "sft", self.sample(), self.options.steps, **settings)
            self.measure(arm, model, "sample")

    def quarter(self) -> Path:
        """Train on few proofs."""
        steps = self.options.steps
        model = self.fine_tune("quarter", "sft", self.sample(), steps, human_share=QUARTER)
        self.measure("quarter", model, "sample")
        return model

    def lean(self) -> dict[str, Any]:
        """Give the settings of a training that asks Lean."""
        projects = {SAMPLE_URLS[name]: str(sample_project_path(name)) for name in SAMPLE_PROJECTS}
        return {"projects": json.dumps(projects), "engines": self.options.engines}

    def self_training(self) -> None:
        """Self-train on problems without proofs, and what is due to the longer training."""
        nothing = self.folder / "false.jsonl"
        write_rows(nothing, [FALSE])
        self.self_train("self-training", "hidden")
        self.self_train("control", str(nothing))

    def fewer(self) -> None:
        """Self-train on fewer problems; their names decide on which, more include fewer."""
        for count in FEWER:
            self.self_train(f"self-training-{count}", "hidden", problems_per_round=count)

    def self_train(self, arm: str, problems: str, **settings: Any) -> Path:
        """Self-train with the model of the quarter, and learn in the same number of steps."""
        if self.options.limit:
            settings = {"problems_per_round": self.options.limit, **settings}
        model = self.fine_tune(
            arm, "expert-iteration", self.sample(), self.options.steps * len(SAMPLE_PROJECTS),
            search_model=self.quarter(), human_share=QUARTER, problems=json.dumps([problems]),
            rounds=self.options.rounds, **SEARCH, **self.lean(), **settings,
        )  # fmt: skip
        self.measure(arm, model, "sample")
        return model

    def episodes(self) -> None:
        """Whole proofs rewarded, and the same steps with a reward that says nothing."""
        quarter = self.quarter()
        model = self.reinforce("episodes", quarter, episodes="true", **self.lean())
        self.measure("episodes", model, "sample")
        model = self.reinforce("constant", quarter, "--reward", "constant")
        self.measure("constant", model, "sample")

    def problems(self) -> None:
        """More and more problems."""
        core: Path = self.options.core
        every = unmined(self.folder, core, self.options.engines)
        order = sorted(every, key=lambda one: unit_hash(one["name"]))
        near = self.folder / "near.jsonl"
        unseen = {one["name"] for one in order[-NEAR:]}
        write_rows(near, [one for one in every if one["name"] in unseen])
        few = self.fine_tune(
            "few", "sft", self.core(), 4 * self.options.steps, model_name=core / "untrained",
            human_share=FEW,
        )  # fmt: skip
        searched: Path | None = None
        for count in sorted(self.options.counts, reverse=True):
            arm, file = f"problems-{count}", self.folder / f"problems-{count}.jsonl"
            names = {one["name"] for one in order[:-NEAR][:count]}
            write_rows(file, [one for one in every if one["name"] in names] or [FALSE])
            if searched is not None and count:
                take_searches(searched, self.place(arm), names)
            searched = self.fine_tune(
                arm, "expert-iteration", self.core(), 2 * self.options.steps, model_name=few,
                human_share=FEW, problems=json.dumps([str(file)]), rounds=1,
                engines=self.options.engines, **SELF_TRAINING,
            )  # fmt: skip
            self.measure(f"near-{count}", searched, str(near))
            self.measure(f"far-{count}", searched, "core-library")


def unmined(folder: Path, core: Path, engines: int) -> list[dict[str, Any]]:
    """State theorems of Lean's library that were not mined, module by module."""
    file, done = folder / "library.jsonl", folder / "library.done"
    with FileLock(folder / "library.lock"):
        if not done.exists():
            with library_server() as library:
                found = [one for one in modules(library) if not one.is_held_out]
            miner = Miner(file, theorems=0, untried=OF_A_MODULE, engines=engines)
            for number, _ in enumerate(miner.run(found), 1):
                say(f"statements of {number} modules")
            done.touch()
    mined = {one["name"] for one in read_lines(core / "statements.jsonl")}
    secret = sample_shapes()
    return [
        {"name": one["name"], "header": one["header"], "formal_statement": one["statement"]}
        for one in read_lines(file)
        if one["kind"] == UNTRIED
        and one["name"] not in mined
        and shape(one["statement"]) not in secret
    ]


def write_rows(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write problems."""
    lines = [orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows]
    atomic_write_bytes(file, b"".join(lines))


def take_searches(searched: Path, model: Path, names: set[str]) -> None:
    """Give a run that has not begun its part of another one's first round."""
    for name, of in (
        (Path("rounds", "1", "prover.jsonl"), "name"),
        (Path("proofs.jsonl"), "problem"),
    ):
        if not (model / name).exists():
            append_lines(
                model / name, [row for row in read_lines(searched / name) if row[of] in names]
            )


def main() -> None:
    """Run what is not done, and report what is."""
    parser = training_parser(__doc__, SHIPPED)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[:-1])
    parser.add_argument("--grpo-steps", type=int, default=40, help="at each repository")
    parser.add_argument("--grpo-lr", type=float, default=1e-4)
    parser.add_argument("--core", type=Path, help="folder of `make base-model`")
    parser.add_argument("--counts", type=int, nargs="+", choices=COUNTS, default=COUNTS)
    options = claimed(parser)
    if "problems" in options.parts and options.core is None:
        parser.error("--parts problems needs --core")
    folder = options.folder
    for seed in [] if options.report else options.seeds:
        for part in options.parts:
            say(f"seed {seed}: {part}")
            getattr(Laboratory(folder, seed, options), part.replace("-", "_"))()
    every = measured(folder)
    write_outcomes(folder / OUTCOMES, every)
    found = report(every, ARMS, COMPARISONS)
    atomic_write_bytes(folder / "report.json", orjson.dumps(found, option=orjson.OPT_INDENT_2))
    atomic_write_text(folder / "report.md", table(found))
    if found[str(WITHIN[-1])]["arms"]:
        save_figure(draw(found), folder / "report.svg")
    print(table(found))


if __name__ == "__main__":
    main()
