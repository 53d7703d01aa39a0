"""Small worlds for retrieval: repositories in a real database, and a tiny T5 encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from small_worlds import FRUIT, METAL, repository, save_encoder

from lean_dojo_core import Premise, PremiseFile
from lean_dojo_plugins.retrieval.data.corpus import Corpus
from lean_dojo_v2.database import DynamicDatabase, Repository
from lean_dojo_v2.lean_agent.config import TrainingConfig


@pytest.fixture(autouse=True)
def own_raid(tmp_path, monkeypatch):
    """Nothing is read from or written to the project; one thread, since cores are shared."""
    monkeypatch.setenv("RAID_DIR", str(tmp_path / "raid"))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def premise(name: str, line: int, code: str | None = None, lines: int = 1) -> Premise:
    text = code or f"theorem {name.rpartition('.')[2]} : {name} = {name}"
    return Premise(name, text, (line, 1), (line + lines - 1, 60), "theorem")


@pytest.fixture
def make_premise():
    return premise


@pytest.fixture
def chain() -> Corpus:
    """Three files, A ← B ← C, and D alone."""
    files = [
        PremiseFile("A.lean", (), tuple(premise(f"A.p{i}", 1 + 2 * i) for i in range(4))),
        PremiseFile("B.lean", ("A.lean",), tuple(premise(f"B.p{i}", 1 + 2 * i) for i in range(3))),
        PremiseFile("C.lean", ("B.lean",), tuple(premise(f"C.p{i}", 1 + 2 * i) for i in range(5))),
        PremiseFile("D.lean", (), (premise("D.p0", 1),)),
    ]
    return Corpus.build(files)


@pytest.fixture(scope="session")
def make_repository():
    return repository


@pytest.fixture
def database(tmp_path) -> DynamicDatabase:
    """Two repositories, ``alpha`` and ``beta``, in a real database."""
    database = DynamicDatabase(tmp_path / "database.json")
    database.add_repository(repository("alpha", FRUIT))
    database.add_repository(repository("beta", METAL))
    return database


@pytest.fixture
def repos(database: DynamicDatabase) -> list[Repository]:
    return sorted(database.repositories, key=lambda repo: repo.name)


@pytest.fixture
def exported(database, repos, tmp_path) -> Path:
    database.export_merged_data(repos, tmp_path / "export")
    return tmp_path / "export"


@pytest.fixture
def make_encoder():
    return save_encoder


@pytest.fixture
def make_config(encoder_folder, tmp_path):
    """A configuration that trains in a second or two, the same on every machine."""

    def build(**changes: Any) -> TrainingConfig:
        settings: dict[str, Any] = {
            "model_name": str(encoder_folder),
            "precision": "32-true",
            "num_workers": 0,
            "batch_size": 8,
            "accumulate_grad_batches": 1,
            "max_seq_len": 128,
            "accelerator": "cpu",
        }
        return TrainingConfig(**{**settings, **changes})

    return build
