"""A traced project to search, and a trainer whose searches follow a table."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.lean.client.server import Server

SCRIPT = Path(__file__).with_name("expert_process.py")
URL = "https://example.org/lean/lean4-tiny"
OPTIONS = {"batch_size": 4, "lr": 1e-3, "epochs_per_repo": 2, "engines": 1}


@pytest.fixture
def database(tmp_path: Path, tiny_database: Path) -> DynamicDatabase:
    return DynamicDatabase(shutil.copy(tiny_database, tmp_path / "database.json"))


@pytest.fixture
def self_train(
    tmp_path: Path,
    tiny_model: Path,
    tiny_repository: tuple[Path, str],
    project_engine: Server,
    database: DynamicDatabase,
) -> Callable[..., Any]:
    """Train with scripted searches in this process; gives the trainer."""
    scripted = runpy.run_path(str(SCRIPT))["ExpertIterationTrainer"]

    class ExpertIterationTrainer(scripted):
        def open_engine(self, project):
            return nullcontext(project_engine)

    def run(output: str = "out", **options: Any) -> Any:
        options = {**OPTIONS, "projects": {URL: tiny_repository[0]}, **options}
        traced = options.pop("database", database)
        given = () if traced is None else (traced.repositories, traced, tmp_path / f"{output}-data")
        made = ExpertIterationTrainer(tiny_model, tmp_path / output, **options)
        made.searched.clear()
        made.train(*given)
        return made

    return run
