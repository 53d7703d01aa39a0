"""Rooms of ours, copied out of the tree into distributions of somebody else's, beside the wheel.

What they import are faces, which the wheel has. So whatever a built-in trainer or reward can do, a
stranger's can.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOMS = Path(__file__).parents[2] / "plugins" / "lean_dojo_plugins"
PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "their-{room}"
version = "0.1.0"
dependencies = ["lean-dojo-v2>=2.0,<3"]

[project.entry-points.lean_dojo]
{room} = "their_{room}.plugin"
"""

pytestmark = pytest.mark.slow


class Stranger:
    """An environment with the wheel, and a room of ours installed as their distribution."""

    def __init__(self, home: Path, room: str, folder: Path) -> None:
        self.home, self.room, self.folder = home, room, folder
        project = folder / f"their-{room}"
        package = project / f"their_{room}"
        shutil.copytree(ROOMS / room, package, ignore=shutil.ignore_patterns("__pycache__"))
        (project / "pyproject.toml").write_text(PROJECT.format(room=room))
        for file in package.rglob("*.py*"):
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace(f"lean_dojo_plugins.{room}", f"their_{room}"))
        manifest = package / "plugin.py"
        names = re.sub(r'\bname="', 'name="their-', manifest.read_text(encoding="utf-8"))
        manifest.write_text(names)
        self.does("pip", "install", "--no-index", "--no-deps", "--no-build-isolation", str(project))

    def does(self, program: str, *arguments: str) -> str:
        done = subprocess.run(
            [str(self.home / "bin" / program), *arguments],
            cwd=self.folder, env={**os.environ, "HF_HUB_OFFLINE": "1"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{arguments}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout


@pytest.fixture
def stranger(
    request: pytest.FixtureRequest, wheel_home: Path, tmp_path: Path
) -> Iterator[Stranger]:
    somebody = Stranger(wheel_home, request.param, tmp_path)
    yield somebody
    somebody.does("pip", "uninstall", "--yes", f"their-{somebody.room}")


def conforms(stranger: Stranger) -> None:
    """Every object of the distribution passes the conformance suite of its kind."""
    said = stranger.does("lean-dojo", "plugins", "check", f"their-{stranger.room}")
    assert said.endswith("checks passed.\n")


@pytest.mark.parametrize("stranger", ["sft"], indirect=True)
def test_sft(stranger: Stranger, traced: Path, tiny_model: Path) -> None:
    conforms(stranger)
    given = {"model_name": tiny_model, "output_dir": "out", "trainer_args.max_steps": 2}
    settings = [part for key, value in given.items() for part in ("--set", f"{key}={value}")]
    stranger.does("lean-dojo", "train", "their-sft", "--database", str(traced), *settings)
    rows = (stranger.folder / "out" / "metrics.jsonl").read_text().splitlines()
    assert any("loss" in json.loads(row) for row in rows)


@pytest.mark.parametrize("stranger", ["progress"], indirect=True)
def test_progress(stranger: Stranger, traced: Path, encoder: str) -> None:
    conforms(stranger)
    given = {"model_name": encoder, "output_dir": "out", "trainer_args.max_steps": 2}
    settings = [part for key, value in given.items() for part in ("--set", f"{key}={value}")]
    stranger.does("lean-dojo", "train", "their-progress", "--database", str(traced), *settings)
    assert (stranger.folder / "out" / "model.safetensors").exists()


@pytest.mark.parametrize("stranger", ["rewards"], indirect=True)
def test_rewards(stranger: Stranger) -> None:
    conforms(stranger)
    rows = [
        {"completion": completion, "problem": "theorem t : 1 + 1 = 2 :=", "full_name": "t"}
        for completion in ("rfl", "omega", "sorry")
    ]
    file = stranger.folder / "completions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = stranger.does(
        "lean-dojo", "their-reward", "score", "their-proof-verified", str(file), "--json"
    )
    assert [row["score"] for row in json.loads(said)] == [1.0, 1.0, 0.0]
