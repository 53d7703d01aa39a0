"""The demo, as `make demo` runs it, with smaller sizes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from chromium import look_at

from lean_dojo_v2.runs.files import read_lines

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

    killed = tmp_path / "killed"
    for stage in ("sft", "expert-iteration"):
        killed_in(stage, [*command, "--output-dir", str(killed)])
    last = subprocess.run(
        [*command, "--output-dir", str(killed)], capture_output=True, text=True, check=False
    )
    assert last.returncode == 0, last.stderr[-3000:]
    assert proofs_of(killed) == proofs_of(output)


def killed_in(stage: str, command: list[str]) -> None:
    """Run the demo, and kill it while it trains."""
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


def proofs_of(output: Path) -> dict[str, dict[str, str | None]]:
    """Give what each stage proved, and how."""
    return {
        file.parent.name: {one["name"]: one["proof"] for one in read_lines(file)}
        for file in sorted((output / "bench").glob("*/prover.jsonl"))
    }
