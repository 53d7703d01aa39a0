"""The adapter for verifiers, in an environment of its own: scripts earn what full verification says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile import CHEATS, EFFECTS, FILE
from scripted_model import scripted_model
from serving import running

ADAPTER = Path(__file__).resolve().parents[2] / "integrations" / "verifiers"
DEFINITION = "def twice (n : Nat) : Nat := n + n\n"
LAIR = FILE.partition("theorem wrong")[0]
HONEST = [
    (["refine ⟨h.2, ?_⟩", "exact h", "exact ⟨h.1, rfl⟩"], 1.0),
    (["constructor", "undo", "state", "exact ⟨h.2, h.1, rfl⟩"], 1.0),
    (["refine ⟨h.2, ?_⟩"], 0.0),
    (["exact h.1"], 0.0),
    ([], 0.0),
]
HOSTILE = [trick for trick in [*EFFECTS, *CHEATS] if trick.isprintable() and len(trick) < 200]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with verifiers, uv (its harnesses want it) and the adapter."""
    home = tmp_path_factory.mktemp("verifiers")
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    install = [home / "bin" / "pip", "install", "--quiet", "--no-compile"]
    subprocess.run([*install, "verifiers==0.4.0", "uv", str(ADAPTER)], check=True)
    return home


def rollouts() -> list[tuple[dict[str, str], list[str], float]]:
    """Problems, scripts, and what they earn."""
    found: list[tuple[dict[str, str], list[str], float]] = [
        ({"name": "add", "goal": "∀ n : Nat, n + 0 = n"}, ["intro n", "rfl"], 1.0)
    ]
    for number, (script, reward) in enumerate(HONEST):
        statement = f"theorem swap{number} (p q : Prop) (h : p ∧ q) : q ∧ p ∧ twice 1 = 2 := by"
        problem = {"name": f"swap{number}", "header": DEFINITION, "formal_statement": statement}
        found.append((problem, script, reward))
    tricks = [*HOSTILE[::40], "exact absurd oracle (by decide)"]
    for number, trick in enumerate(tricks):
        statement = f"theorem wrong{number} (n : Nat) (p : Prop) (hp : p) : n = n + 1 ∧ p := by"
        problem = {"name": f"Lair.wrong{number}", "header": LAIR, "formal_statement": statement}
        found.append((problem, [trick, "all_goals assumption"], 0.0))
    return found


def test_scripted_policies_earn_what_the_whole_check_says(home: Path, tmp_path: Path) -> None:
    played = rollouts()
    file = tmp_path / "problems.jsonl"
    file.write_text("\n".join(json.dumps(problem) for problem, _, _ in played), encoding="utf-8")
    scripts = {
        problem.get("formal_statement", problem.get("goal", "")): script
        for problem, script, _ in played
    }
    with running() as server, scripted_model(scripts) as (endpoint, seen):
        command = [
            home / "bin" / "vf-eval", "lean-dojo-verifiers", "--env.agent.harness.id", "null",
            "--env.agent.runtime.type", "subprocess",
            "--env.taskset.problems", file, "--env.taskset.task.server", server.url,
            "--model", "scripted", "--client.base-url", endpoint, "--client.api-key-var", "NOBODY",
            "--max-concurrent", "2", "--no-push", "--no-rich", "--run.dir", "run",
            "--output-dir", tmp_path,
        ]  # fmt: skip
        path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            list(map(str, command)), cwd=tmp_path, env={**os.environ, "PATH": path},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (tmp_path / "run" / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    paid = {}
    for episode in map(json.loads, lines):
        [trace] = episode["traces"]
        assert trace["errors"] == []
        paid[episode["task"]["data"]["idx"]] = trace["rewards"]["proved"]["score"]
    assert paid == {index: reward for index, (_, _, reward) in enumerate(played)}
    assert {tool["function"]["name"] for tool in seen[0]["tools"]} == {"tactic", "undo", "state"}
