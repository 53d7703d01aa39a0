"""An objective by somebody else: built, installed, tested, trained, killed and resumed."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lean_dojo_v2.runs import metrics

SOURCE = Path(__file__).resolve().parents[2] / "examples" / "process-grpo"
STEPS = 4
STATEMENTS = (
    "theorem a (p q : Prop) (hp : p) (hq : q) : p ∧ q := by sorry",
    "theorem b (n : Nat) : n + 0 = n := by sorry",
    "theorem c (p q : Prop) (h : p ∧ q) : q := by sorry",
)


def test_it_is_written_on_faces_alone():
    """No private name of ours or of TRL, and no module that is not documented."""
    public = {
        "lean_dojo_core",
        "lean_dojo_core.errors",
        "lean_dojo_plugins.api",
        "lean_dojo_v2.lean",
    }
    for file in (SOURCE / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("lean_dojo"):
                assert node.module in public
            if isinstance(node, ast.Attribute):
                assert not re.match("_[a-z]", node.attr), (file, node.attr)
            assert getattr(node, "module", None) is None or "trl" not in str(node.module)


@pytest.fixture(scope="module")
def installed(
    tmp_path_factory: pytest.TempPathFactory, pip_target: Callable[..., Mapping[str, str]]
) -> dict[str, str]:
    """The environment in which the distribution is installed."""
    folder = tmp_path_factory.mktemp("process-grpo")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(folder)]
    subprocess.run([*build, str(SOURCE)], check=True, capture_output=True)
    return dict(pip_target(folder / "installed", list(folder.glob("*.whl"))))


@pytest.mark.slow
def test_its_own_tests_pass(installed, tmp_path):
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(SOURCE / "tests")]
    done = subprocess.run(
        words, env=installed, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_run_that_was_killed_ends_as_one_that_was_not(installed, tmp_path):
    file = tmp_path / "statements.jsonl"
    file.write_text("".join(json.dumps({"formal_statement": one}) + "\n" for one in STATEMENTS))

    def begin(name: str) -> subprocess.Popen[bytes]:
        settings = {
            "model_name": "shipped", "output_dir": tmp_path / name, "statements.source": file, "statements.check": "false", "lr": 1e-3,
            "batch_size": 12, "report_to": "none", "device": "cpu", "max_length": 256,
            **{f"trainer_args.{key}": value for key, value in {
                "max_steps": STEPS, "save_steps": 1, "logging_steps": 1, "num_generations": 4,
                "max_completion_length": 24,
            }.items()},
        }  # fmt: skip
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        return subprocess.Popen(
            [sys.executable, "-m", "lean_dojo_v2", "train", "process-grpo", *words,
             "--set", 'reward_func={"proof-verified": {"engines": 1}}',
             "--data-path", str(tmp_path / f"{name}-data")],
            env=installed, cwd=tmp_path, stderr=(tmp_path / f"{name}.log").open("ab"),
        )  # fmt: skip

    def steps(name: str) -> list[int]:
        return [
            row["step"] for row in metrics.read_metrics(tmp_path / name) if "process/sound" in row
        ]

    assert begin("whole").wait() == 0, (tmp_path / "whole.log").read_text()[-3000:]
    killed = begin("killed")
    while killed.poll() is None and len(steps("killed")) < 3:
        time.sleep(0.05)
    killed.kill()
    killed.wait()
    assert not (tmp_path / "killed" / "model.safetensors").exists()
    assert begin("killed").wait() == 0, (tmp_path / "killed.log").read_text()[-3000:]
    assert steps("killed") == steps("whole") == list(range(1, STEPS + 1))
    rows = [metrics.read_metrics(tmp_path / name) for name in ("whole", "killed")]
    for name in ("process/sound", "process/failing", "process/unknown", "reward"):
        assert [row.get(name) for row in rows[0]] == [row.get(name) for row in rows[1]], name
    assert any(row.get("process/sound") or row.get("process/failing") for row in rows[0])
    weights, others = (
        load_file(tmp_path / name / "model.safetensors") for name in ("whole", "killed")
    )
    for name, weight in weights.items():
        assert torch.allclose(weight, others[name], atol=1e-6), name
