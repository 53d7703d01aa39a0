"""Whether guidance finds proofs sooner: none, the progress model and a critic, same theorems.

    python benchmarks/guidance.py FOLDER [--model DIR] [--theorems N] [--practice N] [--seeds 3]
        [--expansions 24]

Everything is counted, nothing timed; a run that is killed goes on with the same command.

1. *prover*: the model that ships is fine-tuned on the proofs of half of the sample's training
   theorems (``--model`` names another one).
2. *settings*: visits, samples and length exponent are chosen unguided on val, one after the other,
   by the proofs and then by the mean number of expansions.
3. *practice*: it searches the other half, statements only: the critic's data.
4. *models*: a progress model on all training proofs, a critic on those searches. Both begin with
   the prover's weights: in GPT-f and HTPS, too, one network is prover and critic. The weight of
   each is chosen on val likewise.
5. *test*: theorems that take at least four expansions unguided, with a seed that is not used again;
   those are searched unguided and with each model, with the same seeds.

Expansions to a proof are a mean in which a search without a proof counts as the whole budget.
Intervals are 95 % of a bootstrap over theorems, of the difference to no guidance.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from statistics import fmean as mean
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import attrs
import numpy as np
from scipy.stats import bootstrap
from stages import say

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import BenchmarkProblem
from lean_dojo_plugins.causal_lm.generate.prover import HFProver
from lean_dojo_plugins.progress.trainer import ProgressTrainer
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_plugins.training.share import is_in_share
from lean_dojo_v2.atomic import atomic_write_bytes
from lean_dojo_v2.benchmarks.attempts import Attempt, AttemptFolder
from lean_dojo_v2.benchmarks.database import problems_of, sorry_theorems, training_theorems
from lean_dojo_v2.benchmarks.runner import Bench
from lean_dojo_v2.benchmarks.summary import PROVER
from lean_dojo_v2.cli.waiting import said_now_and_then
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.database.export.splits import split_of, unit_hash
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.base import PROGRESS_VARIABLE, settings_of
from lean_dojo_v2.prover.search.tree import NodeStatus, SearchTree
from lean_dojo_v2.prover.shipped import SHIPPED
from lean_dojo_v2.sample import packaged_project, sample_database_path

SHOWN = 0.5
"""Share of the training theorems whose human proofs the prover has seen."""
HARD = 4
"""Expansions that a theorem takes at least, to be counted."""
WEIGHTS = {"progress": (0.5, 0.25, 1.0), "critic": (1.0, 0.5, 2.0)}
"""Weights of each model to choose from, the documented one first."""
CHOOSING, FIRST = 1000, 0
"""The seed that finds the theorems to count, and the first that measures."""


@attrs.frozen
class Choice:
    """Settings of a search to choose from."""

    visits: int = 4
    samples: int = 16
    length_exponent: float = 0.5

    @property
    def name(self) -> str:
        """What its searches are called."""
        return "-".join(map(str, attrs.astuple(self)))


GRID: dict[str, Sequence[Any]] = {
    "visits": (4, 2, 1),
    "samples": (16, 8),
    "length_exponent": (0.5, 0.0),
}
"""Values of each setting, where choosing begins first."""


def train_prover(folder: Path, steps: int) -> Path:
    """Fine-tune the model that ships on the shown half."""
    database = DynamicDatabase(sample_database_path())
    SFTTrainer(
        SHIPPED, str(folder / "prover"), batch_size=16, lr=1e-3, max_length=512,
        seed=0, formatter="tactic-chat-renamed", prompt_weight=0.25, human_share=SHOWN,
        report_to="none", device="cpu",
        trainer_args={
            "optim": "muon", "weight_decay": 0.1, "max_steps": steps, "warmup_steps": 0.05,
            "save_steps": 100, "logging_steps": 10,
        },
    ).train(database.repositories, database, folder / "data")  # fmt: skip
    return folder / "prover"


def train_guide(folder: Path, start: Path, data_path: Path | None, **settings: Any) -> Path:
    """Train a progress model or a critic, from a model's weights."""
    trainer = ProgressTrainer(
        data_path, str(start), str(folder), max_length=256, batch_size=32, learning_rate=1e-4,
        epochs=3, seed=0, report_to="none", device="cpu", **settings,
    )  # fmt: skip
    database = None if data_path else DynamicDatabase(sample_database_path())
    trainer.train(None, database, folder.parent / "data")
    return folder


def some(problems: Iterable[BenchmarkProblem], limit: int | None) -> list[BenchmarkProblem]:
    """Take some of the theorems, the same every time, in the order of their files."""
    problems = list(problems)
    chosen = {p.full_name for p in sorted(problems, key=lambda p: unit_hash(p.full_name))[:limit]}
    return [problem for problem in problems if problem.full_name in chosen]


def practice() -> list[BenchmarkProblem]:
    """Training theorems whose proofs the prover has not seen, and ``sorry`` ones."""
    repositories = DynamicDatabase(sample_database_path()).repositories
    hidden = [pair for pair in training_theorems(repositories) if not is_in_share(pair[0], SHOWN)]
    left = [pair for pair in sorry_theorems(repositories) if split_of(pair[0]) == "train"]
    return problems_of([*hidden, *left], {r.url: packaged_project(r.url) for r in repositories})


@attrs.define
class Laboratory:
    """One prover and its engines; every search is kept, and none is made twice."""

    folder: Path
    model: Path
    expansions: int
    stack: ExitStack
    prover: HFProver = attrs.field(init=False)
    servers: dict[Path | None, Server] = attrs.Factory(dict)

    def server(self, project: Path | None) -> Any:
        if project not in self.servers:
            server = Server(project_path=project, start=False, timeout=300)
            self.servers[project] = self.stack.enter_context(server)
        return nullcontext(self.servers[project])

    @prover.default
    def _prover(self) -> HFProver:
        return HFProver(self.model, device="cpu", max_new_tokens=40, max_length=512)

    def run(
        self,
        name: str,
        problems: Sequence[BenchmarkProblem],
        choice: Choice,
        guide: tuple[Path, float] | None = None,
        *,
        seeds: int = 1,
        first: int = FIRST,
        trees: bool = False,
    ) -> dict[str, list[Attempt]]:
        """Search the problems; give each one's attempts, a seed each."""
        prover = self.prover
        config = ProverConfig(
            max_expansions=self.expansions, num_sampled_tactics=choice.samples,
            length_exponent=choice.length_exponent, visits=choice.visits,
            revisit_cost=1.0, timeout=100_000,
            progress_weight=0.0 if guide is None else guide[1],
        )  # fmt: skip
        os.environ.pop(PROGRESS_VARIABLE, None)
        if guide is not None:
            os.environ[PROGRESS_VARIABLE] = str(guide[0])
        attempts = AttemptFolder(self.folder / "searches" / name)
        attempts.begin({"choice": choice.name, "guide": guide and guide[1], "first": first})
        bench = Bench(
            problems, attempts, server=self.server, states=True,
            tree_dir=attempts.path / "trees" if trees else None,
        )  # fmt: skip
        left, tried = bench.left(PROVER, seeds), 0

        def told(_: Attempt) -> None:
            nonlocal tried
            tried += 1

        def seeded(seed: int) -> HFProver:
            prover.settings = attrs.evolve(settings_of(config), seed=seed)
            return prover

        bench.on_attempt = told
        say(f"{name}: {left} searches to make")
        with said_now_and_then(lambda: f"{name}: {tried} of {left} searches"):
            bench.run(PROVER, seeded, attempts=seeds, seed=first)
        names = {problem.full_name for problem in problems}
        found: dict[str, list[Attempt]] = {problem.full_name: [] for problem in problems}
        for one in sorted(attempts.attempts(PROVER), key=lambda one: one.number):
            if one.name in names and one.number < seeds:
                found[one.name].append(one)
        return found

    def cost(self, one: Attempt) -> int:
        return one.expansions if one.success else self.expansions

    def quality(self, found: dict[str, list[Attempt]]) -> tuple[float, float]:
        """More proofs, then fewer expansions."""
        every = [one for mine in found.values() for one in mine]
        return (
            mean(one.success for one in every),
            -mean(self.cost(one) for one in every),
        )


def interval(differences: Sequence[float]) -> list[float]:
    """Give the mean of paired differences with the 95 % interval of a bootstrap over theorems."""
    values = np.asarray(differences, dtype=float)
    if not values.any():
        return [0.0, 0.0, 0.0]
    found = bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(0))
    ends = found.confidence_interval
    return [round(float(x), 3) for x in (values.mean(), ends.low, ends.high)]


def had_a_choice(folder: Path, visits: int) -> Iterator[bool]:
    """Say of every expansion whether more than one state waited."""
    for file in sorted((folder / "trees" / PROVER).glob("*.json")):
        tree = SearchTree.load(file)
        spans = []
        for node in tree.nodes:
            if node.status in {NodeStatus.SOLVED, NodeStatus.PROOF_REFUSED}:
                continue
            parent = None if node.parent is None else tree.nodes[node.parent]
            reached = 0 if parent is None else parent.expansions[0]
            done = len(node.expansions) == visits
            spans.append((reached, node.expansions[-1] if done else sys.maxsize))
        for when in (expansion for node in tree.nodes for expansion in node.expansions):
            yield sum(reached < when <= until for reached, until in spans) > 1


def choose(lab: Laboratory, problems: Sequence[BenchmarkProblem]) -> Choice:
    """Choose the settings of an unguided search, one after the other."""
    chosen = Choice()
    for name, values in GRID.items():
        tried = {}
        for value in values:
            choice = attrs.evolve(chosen, **{name: value})
            tried[value] = lab.quality(lab.run(f"val-{choice.name}", problems, choice))
        best = max(tried, key=lambda value: tried[value])
        say(f"{name}: {best}; proofs and expansions of each: {tried}")
        chosen = attrs.evolve(chosen, **{name: best})
    return chosen


def hard(
    problems: Sequence[BenchmarkProblem], unguided: Mapping[str, Sequence[Attempt]], option: str
) -> list[BenchmarkProblem]:
    """Give the theorems that take enough expansions to be counted."""
    found = [p for p in problems if unguided[p.full_name][0].expansions >= HARD]
    if not found:
        raise UsageError(
            f"none of {len(problems)} theorems takes {HARD} expansions; give a larger {option}"
        )
    return found


def weigh(
    lab: Laboratory, problems: Sequence[BenchmarkProblem], choice: Choice, name: str, guide: Path,
    count: int,
) -> float:  # fmt: skip
    """Choose the weight of a model in the cost of a state."""
    tried = {
        weight: lab.quality(lab.run(f"val-{name}-{weight}", problems, choice, (guide, weight)))
        for weight in WEIGHTS[name][:count]
    }
    return max(tried, key=lambda weight: tried[weight])


def measure(options: argparse.Namespace, stack: ExitStack) -> dict[str, Any]:
    folder = options.folder.absolute()
    model = options.model or train_prover(folder, options.steps)
    lab = Laboratory(folder, model, options.expansions, stack)
    sample = registry.benchmarks["sample"].create
    val = some(sample(split="val").problems(), options.val)
    chosen = choose(lab, val)
    unguided = lab.run(f"val-{chosen.name}", val, chosen)
    weighed = hard(val, unguided, "--val")
    lab.run("practice", some(practice(), options.practice), chosen, seeds=options.attempts)

    searched = folder / "searches" / "practice"
    guides = {
        "progress": train_guide(folder / "progress", model, None),
        "critic": train_guide(folder / "critic", model, searched, target="solved"),
    }
    weights = {
        name: weigh(lab, weighed, chosen, name, guide, options.weights)
        for name, guide in guides.items()
    }
    say(f"chosen on val: {chosen}, weights {weights}")

    test = some(sample(split="test").problems(), options.theorems)
    finding = lab.run("test-finding", test, chosen, first=CHOOSING)
    counted = hard(test, finding, "--theorems")
    arms: dict[str, tuple[Path, float] | None] = {"none": None}
    arms |= {name: (guide, weights[name]) for name, guide in guides.items()}
    found = {
        name: lab.run(
            f"test-{name}", counted, chosen, guide, seeds=options.seeds, trees=name == "none"
        )
        for name, guide in arms.items()
    }
    choices = list(had_a_choice(folder / "searches" / "test-none", chosen.visits))
    states = folder / "searches" / "test-none" / f"{PROVER}.states.jsonl"
    critic = ProgressTrainer(
        None, str(model), str(guides["critic"]), target="solved", max_length=256
    )
    return {
        "settings": attrs.asdict(chosen),
        "weights": weights,
        "expansions": options.expansions,
        "seeds": options.seeds,
        "val theorems": len(val),
        "test theorems": len(test),
        "counted theorems": len(counted),
        "expansions with a choice": round(mean(choices), 3),
        "critic on unguided test searches": dict(critic.evaluate(states).metrics),
        "arms": {name: summary(lab, mine, found["none"]) for name, mine in found.items()},
    }


def summary(
    lab: Laboratory, mine: dict[str, list[Attempt]], none: dict[str, list[Attempt]]
) -> dict[str, Any]:
    proofs = {name: mean(one.success for one in each) for name, each in mine.items()}
    costs = {name: mean(lab.cost(one) for one in each) for name, each in mine.items()}
    return {
        "proofs of a seed": [
            int(sum(each[seed].success for each in mine.values()))
            for seed in range(len(next(iter(mine.values()), [])))
        ],
        "mean expansions": round(mean(costs.values()), 2),
        "share proved, more than none": interval(
            [proofs[n] - mean(one.success for one in none[n]) for n in mine]
        ),
        "expansions, more than none": interval(
            [costs[n] - mean(lab.cost(one) for one in none[n]) for n in mine]
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path, help="a prover that is there already")
    parser.add_argument(
        "--steps", type=int, default=200, help="optimiser steps of the prover, at each repository"
    )
    parser.add_argument("--practice", type=int, help="theorems to practise on at most")
    parser.add_argument("--attempts", type=int, default=2, help="searches of each of those")
    parser.add_argument("--val", type=int, help="theorems to choose settings on at most")
    parser.add_argument("--theorems", type=int, help="test theorems to look at most")
    parser.add_argument("--weights", type=int, default=3, help="weights to choose from")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--expansions", type=int, default=24)
    options = parser.parse_args()
    try:
        with ExitStack() as stack:
            report = measure(options, stack)
    except UsageError as error:
        parser.error(str(error))
    content = json.dumps(report, indent=2)
    atomic_write_bytes(options.folder / "report.json", content.encode() + b"\n")
    print(content)


if __name__ == "__main__":
    main()
