"""The demo's arena: the same theorems, limits and engines for the model of every stage."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import psutil
import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.causal_lm.text.formatters import TacticChat
from lean_dojo_plugins.demo.proving import Arena, choose_problems
from lean_dojo_plugins.demo.run import Demo
from lean_dojo_plugins.demo.settings import DemoSettings
from lean_dojo_plugins.demo.tiny_model import build_tiny_model
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.sample import SAMPLE_URLS, sample_database_path, sample_project_path
from lean_dojo_v2.tracing import LeanGitRepo


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> DynamicDatabase:
    file = tmp_path_factory.mktemp("data") / "sample.json"
    shutil.copy(sample_database_path(), file)
    return DynamicDatabase(file)


@pytest.fixture(scope="module")
def model(database: DynamicDatabase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [
        row["prompt"][-1]["content"]
        for theorem in database.repositories[1].proven_theorems[:20]
        for row in TacticChat().rows(theorem)
    ]
    sizes: dict[str, Any] = {"hidden_size": 32, "layers": 1, "heads": 2}
    return build_tiny_model(texts, tmp_path_factory.mktemp("tiny") / "model", **sizes)


def engines() -> set[int]:
    """Processes of Lean engines that this process has started."""
    return {
        child.pid
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE and "--stack-size=" in " ".join(child.cmdline())
    }


@pytest.mark.slow
def test_engines_serve_all_stages_and_end_with_the_arena(
    database: DynamicDatabase, model: Path, tmp_path: Path
) -> None:
    repo = LeanGitRepo.from_path(sample_project_path("extra"), url=SAMPLE_URLS["extra"])
    problems = choose_problems(database, [repo], limit=2)
    assert [problem.split for problem in problems].count("sorry") == 2
    config = ProverConfig(num_workers=2, max_expansions=1, num_sampled_tactics=1, visits=1)
    others = engines()
    with Arena(problems, config, tmp_path) as arena:
        first = arena.run("one", model)
        mine = engines() - others
        assert len(mine) == 1  # four theorems are one batch: a second engine would idle
        second = arena.run_automation("automation")
        assert engines() - others == mine
    assert engines() == others
    assert first.tried == second.tried == {"held-out": 2, "sorry": 2}
    assert str(first).startswith("proved 0 of 2 (0.0 %, 95 % interval 0.0..")
    rows = json.loads((tmp_path / "one.json").read_text())
    assert {row["file"] for row in rows} <= {problem.theorem.file_path for problem in problems}
    # What was tried is not tried again.
    assert Arena(problems, config, tmp_path).run("one", model) == first
    assert engines() == others


def test_the_folder_of_another_demo_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "demo"
    Demo(DemoSettings.quick(folder))._claim_folder()
    with monkeypatch.context() as patch:  # the same folder, spelt differently
        patch.chdir(tmp_path)
        Demo(DemoSettings.quick(Path("demo")))._claim_folder()
    with pytest.raises(UsageError, match="other settings"):
        Demo(DemoSettings(output_dir=folder)).run()
    moved = folder.rename(tmp_path / "moved")
    with pytest.raises(UsageError, match="from another place"):
        Demo(DemoSettings.quick(moved)).run()
    older = tmp_path / "older"
    older.mkdir()
    (older / "database.json").write_text("{}")
    with pytest.raises(UsageError, match="--output-dir"):
        Demo(DemoSettings.quick(older)).run()
    assert [file.name for file in older.iterdir()] == ["database.json"]
