"""Throughput of ``lean-dojo serve`` beside the engine pool that it is built on, as a ratio.

    python experiments/serve.py [--rounds 5] [--engines 1] [--clients 8] [--proofs 40]
        [--tactics 80] [--json]

The same questions go to an ``EnginePool`` of this process and, over HTTP, to a server process with
as many engines, in turn, round by round: the ratio holds on a noisy machine where the rates do not.
One question in eight is a wrong proof. No question is asked twice, so nothing comes from a cache.
Goal: at least 90 % of the pool.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from lean_dojo_v2.lean import EnginePool, PoolConfig
from lean_dojo_v2.prover.judging import StatedGoal, judge_proof, judge_tactic
from lean_dojo_v2.prover.problem import GoalProblem

GOAL = "∀ (a b c : Nat), a ≤ b → a + c ≤ b + c + {n}"
STEPS = ["intro a b c h"]
SECONDS = 60.0
_numbers = itertools.count(1)


def questions(count: int) -> list[tuple[str, bool]]:
    """Goals that were never asked before, and whether to answer them wrongly."""
    return [(GOAL.format(n=next(_numbers)), index % 8 == 7) for index in range(count)]


def proof_of(wrong: bool) -> str:
    return "intro a b c h\nexact h" if wrong else "intro a b c h\nomega"


def tactic_of(wrong: bool) -> str:
    return "exact h" if wrong else "omega"


def pool_proofs(pool: EnginePool, asked: list[tuple[str, bool]]) -> list[bool]:
    futures = [
        pool.submit(judge_proof, GoalProblem(goal), proof_of(wrong), SECONDS)
        for goal, wrong in asked
    ]
    return [future.result()["valid"] for future in futures]


def pool_tactics(pool: EnginePool, asked: list[tuple[str, bool]]) -> list[bool]:
    futures = [
        pool.submit(judge_tactic, StatedGoal(goal), STEPS, tactic_of(wrong), SECONDS)
        for goal, wrong in asked
    ]
    return [future.result()["solved"] for future in futures]


class Client:
    """So many connections to a server."""

    def __init__(self, url: str, clients: int) -> None:
        limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
        self.http = httpx.Client(base_url=url, timeout=600, limits=limits)
        self.threads = ThreadPoolExecutor(clients)

    def ask(self, path: str, question: dict[str, Any]) -> dict[str, Any]:
        answer = self.http.post(path, json=question)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def proofs(self, asked: list[tuple[str, bool]]) -> list[bool]:
        items = [{"goal": goal, "proof": proof_of(wrong)} for goal, wrong in asked]
        found = self.threads.map(lambda item: self.ask("/v1/proof", item), items)
        return [one["valid"] for one in found]

    def tactics(self, asked: list[tuple[str, bool]]) -> list[bool]:
        items = [
            {"goal": goal, "tactics": STEPS, "tactic": tactic_of(wrong)} for goal, wrong in asked
        ]
        found = self.threads.map(lambda item: self.ask("/v1/tactic", item), items)
        return [one["solved"] for one in found]

    def close(self) -> None:
        self.threads.shutdown()
        self.http.close()


@contextlib.contextmanager
def serving(engines: int) -> Iterator[str]:
    """Run the command, as a user does; give its address."""
    command = [sys.executable, "-m", "lean_dojo_v2", "serve", "--port", "0", "--engine", "embedded"]
    command += ["--engines", str(engines)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            [line] = itertools.islice((one for one in process.stderr if "running on" in one), 1)
            yield line.split("running on ")[1].split()[0]
        finally:
            process.terminate()


def rate(work: Callable[[list[tuple[str, bool]]], list[bool]], count: int) -> float:
    """Questions per second; every answer is looked at."""
    asked = questions(count)
    start = time.perf_counter()
    answers = work(asked)
    seconds = time.perf_counter() - start
    assert answers == [not wrong for _, wrong in asked]
    return count / seconds


def measure(options: argparse.Namespace) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    config = PoolConfig(size=options.engines, engine="embedded")
    with serving(options.engines) as url, EnginePool(config) as pool:
        client = Client(url, options.clients)
        for number in range(options.rounds + 1):
            works = {
                "pool proofs/s": (lambda asked: pool_proofs(pool, asked), options.proofs),
                "serve proofs/s": (client.proofs, options.proofs),
                "pool tactics/s": (lambda asked: pool_tactics(pool, asked), options.tactics),
                "serve tactics/s": (client.tactics, options.tactics),
            }
            # Each goes first every other round.
            for name, (work, count) in sorted(works.items(), reverse=bool(number % 2)):
                value = rate(work, count)
                if number > 0:  # the first round warms everything up
                    found.setdefault(name, []).append(value)
                print(f"round {number} {name} {value:.1f}", file=sys.stderr)
        client.close()
    result = {name: round(statistics.median(values), 1) for name, values in found.items()}
    for kind in ("proofs", "tactics"):
        ratios = [
            mine / base
            for mine, base in zip(found[f"serve {kind}/s"], found[f"pool {kind}/s"], strict=True)
        ]
        result[f"{kind}: serve / pool"] = round(statistics.median(ratios), 3)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--proofs", type=int, default=40, help="proofs of a round")
    parser.add_argument("--tactics", type=int, default=80, help="tactics of a round")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    result = measure(chosen)
    if chosen.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in sorted(result.items()):
        print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
