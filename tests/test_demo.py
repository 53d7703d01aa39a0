"""The demo, as `make demo` runs it, with smaller sizes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from chromium import look_at

PARTS = [
    "What the models prove", "Data", "Curriculum", "Training curves", "Proofs", "Search trees",
    "Where the time went", "Environment",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_every_stage_of_the_demo_runs_and_is_not_made_anew(tmp_path, browser):
    command = [sys.executable, "-m", "lean_dojo_v2", "demo", "--quick", "--json"]
    output = tmp_path / "demo"
    done = subprocess.run(
        [*command, "--output-dir", str(output)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    stages = {stage["stage"]: stage for stage in json.loads(done.stdout)}
    assert list(stages) == ["automation", "shipped", "sft", "expert-iteration"]
    assert {stage["tried"]["held-out"] for stage in stages.values()} == {12}
    assert stages["automation"]["proved"]["held-out"] > 0
    assert "goal: proved" in done.stderr
    commands = [line for line in done.stderr.splitlines() if line.startswith("$ lean-dojo ")]
    assert [line.split()[2] for line in commands] == [
        "prove", "trace", "bench", "bench", "train", "bench", "train", "bench",
    ]  # fmt: skip
    for width in (1200, 400):
        seen = look_at(browser, output / "report.html", width)
        assert seen.problems == seen.empty == seen.dead_links == []
        assert seen.overflow <= 0
        assert seen.headings == ["demo", *PARTS]

    again = subprocess.run(
        [*command, "--output-dir", str(output)], capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr[-3000:]
    assert json.loads(again.stdout) == json.loads(done.stdout)
