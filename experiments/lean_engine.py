"""How fast Lean answers through our layer, against the same work without it.

    python experiments/lean_engine.py [--rounds 5] [--json]
    python experiments/lean_engine.py --verified [--against OTHER/.venv/bin/python] [--rounds 10]

Every figure of one run is measured on the same machine in turn, round by round, so that the ratios
hold on a noisy machine where the absolute figures do not:

- *process*: a new engine for every check, as a script would do it (a);
- *bare*: lines over the pipes of one engine, without any of our code between them (b);
- *by CPU*: the same ratio in CPU time of client and engine together, which other programs on the
  machine disturb less;
- *server*: one ``Server``; goal: at least 90 % of *bare*;
- *pool 1*, *pool 2*: an ``EnginePool`` of one engine and of two;
- *memory*: resident MB of a new engine with these imports that has checked one proof;
- *verified*: CPU milliseconds of client, engines and judge together for each proof that is fully
  verified, and for a file with and without programs; what a pool that verifies holds. With
  ``--verified`` nothing else is measured; with ``--against`` another checkout's package, named by
  its Python, is measured by turns, round by round, and the ratios are those within each round.

Anchor from outside: Kimina Lean Server reports 0.07-0.10 Mathlib proofs per second and core.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import psutil

from lean_dojo_v2.lean import EnginePool, PoolConfig, Server
from lean_dojo_v2.lean.engines.embedded.launch import embedded_plan
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.files import check_file
from lean_dojo_v2.lean.verify.proofs import check_goal_proof, check_proof

GOAL = "∀ (p q : Prop) (a b c : Nat), p ∧ q → a + b + c = c + b + a ∧ q"
INTRO = "intro p q a b c h"
TACTICS = ["constructor", "refine ⟨by omega, h.2⟩", "simp [h]", "exact h", "rcases h with ⟨x, y⟩"]
PROOF = "theorem t{n} (a b c : Nat) (h : a ≤ b) : a + c ≤ b + c + {n} := by\n  omega\n"
STATED = "∀ (a b c : Nat), a ≤ b → a + c + {n} ≤ b + c + {n} ∧ 0 + a = a"
VERIFIED = {
    "term": "exact fun _ _ _ h =>\n"
    "  ⟨Nat.add_le_add_right (Nat.add_le_add_right h _) _, Nat.zero_add _⟩",
    "simp": "simp",
    "omega": "omega",
    "induction": "intro a b c h\ninduction c with\n| zero => omega\n| succ n ih => omega",
}
CONTEXT = "".join(
    f"def f{k} (n : Nat) : Nat := match n with | 0 => {k} | n + 1 => f{k} n + 1\n"
    f"theorem f{k}_zero : f{k} 0 = {k} := rfl\n"
    for k in range(20)
)
PROGRAM = 'macro "finish" : tactic => `(tactic| omega)\n#eval {n} + 1\n'
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


def theorem_of(number: int) -> SourceTheorem:
    """Make a theorem behind a file's context, which all of them share."""
    stated = f"theorem t : ({STATED.format(n=number)}) ∧ f3 0 = 3"
    line = CONTEXT.count("\n") + 1
    text = f"{CONTEXT}{stated} := by\n  sorry\n"
    return SourceTheorem(text, "t", "T.lean", (line, 1), (line + 1, 8))


def verified_ms(server: Server, files: Server, number: int) -> dict[str, float]:
    """CPU milliseconds of each full verification; ``number`` is that of the round.

    Programs in a file may cost an engine, so whole files have an engine of their own.
    """
    spent: dict[str, float] = {}

    def measured(name: str, check: Callable[[], bool]) -> None:
        before = all_cpu()
        valid = check()
        spent[name] = (all_cpu() - before) * 1000
        assert valid, name

    def bare(statement: int, proof: str) -> bool:
        return check_goal_proof(server, STATED.format(n=statement), proof).valid

    def behind(statement: int, proof: str) -> bool:
        return check_proof(server, theorem_of(statement), f"refine ⟨?_, f3_zero⟩\n{proof}").valid

    first = 10 * number
    for where, check in (("bare", bare), ("in a file", behind)):
        check(first, VERIFIED["term"])  # the owner of the texts changes here
        for statement, (kind, proof) in enumerate(VERIFIED.items(), first + 1):
            measured(f"{kind}, {where}", partial(check, statement, proof))
            again = partial(check, statement, f"skip\n{proof}")
            measured(f"{kind}, {where}, further proof", again)
    plain = PROOF.replace("t{n}", "t").format(n=number)
    measured("file", lambda: check_file(files, plain).valid)
    with_programs = PROGRAM.format(n=number) + plain
    measured("file with programs", lambda: check_file(files, with_programs).valid)
    return spent


def verified_one(server: Server, number: int) -> bool:
    proof = f"refine ⟨?_, f3_zero⟩\n{VERIFIED['omega']}"
    return check_proof(server, theorem_of(number), proof).valid


def pool_mb(size: int) -> float:
    """What the engines of a pool that verifies hold; what they share is counted once (PSS)."""
    with EnginePool(PoolConfig(size=size, engine="embedded")) as pool:
        assert all(pool.map(verified_one, range(4 * size)))
        children = psutil.Process().children()
        return sum(child.memory_full_info().pss for child in children) / 10**6


def work_by_lines() -> None:
    """Measure a round for each number on standard input, the memory of a pool for ``pool N``."""
    with Server(engine="embedded") as server, Server(engine="embedded") as files:
        for line in sys.stdin:
            if line.startswith("pool "):
                server.close()
                files.close()
                print(json.dumps(pool_mb(int(line.split()[1]))), flush=True)
            else:
                print(json.dumps(verified_ms(server, files, int(line))), flush=True)


class Package:
    """A package that is measured in a process of its own, with a server that stays."""

    def __init__(self, python: str) -> None:
        argv = [python, __file__, "--worker"]
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, line: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(line, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()


def verified(rounds: int, pythons: list[str]) -> dict[str, Any]:
    """Medians of the rounds after a first one, and the ranges of the ratios within rounds."""
    packages = [Package(python) for python in pythons]
    found: list[list[dict[str, float]]] = []
    for number in range(rounds + 1):
        turn = packages if number % 2 else packages[::-1]
        told = {id(one): one.ask(str(number)) for one in turn}
        found.append([told[id(one)] for one in packages])
        print(f"round {number}: {json.dumps(found[-1])}", file=sys.stderr)
    result: dict[str, Any] = {}
    for name in found[0][0]:
        rows = [[one[name] for one in both] for both in found[1:]]
        result |= compared(f"verified: {name}, CPU ms", rows)
    for size in (2, 4):
        memory = [one.ask(f"pool {size}") for one in packages]
        result |= compared(f"memory of a pool of {size} that verifies, MB (PSS)", [memory])
    for one in packages:
        one.close()
    return result


def compared(name: str, rows: list[list[float]]) -> dict[str, Any]:
    medians = [round(statistics.median(row[k] for row in rows), 1) for k in range(len(rows[0]))]
    if len(medians) == 1:
        return {name: medians[0]}
    ratios = sorted(row[0] / row[1] for row in rows)
    return {
        name: {
            "this": medians[0],
            "other": medians[1],
            "ratio": round(statistics.median(ratios), 3),
            "range": [round(ratios[0], 3), round(ratios[-1], 3)],
        }
    }


def all_cpu() -> float:
    """CPU seconds of this process and its engines, also of those that have ended."""
    ended = os.times()
    return time.process_time() + engines_cpu() + ended.children_user + ended.children_system


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
    parser.add_argument("--verified", action="store_true", help="only fully verified proofs")
    parser.add_argument("--against", metavar="PYTHON", help="another checkout's, measured by turns")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        work_by_lines()
        return
    result = {} if chosen.verified or chosen.against else measure(chosen.rounds)
    result |= verified(chosen.rounds, [sys.executable, *filter(None, [chosen.against])])
    if chosen.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        print(f"{name:36} {value}")


if __name__ == "__main__":
    main()
