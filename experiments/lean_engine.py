"""How fast Lean answers through our layer, against the same work without it.

    python experiments/lean_engine.py [--rounds 5] [--json]

Every figure of one run is measured on the same machine in turn, round by round, so that the ratios
hold on a noisy machine where the absolute figures do not:

- *process*: a new engine for every check, as a script would do it (a);
- *bare*: lines over the pipes of one engine, without any of our code between them (b);
- *by CPU*: the same ratio in CPU time of client and engine together, which other programs on the
  machine disturb less;
- *server*: one ``Server``; goal: at least 90 % of *bare*;
- *pool 1*, *pool 2*: an ``EnginePool`` of one engine and of two;
- *memory*: resident MB of a new engine with these imports that has checked one proof.

Anchor from outside: Kimina Lean Server reports 0.07-0.10 Mathlib proofs per second and core.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil

from lean_dojo_v2.lean import EnginePool, PoolConfig, Server
from lean_dojo_v2.lean.engines.embedded.launch import embedded_plan

GOAL = "∀ (p q : Prop) (a b c : Nat), p ∧ q → a + b + c = c + b + a ∧ q"
INTRO = "intro p q a b c h"
TACTICS = ["constructor", "refine ⟨by omega, h.2⟩", "simp [h]", "exact h", "rcases h with ⟨x, y⟩"]
PROOF = "theorem t{n} (a b c : Nat) (h : a ≤ b) : a + c ≤ b + c + {n} := by\n  omega\n"
TACTIC_CHECKS = 100
PROOFS = 20

Rates = dict[str, dict[str, list[tuple[float, float, float]]]]


class Bare:
    """An engine's pipes."""

    def __init__(self) -> None:
        plan = embedded_plan(["Init"])
        self.process = subprocess.Popen(
            plan.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(plan.env),
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready.\n"

    def ask(self, command: str, **payload: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command} {json.dumps(payload)}\n".encode())
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def bare_tactics(bare: Bare) -> None:
    state = bare.ask("goal.start", expr=GOAL)["stateId"]
    state = bare.ask("goal.tactic", stateId=state, tactic=INTRO)["nextStateId"]
    made = []
    for number in range(TACTIC_CHECKS):
        answer = bare.ask("goal.tactic", stateId=state, tactic=TACTICS[number % len(TACTICS)])
        if "nextStateId" in answer:
            made.append(answer["nextStateId"])
    bare.ask("goal.delete", stateIds=[state, *made])


def bare_proofs(bare: Bare) -> None:
    for number in range(PROOFS):
        answer = bare.ask("frontend.process", file=PROOF.format(n=number))
        assert not any(unit["messages"] for unit in answer["units"])


def server_tactics(server: Server, checks: int = TACTIC_CHECKS) -> None:
    from lean_dojo_v2.lean import TacticFailure

    state = server.goal_tactic(server.goal_start(GOAL), INTRO)
    for number in range(checks):
        try:
            server.goal_tactic(state, TACTICS[number % len(TACTICS)])
        except TacticFailure:
            continue


def server_proof(server: Server, number: int) -> None:
    assert not any(unit.messages for unit in server.check_compile(PROOF.format(n=number)))


def server_proofs(server: Server) -> None:
    for number in range(PROOFS):
        server_proof(server, number)


def pool_tactics(pool: EnginePool) -> None:
    """Four searches with a quarter of the checks each: what a prover's search hands to a pool."""
    pool.map(server_tactics, [TACTIC_CHECKS // 4] * 4)


def pool_proofs(pool: EnginePool) -> None:
    pool.map(server_proof, range(PROOFS))


def cold_start() -> float:
    start = time.perf_counter()
    with Server(engine="embedded") as server:
        server_proof(server, 0)
        return time.perf_counter() - start


def memory_mb(module: str) -> int:
    with Server(imports=[module], engine="embedded") as server:
        server_proof(server, 0)
        return sum(child.memory_info().rss for child in psutil.Process().children()) // 10**6


def timed(work: Callable[[], None], count: int) -> tuple[float, float, float]:
    """Items per second; CPU milliseconds for each of this process, and with its engines'."""
    start, own, engines = time.perf_counter(), time.process_time(), engines_cpu()
    work()
    spent = (time.process_time() - own) * 1000 / count
    with_engines = spent + (engines_cpu() - engines) * 1000 / count
    return count / (time.perf_counter() - start), spent, with_engines


def engines_cpu() -> float:
    times = [child.cpu_times() for child in psutil.Process().children()]
    return sum(time.user + time.system for time in times)


def measure(rounds: int) -> dict[str, Any]:
    memory = {f"memory with {module}, MB": memory_mb(module) for module in ("Init", "Lean")}
    colds = [cold_start() for _ in range(2)]
    bare = Bare()
    with (
        Server(engine="embedded") as server,
        EnginePool(PoolConfig(size=1, engine="embedded")) as one,
        EnginePool(PoolConfig(size=2, engine="embedded")) as two,
    ):
        runs: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
            "bare": (lambda: bare_tactics(bare), lambda: bare_proofs(bare)),
            "server": (lambda: server_tactics(server), lambda: server_proofs(server)),
            "pool 1": (lambda: pool_tactics(one), lambda: pool_proofs(one)),
            "pool 2": (lambda: pool_tactics(two), lambda: pool_proofs(two)),
        }
        rates: Rates = {name: {"tactics": [], "proofs": []} for name in runs}
        for number in range(rounds + 1):
            for name, (tactics, proofs) in runs.items():
                found = (timed(tactics, TACTIC_CHECKS), timed(proofs, PROOFS))
                if number > 0:  # the first round warms everything up
                    rates[name]["tactics"].append(found[0])
                    rates[name]["proofs"].append(found[1])
                shown = f"{found[0][0]:.0f} tactics/s, {found[1][0]:.1f} proofs/s"
                print(f"round {number} {name}: {shown}", file=sys.stderr)
    bare.close()
    return memory | summary(rates, colds)


def summary(rates: Rates, colds: list[float]) -> dict[str, Any]:
    """Medians of the rates, of the ratios within each round, and of our own CPU time."""
    cold = statistics.median(colds)
    result: dict[str, Any] = {"cold start to first answer, s": round(cold, 2)}
    for kind in ("tactics", "proofs"):
        result[f"process {kind}/s"] = round(1 / cold, 3)
        base = [rate for rate, _, _ in rates["bare"][kind]]
        base_cpu = statistics.median(cpu for _, _, cpu in rates["bare"][kind])
        for name, found in rates.items():
            values = [rate for rate, _, _ in found[kind]]
            own = statistics.median(spent for _, spent, _ in found[kind])
            cpu = statistics.median(cpu for _, _, cpu in found[kind])
            ratios = [mine / bare for mine, bare in zip(values, base, strict=True)]
            result[f"{name} {kind}/s"] = round(statistics.median(values), 1)
            result[f"{name} {kind} / bare"] = round(statistics.median(ratios), 3)
            result[f"{name} {kind} / process"] = round(statistics.median(values) * cold, 1)
            result[f"{name} {kind}: client CPU, ms each"] = round(own, 2)
            result[f"{name} {kind} / bare, by CPU"] = round(base_cpu / cpu, 3)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    result = measure(chosen.rounds)
    if chosen.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        print(f"{name:36} {value}")


if __name__ == "__main__":
    main()
