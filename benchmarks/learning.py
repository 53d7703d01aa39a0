"""Whether training proves more, and what of it is due to what.

    python benchmarks/learning.py FOLDER [--seeds 0 1 2] [--parts human practice …] [--steps 150]
        [--core RUN] [--engines 1] [--report]

Every stage is a public command; a killed run goes on with the same command, and calls with other
seeds may run side by side. Budgets are counted. Models are compared theorem by theorem.

The first three parts begin with the model that ships, on the sample's 260 held-out and 45 ``sorry``
theorems: what human proofs bring, and where they are few and problems many.

| part | arm | learns |
|---|---|---|
| *human* | shipped | nothing |
| | human | ``sft`` on all human proofs of the training theorems |
| *practice* | quarter | ``sft`` on those of a quarter of them |
| | practice | ``expert-iteration``: that quarter, and what its model proves of all statements |
| | control | the same, but what is practised on is false: the quarter, in as many steps |
| *episodes* | episodes | ``grpo`` over whole proofs of the statements, from the quarter's model |
| | constant | ``grpo`` with a constant reward, from the quarter's model, as many steps |

*problems*: how the gain grows with the number of problems. ``expert-iteration`` from the model that
ships over 0, 100, 1,000 and 10,000 (or all) statements of the core library, of ``--core``, a folder
of ``make base-model``; measured on the benchmark ``core-library``, which is never practised on.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np
import orjson
from scipy.stats import bootstrap, permutation_test
from stages import claimed, command, say

from lean_dojo_v2.atomic import atomic_write_bytes, atomic_write_text
from lean_dojo_v2.benchmarks.attempts import AttemptFolder
from lean_dojo_v2.benchmarks.statistics import Comparison
from lean_dojo_v2.benchmarks.summary import PROVER, proved_by
from lean_dojo_v2.database.export.splits import unit_hash
from lean_dojo_v2.prover.shipped import SHIPPED
from lean_dojo_v2.runs.figures import COLOURS, new_figure, save
from lean_dojo_v2.sample import (
    SAMPLE_PROJECTS,
    SAMPLE_URLS,
    sample_database_path,
    sample_project_path,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = ("human", "practice", "episodes", "problems")
ARMS = ("shipped", "human", "quarter", "practice", "control", "episodes", "constant")
COUNTS = (0, 100, 1_000, 10_000)
QUARTER = 0.25
FALSE = {"name": "nothing", "header": "", "formal_statement": "theorem nothing : False :="}
LIMITS = ["--samples", "8", "--expansions", "16", "--visits", "2", "--no-automation"]
"""What every model may spend on a theorem when it is measured."""
SEARCH = {"samples": 8, "expansions": 16, "visits": 2}
"""What practice may spend on one."""
WITHIN = (1, 2, 4, 8, 16)
"""Expansions, at which the report looks: a search that is cut short there found as much."""


Outcomes: TypeAlias = dict[int, dict[str, bool]]
"""For each seed which theorems were proved."""


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
        """Train on tactics: with sft, or after practice."""
        settings = {"model_name": SHIPPED, "batch_size": 16, "lr": 1e-3,
                    "prompt_weight": 0.25, **settings}  # fmt: skip
        optimiser = {"optim": "muon", "weight_decay": 0.1, "max_steps": steps, "warmup_steps": 0.05}
        words = ("--formatter", "tactic-chat-renamed")
        return self.train(arm, trainer, database, settings, optimiser, *words)

    def reinforce(self, arm: str, start: Path, *words: str, **settings: Any) -> Path:
        """Train with grpo."""
        settings = {"model_name": start, "batch_size": 128, "lr": self.options.grpo_lr, **settings}
        optimiser = {
            "max_steps": self.options.grpo_steps, "num_generations": 8,
            "max_completion_length": 48, "warmup_steps": 0.1, "logging_steps": 1, "save_steps": 10,
        }  # fmt: skip
        return self.train(arm, "grpo", self.sample(), settings, optimiser, *words)

    def sample(self) -> Path:
        """Give this seed's copy of the sample's database, which training may write into."""
        database = self.folder / f"sample-{self.seed}.json"
        if not database.exists():
            shutil.copy(sample_database_path(), database)
        return database

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
        self.measure("shipped", SHIPPED, "sample")
        human = self.fine_tune("human", "sft", self.sample(), self.options.steps)
        self.measure("human", human, "sample")

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

    def practice(self) -> None:
        """Practise on problems without proofs, and what is due to the longer training."""
        quarter = self.quarter()
        nothing = self.folder / "false.jsonl"
        atomic_write_bytes(nothing, orjson.dumps(FALSE) + b"\n")
        for arm, problems in (("practice", "training"), ("control", str(nothing))):
            model = self.fine_tune(
                arm, "expert-iteration", self.sample(), self.options.steps * len(SAMPLE_PROJECTS),
                search_model=quarter, human_share=QUARTER, problems=json.dumps([problems]),
                rounds=self.options.rounds, **SEARCH, **self.lean(),
            )  # fmt: skip
            self.measure(arm, model, "sample")

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
        lines = (core / "problems.jsonl").read_bytes().splitlines()
        lines.sort(key=lambda line: unit_hash(orjson.loads(line)["name"]))
        for count in COUNTS:
            arm, file = f"problems-{count}", self.folder / f"problems-{count}.jsonl"
            chosen = lines[:count] or [orjson.dumps(FALSE)]
            atomic_write_bytes(file, b"\n".join(chosen) + b"\n")
            database = self.folder / f"core-{self.seed}-{count}.json"
            if not database.exists():
                shutil.copy(core / "database.json", database)
            model = self.fine_tune(
                arm, "expert-iteration", database, 2 * self.options.steps,
                problems=json.dumps([str(file)]), rounds=self.options.rounds,
                engines=self.options.engines, **SEARCH,
            )  # fmt: skip
            self.measure(arm, model, "core-library")


def bench_folder(folder: Path, arm: str, seed: int) -> Path:
    """Give the folder of a measurement."""
    return folder / "bench" / f"{arm}-{seed}"


def outcomes(folder: Path, arm: str, within: int = WITHIN[-1]) -> Outcomes:
    """Say for each seed that was measured which theorems an arm proves in so many expansions."""
    found = {}
    for done in sorted((folder / "bench").glob(f"{arm}-*.measured")):
        seed = done.stem.removeprefix(f"{arm}-")
        if seed.isdigit():
            attempts = AttemptFolder(done.with_suffix("")).attempts(PROVER)
            cut = [attrs.evolve(a, success=a.success and a.expansions <= within) for a in attempts]
            found[int(seed)] = proved_by(cut)
    return found


def compared(ours: Outcomes, theirs: Outcomes) -> Any:
    """Compare two arms over the seeds and theorems that both have.

    The difference of the shares proved, with the 95 % interval of a bootstrap over theorems, and
    the two-sided p-value of a permutation test over theorems; beside it each seed's exact test.
    """
    seeds = sorted(ours.keys() & theirs.keys())
    names = sorted(set.intersection(*(set(arm[s]) for s in seeds for arm in (ours, theirs))))
    a, b = (_means(arm, seeds, names) for arm in (ours, theirs))
    p = 1.0
    if not np.array_equal(a, b):
        rng = np.random.default_rng(0)
        test = permutation_test(
            (a, b), _difference, vectorized=True, permutation_type="samples", rng=rng
        )
        p = float(test.pvalue)
    each = [Comparison.of((ours[s][n], theirs[s][n]) for n in names) for s in seeds]
    return {"seeds": seeds, **_interval(a - b), "p": p, "p of each seed": [one.p for one in each]}


def _means(arm: Mapping[int, dict[str, bool]], seeds: Sequence[int], names: Sequence[str]) -> Any:
    """Give for each theorem the share of the seeds that prove it."""
    return np.array([np.mean([arm[seed][name] for seed in seeds]) for name in names])


def _interval(values: np.ndarray) -> dict[str, float]:
    """Give the mean over theorems in points, with the 95 % interval of a bootstrap."""
    low = high = mean = float(np.mean(values))
    if np.ptp(values):
        rng = np.random.default_rng(0)
        ends = bootstrap((values,), np.mean, method="percentile", rng=rng).confidence_interval
        low, high = float(ends.low), float(ends.high)
    return {"points": 100 * mean, "low": 100 * low, "high": 100 * high}


def _difference(a: np.ndarray, b: np.ndarray, axis: int = -1) -> Any:
    return np.mean(a - b, axis=axis)


COMPARISONS = (
    ("human", "shipped"), ("quarter", "shipped"), ("practice", "quarter"), ("practice", "control"),
    ("control", "quarter"), ("episodes", "quarter"), ("constant", "quarter"),
    ("human", "practice"),
    *((f"problems-{count}", "problems-0") for count in COUNTS[1:]),
)  # fmt: skip


def report(folder: Path) -> dict[str, Any]:
    """Give all that is measured so far, at each number of expansions."""
    return {str(within): _report_within(folder, within) for within in WITHIN}


def _report_within(folder: Path, within: int) -> dict[str, Any]:
    names = (*ARMS, *(f"problems-{count}" for count in COUNTS))
    arms = {arm: outcomes(folder, arm, within) for arm in names}
    arms = {arm: found for arm, found in arms.items() if found}
    return {
        "arms": {arm: _counts(found) for arm, found in arms.items()},
        "comparisons": {
            f"{ours} - {theirs}": compared(arms[ours], arms[theirs])
            for ours, theirs in COMPARISONS
            if ours in arms and theirs in arms and arms[ours].keys() & arms[theirs].keys()
        },
    }


def _counts(found: Outcomes) -> dict[str, Any]:
    seeds = sorted(found)
    names = sorted(set.intersection(*(set(found[seed]) for seed in seeds)))
    proved = {str(seed): sum(found[seed].values()) for seed in seeds}
    return {"proved": proved, "tried": len(names), **_interval(_means(found, seeds, names))}


def table(found: Mapping[str, Any]) -> str:
    """Write the report for people."""
    last = found[str(WITHIN[-1])]
    text = _table(
        ("arm", "proved, seed by seed", "of", "share", "95 % interval"),
        (
            (
                arm, ", ".join(map(str, one["proved"].values())), one["tried"],
                f"{one['points']:.1f} %", f"{one['low']:.1f} to {one['high']:.1f}",
            )
            for arm, one in last["arms"].items()
        ),
    )  # fmt: skip
    text += _table(
        ("compared", "points", "95 % interval", "p", "p of each seed"),
        (
            (
                name, f"{one['points']:+.1f}", f"{one['low']:+.1f} to {one['high']:+.1f}",
                f"{one['p']:.2g}", ", ".join(f"{p:.2g}" for p in one["p of each seed"]),
            )
            for name, one in last["comparisons"].items()
        ),
    )  # fmt: skip
    text += _table(
        ("share within so many expansions, %", *WITHIN),
        (
            (arm, *(f"{found[str(n)]['arms'][arm]['points']:.1f}" for n in WITHIN))
            for arm in last["arms"]
        ),
    )
    return text + _table(
        ("compared within so many", *WITHIN),
        (
            (name, *(_points(found[str(n)]["comparisons"][name]) for n in WITHIN))
            for name in last["comparisons"]
        ),
    )


def _points(one: Mapping[str, Any]) -> str:
    return f"{one['points']:+.1f} ({one['low']:+.1f} to {one['high']:+.1f})"


def _table(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n\n"


def draw(found: Mapping[str, Any]) -> Figure:
    """Draw what each arm proves, with its interval and its seeds, and how early it proves it."""
    arms = found[str(WITHIN[-1])]["arms"]
    figure, bars = new_figure(9, 1 + 0.36 * len(arms))
    grid = figure.add_gridspec(1, 2, width_ratios=(3, 2))
    bars.set_subplotspec(grid[0])
    curves = figure.add_subplot(grid[1])
    for place, ((arm, one), colour) in enumerate(zip(arms.items(), cycle(COLOURS), strict=False)):
        ends = [[one["points"] - one["low"]], [one["high"] - one["points"]]]
        bars.barh(place, one["points"], color=colour, height=0.62, alpha=0.7)
        bars.errorbar(one["points"], place, xerr=ends, color="black", capsize=4, linewidth=1.2)
        points = [100 * proved / one["tried"] for proved in one["proved"].values()]
        bars.plot(points, [place] * len(points), "o", color="black", markersize=3, alpha=0.6)
        shares = [found[str(within)]["arms"][arm]["points"] for within in WITHIN]
        curves.plot(range(len(WITHIN)), shares, "o-", color=colour, markersize=3, linewidth=1.6)
    bars.set_yticks(range(len(arms)), list(arms))
    bars.invert_yaxis()
    bars.set_xlim(left=0)
    bars.grid(axis="x", alpha=0.25)
    curves.set_xticks(range(len(WITHIN)), list(map(str, WITHIN)))
    curves.set_xlabel("expansions")
    curves.set_ylim(bottom=0)
    curves.grid(alpha=0.25)
    for axes, title in (
        (bars, "Theorems proved, %: mean of seeds, 95 % interval"),
        (curves, "within so many expansions, %"),
    ):
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title(title, loc="left", fontsize="small", fontweight="bold")
    return figure


def main() -> None:
    """Run what is not done, and report what is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[:-1])
    parser.add_argument("--steps", type=int, default=150, help="of fine-tuning, at each repository")
    parser.add_argument("--rounds", type=int, default=1, help="of expert iteration")
    parser.add_argument("--grpo-steps", type=int, default=40, help="at each repository")
    parser.add_argument("--grpo-lr", type=float, default=1e-4)
    parser.add_argument("--core", type=Path, help="folder of `make base-model`")
    parser.add_argument("--limit", type=int, help="theorems of a benchmark at most")
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="only report what is there")
    options = claimed(parser)
    if "problems" in options.parts and options.core is None:
        parser.error("--parts problems needs --core")
    folder = options.folder
    for seed in [] if options.report else options.seeds:
        for part in options.parts:
            say(f"seed {seed}: {part}")
            getattr(Laboratory(folder, seed, options), part)()
    found = report(folder)
    atomic_write_bytes(folder / "report.json", orjson.dumps(found, option=orjson.OPT_INDENT_2))
    atomic_write_text(folder / "report.md", table(found))
    if found[str(WITHIN[-1])]["arms"]:
        save(draw(found), folder / "report.svg")
    print(table(found))


if __name__ == "__main__":
    main()
