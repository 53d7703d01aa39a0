"""From SQLite, memory does not grow with the database: exports of two sizes, each in a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from lean_dojo_core.records import TracedTactic
from lean_dojo_v2.database import DynamicDatabase, Repository

SCRIPT = """
import resource, sys
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.database.export.read import read_theorems
path, out = sys.argv[1:]
with DynamicDatabase(path) as database:
    database.sort_repositories_by_difficulty()
    database.export_merged_data(database.repositories, out)
    database.to_json(out + "/copy.json")
assert sum(1 for _ in read_theorems(out + "/random/train.json")) > 100
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@pytest.mark.slow
def test_exporting_and_reading_take_the_same_memory_at_eight_times_the_size(
    repository: Callable[..., Repository], tmp_path: Path
) -> None:
    text = "h : " + "α → " * 1000
    tactic = TracedTactic("simp", text, text)
    peaks, sizes = [], []
    for factor in (1, 8):
        path = tmp_path / f"{factor}.sqlite"
        with DynamicDatabase(path) as database:
            for number in range(factor):
                repo = repository(number, 800)
                repo.proven_theorems = [
                    attrs.evolve(theorem, traced_tactics=(tactic,))
                    for theorem in repo.proven_theorems
                ]
                database.add_repository(repo)
        command = [sys.executable, "-c", SCRIPT, str(path), str(tmp_path / str(factor))]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
        peaks.append(float(result.stdout))
        sizes.append(path.stat().st_size / 2**20)
    assert sizes[1] - sizes[0] > 40
    assert peaks[1] - peaks[0] < 25
