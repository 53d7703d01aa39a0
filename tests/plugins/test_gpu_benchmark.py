"""The GPU benchmark: it says where there is no GPU, and its script runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "experiments" / "gpu.py"


def run(environment: Callable[..., dict[str, str]], *arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env=environment(CUDA_VISIBLE_DEVICES=""),
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


@pytest.mark.slow
def test_without_a_gpu_it_says_so(environment):
    assert "no GPU" in run(environment)


@pytest.mark.slow
def test_the_script_itself_runs(environment):
    said = run(environment, "--cpu", "--steps", "1", "--batch", "2")
    for kind in ("SFT ", "SFT, LoRA", "GRPO, LoRA", "GRPO "):
        assert f"\n{kind}" in said
    assert said.count("trained tokens/s") == 4
