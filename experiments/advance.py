"""What the verified reward pays for, and what it costs.

    python experiments/advance.py [--steps 400] [--states 150] [--seed 0] [--json]

On states of the shipped sample (a seeded draw; ``--steps 0`` takes all of them), each opened by
replaying its theorem:

- *human steps*: the traced proof's own tactic at its state; goal: at least 98 % are paid;
- *constant strings*: one tactic that is played everywhere, whatever the goal says; goal: none that
  helps no goal is paid on more than 1 % of the states;
- *groups*: eight different completions at each state, as a group of GRPO has them; Lean calls and
  seconds for each completion, states opened and distances found included.

Lean calls are requests to the engine. Seconds are those of one embedded engine.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lean_dojo_plugins.causal_lm.text.formatters import TacticPrompt
from lean_dojo_plugins.rewards.rows import RowState, state_of_row
from lean_dojo_plugins.rewards.verified import judge
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict
from lean_dojo_v2.sample import sample_database_path, sample_project_path

TIMEOUT = 30.0
PAID = {Verdict.SOLVED, Verdict.ADVANCED}
CONSTANTS = (
    "suffices h : 1 = 2 by omega",
    "refine nomatch (?_ : (0:Nat) = 1)",
    "refine Bool.noConfusion (?_ : true = false)",
    "rw [← Nat.add_zero n]",
    "apply Int.ofNat.inj",
    "refine (?_ : _ ∧ 1 = 1).1",
    "exfalso",
    "apply absurd rfl",
    "have h : 1 = 1 := ?_",
    "refine PLift.down ?_",
    "apply Classical.byContradiction",
    "have := trivial",
    "skip",
)
GROUP = (
    "rfl",
    "simp",
    "intro h",
    "constructor",
    "omega",
    "simp_all",
    "exact ⟨rfl, rfl⟩",
    "cases h",
)


class CountingServer(Server):
    """Counts the requests to its engine."""

    calls = 0

    def run(
        self, cmd: str, payload: Mapping[str, Any], *, timeout: float | None = None
    ) -> dict[str, Any]:
        self.calls += 1
        return super().run(cmd, payload, timeout=timeout)


def load_rows() -> dict[RowState, str]:
    """Give every state of the sample with the tactic that the traced proof plays there."""
    data = json.loads(sample_database_path().read_text(encoding="utf-8"))
    repositories = DynamicDatabase.from_dict(data).repositories
    folders = [sample_project_path("sample"), sample_project_path("extra")]
    projects: dict[str, Path] = {}
    for repository in repositories:
        files = {theorem.file_path for theorem in repository.proven_theorems}
        projects[repository.url] = next(
            folder for folder in folders if all((folder / file).is_file() for file in files)
        )
    rows = (
        row
        for repository in repositories
        for theorem in repository.proven_theorems
        for row in TacticPrompt().rows(theorem)
    )
    return {state_of_row(row, projects): str(row["tactic"]) for row in rows}


class Judge:
    """Engines by project, and what they were asked."""

    def __init__(self) -> None:
        self.servers: dict[Path | None, CountingServer] = {}
        self.seconds = 0.0
        self._said = time.monotonic()

    def __call__(self, spec: RowState, tactics: Sequence[str]) -> list[TacticOutcome]:
        server = self.servers.get(spec.project)
        if server is None:
            server = CountingServer(engine="embedded", project_path=spec.project, timeout=60)
            self.servers[spec.project] = server
        start = time.perf_counter()
        found = judge(server, spec, tuple(tactics), TIMEOUT)
        self.seconds += time.perf_counter() - start
        return found

    @property
    def calls(self) -> int:
        return sum(server.calls for server in self.servers.values())

    def tell(self, what: str, done: int, total: int) -> None:
        """Say every 20 seconds how far it is."""
        if time.monotonic() - self._said > 20:
            self._said = time.monotonic()
            print(f"{what}: {done} of {total} states", file=sys.stderr, flush=True)

    def close(self) -> None:
        for server in self.servers.values():
            server.close()


def in_file_order(specs: Sequence[RowState]) -> list[RowState]:
    """Sort states as an engine likes them: it keeps the file before a theorem elaborated."""
    return sorted(
        specs, key=lambda s: (str(s.project), s.header or "", s.replay and s.replay.start)
    )


def human_steps(judge: Judge, rows: Mapping[RowState, str], verbose: bool) -> dict[str, Any]:
    verdicts: Counter[str] = Counter()
    unpaid = []
    for done, spec in enumerate(in_file_order(list(rows)), 1):
        judge.tell("human steps", done, len(rows))
        [found] = judge(spec, [rows[spec]])
        verdicts[str(found.verdict)] += 1
        if found.verdict not in PAID:
            assert spec.replay is not None
            unpaid.append(f"{spec.replay.full_name}: {rows[spec]}: {found.detail}")
    if verbose:
        print("\n".join(unpaid), file=sys.stderr)
    paid = sum(verdicts[verdict] for verdict in PAID)
    return {"steps": len(rows), "paid": paid / len(rows), "verdicts": dict(verdicts)}


def constant_strings(judge: Judge, specs: Sequence[RowState], verbose: bool) -> dict[str, float]:
    paid: Counter[str] = Counter()
    for done, spec in enumerate(in_file_order(specs), 1):
        judge.tell("constant strings", done, len(specs))
        for tactic, found in zip(CONSTANTS, judge(spec, CONSTANTS), strict=True):
            paid[tactic] += found.verdict in PAID
            if verbose and found.verdict in PAID:
                print(f"{tactic} is paid at\n{spec.goal}\n", file=sys.stderr)
    return {tactic: paid[tactic] / len(specs) for tactic in CONSTANTS}


def groups(judge: Judge, rows: Mapping[RowState, str], specs: Sequence[RowState]) -> dict[str, Any]:
    calls, seconds, count = judge.calls, judge.seconds, 0
    verdicts: Counter[str] = Counter()
    for done, spec in enumerate(in_file_order(specs), 1):
        judge.tell("groups", done, len(specs))
        group = [*dict.fromkeys([rows[spec], *GROUP])][:8]
        count += len(group)
        verdicts.update(str(found.verdict) for found in judge(spec, group))
    return {
        "completions": count,
        "lean_calls_per_completion": (judge.calls - calls) / count,
        "seconds_per_completion": (judge.seconds - seconds) / count,
        "verdicts": dict(verdicts),
    }


def main() -> None:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--steps", type=int, default=400, help="human steps; 0 for all")
    parser.add_argument("--states", type=int, default=150, help="states for the other two parts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="list what differs from the goal")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = load_rows()
    draw = random.Random(options.seed)
    steps = draw.sample(list(rows), options.steps) if options.steps else list(rows)
    states = draw.sample(list(rows), options.states)
    judge = Judge()
    try:
        # Groups come first: they pay for their own states and distances.
        found: dict[str, Any] = {"groups": groups(judge, rows, states) if states else None}
        found["human_steps"] = human_steps(judge, {s: rows[s] for s in steps}, options.verbose)
        found["constant_strings"] = (
            constant_strings(judge, states, options.verbose) if states else {}
        )
    finally:
        judge.close()
    if options.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    human, group = found["human_steps"], found["groups"]
    print(f"human steps paid: {human['paid']:.1%} of {human['steps']}; {human['verdicts']}")
    for tactic, share in found["constant_strings"].items():
        print(f"  {share:6.1%}  {tactic}")
    if group:
        print(
            f"groups: {group['lean_calls_per_completion']:.1f} Lean calls and "
            f"{group['seconds_per_completion'] * 1000:.0f} ms a completion; {group['verdicts']}"
        )


if __name__ == "__main__":
    main()
