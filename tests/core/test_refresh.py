"""A plugin that is installed while the process runs, as in a notebook."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

MANIFEST = """
from lean_dojo_core import RewardFunctionSpec, hookimpl

@hookimpl
def lean_dojo_reward_functions():
    yield RewardFunctionSpec(name="late", target="late.reward:reward", summary="A reward.")
"""
REWARD = "def reward(completions, **kwargs): return [1.0] * len(completions)\n"

NOTEBOOK = """
import subprocess, sys
from lean_dojo_core import registry
site, wheel = sys.argv[1:]
assert "late" not in registry.reward_functions
subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
                "--disable-pip-version-check", "--target", site, wheel], check=True)
assert "late" not in registry.reward_functions
registry.refresh()
print(registry.reward_functions["late"].create()(["simp", "rfl"]))
"""


def test_refresh_finds_what_was_installed_since(
    tmp_path: Path,
    make_wheel: Callable[..., Path],
    environment: Callable[..., dict[str, str]],
) -> None:
    files = {"late/__init__.py": "", "late/manifest.py": MANIFEST, "late/reward.py": REWARD}
    wheel = make_wheel(tmp_path, "late", files, entry_points={"plugin": "late.manifest"})
    site = tmp_path / "site"
    site.mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", NOTEBOOK, str(site), str(wheel)],
        env=environment(PYTHONPATH=str(site)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "[1.0, 1.0]\n", "")
