"""The demo, as `make demo` runs it, with smaller sizes."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from chromium import look_at

PARTS = [
    "What the models prove", "Data", "Curriculum", "Training curves", "Proofs", "Search trees",
    "Where the time went", "Environment",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_every_stage_of_the_demo_runs_and_is_not_made_anew(tmp_path, browser):
    """Killed while it trains, and begun again."""
    output = tmp_path / "demo"
    command = [sys.executable, "-m", "lean_dojo_v2", "demo", "--quick", "--json"]
    command += ["--output-dir", str(output)]
    said = killed_in("expert-iteration", command)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    stages = {stage["stage"]: stage for stage in json.loads(done.stdout)}
    assert list(stages) == ["automation", "shipped", "sft", "expert-iteration"]
    assert {stage["tried"]["held-out"] for stage in stages.values()} == {12}
    assert stages["automation"]["proved"]["held-out"] > 0
    said += done.stderr
    assert "goal: proved" in said
    commands = dict.fromkeys(line for line in said.splitlines() if line.startswith("$ lean-dojo "))
    assert [line.split()[2] for line in commands] == [
        "lean", "prove", "trace", "bench", "bench", "train", "bench", "train", "bench",
    ]  # fmt: skip
    for width in (1200, 400):
        seen = look_at(browser, output / "report.html", width)
        assert seen.problems == seen.empty == seen.dead_links == []
        assert seen.overflow <= 0
        assert seen.headings == ["demo", *PARTS]

    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr[-3000:]
    assert json.loads(again.stdout) == json.loads(done.stdout)


def killed_in(stage: str, command: list[str]) -> str:
    """Run the demo, and kill it while it trains; give what it said."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if f"$ lean-dojo train {stage}" in said and "rows" in line:
                break
        else:
            pytest.fail(f"the demo ended before {stage}: {said[-3000:]}")
        time.sleep(3)
        assert process.poll() is None
        process.kill()
    return said
