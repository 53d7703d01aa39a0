"""The benchmark of training runs from end to end (``experiments/learning.py``), in small."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "experiments" / "learning.py"
SIZES = ["--seeds", "3", "--steps", "1", "--grpo-steps", "1", "--limit", "1"]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_arms_are_trained_measured_and_added_to_those_of_before(tmp_path: Path) -> None:
    (tmp_path / "outcomes.csv").write_text("theorem,episodes-0\nt,2\n")
    done = run(tmp_path, *SIZES, "--parts", "human")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "| human - shipped | " in done.stdout
    assert "| episodes | 1 | 1 | " in done.stdout
    with (tmp_path / "outcomes.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    runs = {"episodes-0", "shipped-3", "human-3"}
    assert rows[0].keys() == {"theorem", *runs}
    assert len(rows) == 2
    again = run(tmp_path, *SIZES, "--parts", "human")
    assert "lean-dojo" not in again.stderr, "nothing is run anew"
    assert again.stdout == done.stdout
    refused = run(tmp_path, "--steps", "2")
    assert refused.returncode == 2
    assert "other options" in refused.stderr
