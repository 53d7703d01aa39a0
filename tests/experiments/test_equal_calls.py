"""The comparison at equal Lean calls runs from end to end (``experiments/equal_calls.py``)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "experiments" / "equal_calls.py"
SIZES = ["--lean-calls", "8", "--steps", "1", "--limit", "2", "--rehearse"]
ONE = ["--seeds", "3", "--benchmarks", "sample"]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), *SIZES, *ONE, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_provers_are_compared_with_automation(tmp_path: Path) -> None:
    done = run(tmp_path, "--arms", "automation", "sft")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "| sample-automation | " in done.stdout
    assert "| sample-sft - sample-automation | " in done.stdout
    assert "share within so many Lean calls, % | 2 | 4 | 8 |" in done.stdout
