"""How many theorems a minute the batched search tries, against one theorem at a time.

    python experiments/search.py [--theorems 24] [--expansions 4] [--samples 8] [--rounds 3]
                                 [--tokens 128] [--model DIR] [--device auto] [--json]

Both searches have the same budget a theorem, the same generator and one Lean engine; they take
turns, round by round, so that the ratio holds on a noisy machine where the figures do not. Goal: at
least twice as many.

- *one at a time*: a search for each theorem, one after the other;
- *batched*: all theorems in one search; a batch holds 12 states, and Lean tries the tactics of
  some theorems while the model writes those of others.

What is gained is the generator's time; where Lean takes the larger part (a tiny model with short
tactics, ``--tokens 32``), there is less to gain. Without ``--model``, the generator is a small
Llama with random weights, whose every batch is really computed, and common tactics stand in for
what it would have learned, so that Lean has work to do.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from lean_dojo_core import Theorem
from lean_dojo_plugins.causal_lm.generate.prover import HFProver
from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model
from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.base import source_in
from lean_dojo_v2.prover.problem import TheoremProblem
from lean_dojo_v2.prover.search.best_first import BestFirstSearch
from lean_dojo_v2.prover.suggestion import Suggestion
from lean_dojo_v2.sample import sample_database_path, sample_project_path

COMMON = ["constructor", "intro h", "simp", "rfl", "assumption", "cases h", "left", "omega"]
BATCH = 12


class Stocked:
    """A generator whose work is done and whose tactics are replaced by common ones."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator

    def generate(
        self, goals: Sequence[str], *, num_samples: int, premises: Sequence[Sequence[str]] = ()
    ) -> list[list[Suggestion]]:
        self.generator.generate(goals, num_samples=num_samples, premises=premises)
        return [
            [Suggestion(tactic, -1.0 - k) for k, tactic in enumerate(COMMON[:num_samples])]
            for _ in goals
        ]


def sample_repository() -> Repository:
    data = json.loads(sample_database_path().read_text(encoding="utf-8"))
    repositories = DynamicDatabase.from_dict(data).repositories
    return max(repositories, key=lambda repo: repo.total_theorems)


def sample_texts() -> list[str]:
    """What the sample's proofs say, for a tokenizer of the usual kind."""
    theorems = sample_repository().proven_theorems
    return [f"{t.state_before}\n{t.tactic}" for one in theorems for t in one.traced_tactics]


def load_problems(count: int) -> list[TheoremProblem]:
    """Theorems of one file of the sample, so that both searches find it elaborated."""
    files: dict[str, list[Theorem]] = {}
    for theorem in sample_repository().proven_theorems:
        files.setdefault(theorem.file_path, []).append(theorem)
    chosen = max(files.values(), key=len)[:count]
    return [TheoremProblem(source_in(sample_project_path(), theorem)) for theorem in chosen]


def measure(options: argparse.Namespace, model: str, stand_in: bool) -> dict[str, Any]:
    config = ProverConfig(
        max_expansions=options.expansions, num_sampled_tactics=options.samples, batch_size=BATCH
    )
    prover = HFProver(model, device=options.device, config=config, max_new_tokens=options.tokens)
    generator = Stocked(prover.generator) if stand_in else prover.generator
    search = BestFirstSearch(generator, config)
    problems = load_problems(options.theorems)
    rates: dict[str, list[float]] = {"one at a time": [], "batched": []}
    expansions: dict[str, int] = {}
    with Server(project_path=sample_project_path()) as server:
        search.run(problems[:2], [server])  # warm: engine, file, model
        for number in range(options.rounds):
            for name in list(rates)[:: 1 if number % 2 else -1]:
                started = time.monotonic()
                if name == "batched":
                    results = search.run(problems, [server])
                else:
                    results = [search.run([problem], [server])[0] for problem in problems]
                rates[name].append(60 * len(results) / (time.monotonic() - started))
                expansions[name] = sum(result.expansions for result in results)
    one, many = rates.values()
    return {
        "theorems": len(problems),
        "theorems_per_minute": {name: round(statistics.median(r), 1) for name, r in rates.items()},
        "expansions": expansions,
        "ratio": round(statistics.median(b / a for a, b in zip(one, many, strict=True)), 2),
        "load": psutil.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--theorems", type=int, default=24)
    parser.add_argument("--expansions", type=int, default=4)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=128, help="longest tactic")
    parser.add_argument("--model")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or str(build_tiny_model(sample_texts(), Path(folder) / "model"))
        report = measure(options, model, stand_in=options.model is None)
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for name, rate in report["theorems_per_minute"].items():
        print(f"{name:>14}: {rate:8.1f} theorems a minute")
    print(f"{'ratio':>14}: {report['ratio']:8.2f}  (goal: at least 2; load {report['load']:.1f})")


if __name__ == "__main__":
    main()
