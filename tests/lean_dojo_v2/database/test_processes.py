"""Real processes: killed while writing, writing together, reading meanwhile."""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.database.sqlite_file import FileConnection

PROVER = """
import sys
from lean_dojo_v2.database import DynamicDatabase
path, remainder = sys.argv[1], int(sys.argv[2])
database = DynamicDatabase(path)
repository = database.repositories[0]
mine = list(repository.sorry_theorems_unproved)[remainder::2]
print("ready", flush=True)
sys.stdin.readline()
for theorem in mine:
    database.record_proof(theorem, [f"by_{remainder}"])
    print(theorem.full_name, flush=True)
"""

ADDER = """
import sys
from lean_dojo_v2.database import DynamicDatabase, Repository
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 6):
    DynamicDatabase(sys.argv[1]).add_repository(Repository(f"u{number}", "c"))
"""


def start(script: str, path: Path, number: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(path), str(number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_two_processes_lose_nothing_of_each_other(
    path: Path, repository: Callable[..., Repository]
) -> None:
    with DynamicDatabase(path) as database:
        database.add_repository(repository(1, 100))
    provers = [start(PROVER, path, number) for number in (0, 1)]
    assert [read_line(prover) for prover in provers] == ["ready", "ready"]
    for prover in provers:
        go(prover)
    with DynamicDatabase(path) as database:
        seen = 0
        while any(prover.poll() is None for prover in provers):
            # A reader meanwhile sees a whole database, and never one from before.
            repo = database.repositories[0]
            assert repo.total_theorems == 100
            assert repo.num_sorry_theorems_proved >= seen
            seen = repo.num_sorry_theorems_proved
    assert [prover.wait() for prover in provers] == [0, 0]
    with DynamicDatabase(path) as database:
        proofs = database.repositories[0].sorry_theorems_proved
    assert sorted(theorem.traced_tactics[0].tactic for theorem in proofs) == [
        *["by_0"] * 13,
        *["by_1"] * 12,
    ]
    for prover in provers:
        prover.communicate()


def test_processes_that_make_one_database_together(path: Path) -> None:
    adders = [start(ADDER, path, number) for number in (0, 10)]
    assert [adder.wait() for adder in adders] == [0, 0]
    for adder in adders:
        adder.communicate()
    urls = {repo.url for repo in DynamicDatabase(path).repositories}
    assert urls == {f"u{number}" for number in [*range(6), *range(10, 16)]}


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
def test_killed_at_any_moment_nothing_recorded_is_lost(
    path: Path, repository: Callable[..., Repository], seed: int
) -> None:
    with DynamicDatabase(path) as database:
        database.add_repository(repository(1, 1200))
    prover = start(PROVER, path, 0)
    assert read_line(prover) == "ready"
    go(prover)
    told = [read_line(prover) for _ in range(1 + seed)]
    time.sleep(random.Random(seed).uniform(0, 0.15))
    os.kill(prover.pid, signal.SIGKILL)
    assert prover.stdout is not None
    told += prover.stdout.read().split()  # `communicate` would miss what is buffered already
    prover.communicate()
    with DynamicDatabase(path) as database:
        repo = database.repositories[0]
        assert repo.total_theorems == 1200
        proven = [theorem.full_name for theorem in repo.sorry_theorems_proved]
        # The last one may have been stored and not been told about.
        assert proven[: len(told)] == told
        assert len(proven) <= len(told) + 1
        # The next process is not held up by the dead one's lock.
        database.record_proof(repo.sorry_theorems_unproved[-1], ["simp"])


def test_a_fork_has_its_own_connection(path: Path, repository: Callable[..., Repository]) -> None:
    with DynamicDatabase(path) as database:
        database.add_repository(repository(1))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                database.add_repository(repository(2))
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        database.add_repository(repository(3))
        assert len(database.repositories) == 3


def test_a_fork_beside_threads_that_read(
    repository: Callable[..., Repository], tmp_path: Path
) -> None:
    with DynamicDatabase(tmp_path / "db.json") as database:
        database.add_repository(repository(1, 300))
        stop = threading.Event()

        def read() -> None:
            while not stop.is_set():
                database.to_dict()

        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(10):
                child = os.fork()
                if child == 0:
                    signal.alarm(30)  # ends it where it would wait for ever
                    os._exit(database.repositories[0].total_theorems != 300)
                assert os.waitpid(child, 0)[1] == 0
        finally:
            stop.set()
            for thread in threads:
                thread.join()


@pytest.mark.slow
def test_a_fork_closes_no_connection_of_its_parent(
    tmp_path: Path, repository: Callable[..., Repository]
) -> None:
    """Neither that of the forking thread nor that of another, nor in a child's child."""
    with DynamicDatabase(tmp_path / "db.sqlite") as database:
        database.add_repository(repository(1))
        connected, done = threading.Event(), threading.Event()

        def read() -> None:
            assert len(database.repositories) == 1
            connected.set()
            done.wait()

        thread = threading.Thread(target=read)
        thread.start()
        connected.wait()
        inherited = [weakref.ref(o) for o in gc.get_objects() if isinstance(o, FileConnection)]
        assert len(inherited) >= 2
        child = os.fork()
        if child == 0:
            status = 1
            try:
                grandchild = os.fork()
                database.add_repository(repository(2 if grandchild else 3))
                database.close()
                gc.collect()
                lost = any(connection() is None for connection in inherited)
                ended = os.waitpid(grandchild, 0)[1] if grandchild else 0
                status = int(lost or ended != 0)
            finally:
                os._exit(status)
        done.set()
        thread.join()
        assert os.waitpid(child, 0)[1] == 0
        assert len(database.repositories) == 3
