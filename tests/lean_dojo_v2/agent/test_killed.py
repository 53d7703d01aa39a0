"""A `prove` that is killed loses nothing, and the next one goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import orjson
import pytest

from lean_dojo_v2.database import DynamicDatabase

SCRIPT = """
import sys, time
from lean_dojo_v2.agent import ProverAgent
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover.base import BaseProver
from lean_dojo_v2.prover.suggestion import Suggestion

class Slow:
    '''Answers twice at once, then takes its time.'''
    def __init__(self):
        self.calls = 0
    def generate(self, goals, *, num_samples, premises=()):
        self.calls += 1
        if self.calls > 2 and sys.argv[3] == "slow":
            time.sleep(600)
        return [[Suggestion(t, -1.0) for t in ("rfl", "exact ⟨hp, hq⟩", "exact hqr (hpq hp)")] for _ in goals]

class Prover(BaseProver):
    generator = Slow()
    def generate_whole_proof(self, theorem):
        return ""

agent = ProverAgent(Prover, sys.argv[1], ProverConfig(num_workers=1, batch_size=1, max_expansions=1))
agent.setup_local_repository(sys.argv[2])
agent.prove()
"""


@pytest.mark.slow
def test_kill_9(database_copy, tiny_repository, tmp_path, environment):
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, tmp_path / "script.py", database_copy, tiny_repository[0]]
    settings = environment(RAID_DIR=str(tmp_path / "raid"))

    def proved():
        [repository] = DynamicDatabase(database_copy).repositories
        return {theorem.full_name for theorem in repository.sorry_theorems_proved}

    with subprocess.Popen([*command, "slow"], env=settings, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while not proved() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        os.kill(process.pid, signal.SIGKILL)
    first = proved()
    assert 1 <= len(first) < 3
    done = subprocess.run(
        [*command, "fast"], env=settings, check=True, capture_output=True, text=True, timeout=200
    )
    assert done.stdout.startswith(f"Found {4 - len(first)} sorry theorems to prove\n")
    assert proved() == {"Tiny.gap_pair", "gap_chain", "gap_term"}
    lines = database_copy.with_name("proofs.jsonl").read_bytes().splitlines()
    assert len({orjson.loads(line)["full_name"] for line in lines}) == 3


@pytest.mark.slow
def test_two_processes_on_one_database(database_copy, tiny_repository, tmp_path, environment):
    """Two agents that know nothing of each other: no proof is lost, both end well."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, tmp_path / "script.py", database_copy, tiny_repository[0], "fast"]
    settings = environment(RAID_DIR=str(tmp_path / "raid"))
    both = [
        subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    printed = [process.communicate(timeout=300)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert all(text.startswith("Found ") for text in printed)
    [repository] = DynamicDatabase(database_copy).repositories
    assert sorted(theorem.full_name for theorem in repository.sorry_theorems_proved) == [
        "Tiny.gap_pair",
        "gap_chain",
        "gap_term",
    ]
    lines = database_copy.with_name("proofs.jsonl").read_bytes().splitlines()
    assert {orjson.loads(line)["full_name"] for line in lines} == {
        "Tiny.gap_pair",
        "gap_chain",
        "gap_term",
    }
